"""Objects of the program and of libraries: classes, nn.Modules, containers, and what they hold."""
