"""Settings of devlint as text in the form of a configuration file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from devlint.config.settings import Settings


def settings_as_toml(settings: Settings) -> str:
    """Return settings as TOML text. Its first line is a comment that says from which configuration file they come."""
    exclude = [str(pattern.pattern) for patterns in settings.exclude for pattern in patterns.spec.patterns]
    lines = [
        f"# from {settings.path or 'the defaults and the command line'}",
        f"root = {_text(settings.root)}",
        f"select = {_list(sorted(settings.codes))}",
        f"min-confidence = {_text(settings.min_confidence.value)}",
        f"src = {_list(settings.src)}",
        f"models = {_list(settings.models)}",
        *([f"cache-dir = {_text(settings.cache_dir)}"] if settings.cache_dir is not None else ()),
        *([f"baseline = {_text(settings.baseline)}"] if settings.baseline is not None else ()),
        *([f"min-torch = {_text('.'.join(map(str, settings.min_torch)))}"] if settings.min_torch is not None else ()),
        f"exclude = {_list(exclude)}",
        f"force-exclude = {_flag(settings.force_exclude)}",
        f"respect-gitignore = {_flag(settings.respect_gitignore)}",
    ]
    if settings.severity:
        lines += ["", "[severity]"]
    lines += [f"{code} = {_text(severity.value)}" for code, severity in sorted(settings.severity.items())]
    if settings.per_file_ignores:
        lines += ["", "[per-file-ignores]"]
    for patterns, codes in settings.per_file_ignores:
        for pattern in patterns.spec.patterns:
            lines.append(f"{_text(pattern.pattern)} = {_list(sorted(codes))}")
    return "\n".join(lines)


def _list(items: Iterable[object]) -> str:
    """Return items as the text of a TOML list of strings."""
    return f"[{', '.join(_text(item) for item in items)}]"


def _text(item: object) -> str:
    """Return an item, such as a path, as a quoted TOML string."""
    return json.dumps(item.as_posix() if isinstance(item, Path) else str(item), ensure_ascii=False)


def _flag(value: bool) -> str:
    """Return a bool as a TOML value, "true" or "false"."""
    return "true" if value else "false"
