"""The life of an nn.Module: what it registers, keeps and moves, and what runs when it is called."""
