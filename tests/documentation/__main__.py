"""Make everything anew that the documentation has from devlint: outputs, tables, and what the rules' pages show."""

from __future__ import annotations

from . import example_outputs, examples, portability, stories

if __name__ == "__main__":
    stories.write()
    example_outputs.write()
    portability.write()
    examples.write()
