"""Merge all sources of options, which are configuration files and the command line, into a directory's settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from devlint.config.config_error import ConfigError
from devlint.config.config_options import Options
from devlint.config.path_patterns import Patterns
from devlint.config.project_torch import end_of_project_torch, oldest_torch_of_project
from devlint.config.rule_selection import (
    REVEALED,
    SelectionLayer,
    UnknownSelectorError,
    check_selectors,
    explicitly_selected_codes,
    selected_codes,
    selector_matches,
    selector_precision,
)
from devlint.diagnostic import Confidence, Diagnostic, Severity
from devlint.rule_metadata import RuleMetadata
from devlint.semantics.accelerators import DEFAULT_MIN_TORCH, Version
from devlint.semantics.models.model_files import ModelFileError, read_model

T = TypeVar("T")

DEFAULT_EXCLUDE = (
    "**/build/lib",
    "**/build/lib.*",
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pypackages__",
    "_build",
    "buck-out",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
"""What nobody edits: the folders of tools, and `build/lib`, into which setuptools copies the sources of a package."""
DEFAULT_SRC = (".", "src")
BUILD_FILES = ("setup.py", "pyproject.toml")
"""The files that say how a folder's packages are installed."""


@dataclass(frozen=True, slots=True)
class OptionSource:
    """The options of one configuration file or of the command line, and the directory that paths are relative to.

    `path` is the path of the file, None for the command line.
    """

    options: Options
    root: Path
    path: Path | None = None

    @property
    def layer(self) -> SelectionLayer:
        """The rule selectors of these options: `select`, `extend-select` and `ignore`."""
        options = self.options
        return SelectionLayer(options.select, options.extend_select or (), options.ignore or ())


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings for the files of one directory tree, merged from its configuration files and the command line."""

    root: Path
    path: Path | None
    codes: frozenset[str]
    asked_for: frozenset[str]
    severity: Mapping[str, Severity]
    min_confidence: Confidence
    exclude: tuple[Patterns, ...]
    per_file_ignores: tuple[tuple[Patterns, frozenset[str]], ...]
    src: tuple[Path, ...]
    models: tuple[Path, ...]
    cache_dir: Path | None
    force_exclude: bool
    respect_gitignore: bool
    min_torch: Version | None
    baseline: Path | None
    warnings: tuple[str, ...]
    """What is wrong with the settings and leaves them usable, each with the file and the setting."""

    def codes_for(self, path: Path) -> frozenset[str]:
        """Return the codes of the rules that are on in the file at `path`."""
        off = (codes for patterns, codes in self.per_file_ignores if patterns.verdict(path, directory=False))
        return self.codes.difference(*off)

    def judge(self, diagnostic: Diagnostic, path: Path) -> Diagnostic | None:
        """Return a finding in the file at `path` with the severity that these settings give its rule.

        Returns None if the settings drop the finding: its rule is off in the file, its confidence is too low, or the
        project supports a torch in which its advice cannot be followed, or only ones that accept the operation. A
        finding of severity info is dropped unless its rule is selected explicitly; by its own code or name, if the rule
        wants that.
        """
        if diagnostic.code == REVEALED:
            return diagnostic
        if diagnostic.code not in self.codes_for(path) or not diagnostic.confidence.at_least(self.min_confidence):
            return None
        severity = self.severity.get(diagnostic.code, diagnostic.severity)
        if severity is Severity.INFO and diagnostic.code not in self.asked_for | set(self.severity):
            return None
        if diagnostic.since_torch is not None and diagnostic.since_torch > self.min_torch_for(path):
            return None
        if diagnostic.refused_since is not None:
            ends = end_of_project_torch(path.parent)
            if ends is not None and ends <= diagnostic.refused_since:
                return None
        return replace(diagnostic, severity=severity)

    def min_torch_for(self, path: Path) -> Version:
        """Return the oldest torch that the file at `path` supports.

        It is the setting `min-torch`; else what the dependencies of the file's project admit; else a default.
        """
        return self.min_torch or oldest_torch_of_project(path.parent) or DEFAULT_MIN_TORCH


def merge_sources(sources: Sequence[OptionSource], rules: Sequence[RuleMetadata], root: Path) -> Settings:
    """Merge the options of several sources, which are configuration files and the command line, into settings.

    Later sources override earlier ones. `root` is the root directory of the settings if no source is a file.
    """
    for source in sources:
        _check_selectors(source, rules)
    files = [source for source in sources if source.path is not None]
    home = files[-1].root if files else root
    return Settings(
        root=home,
        path=files[-1].path if files else None,
        codes=selected_codes([source.layer for source in sources], rules),
        asked_for=explicitly_selected_codes([source.layer for source in sources], rules),
        severity=_last_given(sources, lambda source: _severity(source, rules), {}),
        min_confidence=_last_given(sources, lambda source: source.options.min_confidence, Confidence.LIKELY),
        exclude=_exclude_patterns(sources, home),
        per_file_ignores=_last_given(sources, lambda source: _per_file_ignores(source, rules), ()),
        src=_last_given(sources, _src, _default_src(home)),
        models=_last_given(sources, _models, ()),
        cache_dir=_last_given(sources, lambda source: _path(source, source.options.cache_dir), None),
        force_exclude=_last_given(sources, lambda source: source.options.force_exclude, False),
        respect_gitignore=_last_given(sources, lambda source: source.options.respect_gitignore, True),
        min_torch=_last_given(sources, lambda source: source.options.min_torch, None),
        baseline=_last_given(sources, lambda source: _path(source, source.options.baseline), None),
        warnings=_last_given(sources, _missing_src, ()),
    )


def _last_given(sources: Sequence[OptionSource], said: Callable[[OptionSource], T | None], default: T) -> T:
    """Return the value of one option from the last source that gives it, or `default` if none does.

    `said` returns the option's value in a source, None if the source does not give it.
    """
    return next((value for source in reversed(sources) if (value := said(source)) is not None), default)


def _check_selectors(source: OptionSource, rules: Sequence[RuleMetadata]) -> None:
    """Raise ConfigError if the options of a source have a rule selector that matches no rule."""
    options = source.options
    lists = {"select": options.select, "extend-select": options.extend_select, "ignore": options.ignore}
    named = [(key, selectors) for key, selectors in lists.items() if selectors]
    named += [("per-file-ignores", selectors) for selectors in (options.per_file_ignores or {}).values()]
    named.append(("severity", tuple(options.severity or ())))
    for key, selectors in named:
        try:
            check_selectors(selectors, rules)
        except UnknownSelectorError as problem:
            raise ConfigError(source.path, key, str(problem)) from None


def _exclude_patterns(sources: Sequence[OptionSource], home: Path) -> tuple[Patterns, ...]:
    """Return the path patterns of the option `exclude`, or of its default, and of every source's `extend-exclude`.

    The default patterns are relative to the directory `home`.
    """
    base = _last_given(
        sources, lambda source: _patterns(source, "exclude", source.options.exclude), Patterns.of(home, DEFAULT_EXCLUDE)
    )
    more = (_patterns(source, "extend-exclude", source.options.extend_exclude) for source in sources)
    return (base, *(patterns for patterns in more if patterns is not None))


def _patterns(source: OptionSource, key: str, lines: Iterable[str] | None) -> Patterns | None:
    """Return the path patterns that a source gives for the option `key`, None if `lines` is None.

    Raises ConfigError for an invalid pattern.
    """
    if lines is None:
        return None
    try:
        return Patterns.of(source.root, lines)
    except ValueError as problem:
        raise ConfigError(source.path, key, str(problem)) from None


def _per_file_ignores(
    source: OptionSource, rules: Sequence[RuleMetadata]
) -> tuple[tuple[Patterns, frozenset[str]], ...] | None:
    """Return the option `per-file-ignores` of a source, None if the source does not give it.

    Each item pairs path patterns with the codes of the rules that are off in the files they match.
    """
    table = source.options.per_file_ignores
    if table is None:
        return None
    pairs = []
    for line, selectors in table.items():
        patterns = _patterns(source, "per-file-ignores", [line])
        codes = frozenset(rule.code for rule in rules for selector in selectors if selector_matches(selector, rule))
        if patterns is not None:
            pairs.append((patterns, codes))
    return tuple(pairs)


def _severity(source: OptionSource, rules: Sequence[RuleMetadata]) -> Mapping[str, Severity] | None:
    """Return the severities that the option `severity` of a source sets, by rule code, None if it is not given.

    Where several selectors match a rule, the most specific one sets its severity.
    """
    table = source.options.severity
    if table is None:
        return None
    ranked = {}
    for rule in rules:
        found = [(value, selector) for selector in table if (value := selector_precision(selector, rule)) is not None]
        if found:
            ranked[rule.code] = table[max(found)[1]]
    return ranked


def _src(source: OptionSource) -> tuple[Path, ...] | None:
    """Return the directories that the option `src` of a source names, None if the source does not give it."""
    return None if source.options.src is None else _directories(source.root, source.options.src)


def _missing_src(source: OptionSource) -> tuple[str, ...] | None:
    """Return a warning for each directory that the option `src` of a source names and that does not exist.

    Returns None if the source does not give the option.
    """
    if source.options.src is None:
        return None
    missing = (name for name in source.options.src if not (source.root / name).is_dir())
    return tuple(str(ConfigError(source.path, "src", f"there is no folder `{name}`")) for name in missing)


def _default_src(home: Path) -> tuple[Path, ...]:
    """Return the directories that a project's modules are imported from, where no option names them.

    A repository that is not installed itself may hold one folder that is, such as `python`: its packages are what the
    examples and scripts beside that folder import. Of several such folders nobody knows which are installed together.
    """
    found = _directories(home, DEFAULT_SRC)
    if any((home / name).is_file() for name in BUILD_FILES):
        return found
    inner = {one.parent for name in BUILD_FILES for one in home.glob(f"*/{name}")}
    return (*found, *inner) if len(inner) == 1 else found


def _models(source: OptionSource) -> tuple[Path, ...] | None:
    """Return the paths of the model files that the option `models` of a source names, None if it is not given.

    Raises ConfigError for an invalid model file.
    """
    if source.options.models is None:
        return None
    paths = _directories(source.root, source.options.models)
    for path in paths:
        try:
            read_model(path)
        except ModelFileError as problem:
            raise ConfigError(source.path, "models", str(problem)) from None
    return paths


def _path(source: OptionSource, name: str | None) -> Path | None:
    """Return the file or folder that a source names, None if it names none."""
    return None if name is None else source.root / name


def _directories(root: Path, names: Iterable[str]) -> tuple[Path, ...]:
    """Return these names as paths in the directory `root`."""
    return tuple(root / name for name in names)
