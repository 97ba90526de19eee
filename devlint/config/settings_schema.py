"""The JSON schema of `devlint.toml`, by which editors check and complete that file.

`python -m devlint.config.settings_schema` writes the schema file anew.
"""

from __future__ import annotations

import json
from pathlib import Path

from devlint.config.config_options import CONFIG_KEYS

SCHEMA_PATH = Path(__file__).parent / "devlint.schema.json"


def schema_text() -> str:
    """Return the JSON schema of devlint's configuration as the text of `devlint.schema.json`."""
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "devlint",
        "description": "The settings of devlint, as in devlint.toml or the table [tool.devlint] of pyproject.toml.",
        "type": "object",
        "properties": {key.name: {"description": key.help, **key.kind.schema} for key in CONFIG_KEYS},
        "additionalProperties": False,
    }
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA_PATH.write_text(schema_text(), encoding="utf-8")
