"""Heap objects: queries and updates of class instances, nn.Modules and containers, and of the tensors they hold."""
