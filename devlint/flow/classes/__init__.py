"""The program's own classes: their ancestors, their fields, making their objects."""
