"""The metadata of rules: plain data for listings, reports and configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from devlint.diagnostic import Severity


class DocumentedRule(Protocol):
    """The interface of a rule class that its metadata is read from."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool]
    fixable: ClassVar[bool]

    @classmethod
    def documentation(cls) -> str:
        """Return the rule's documentation in Markdown."""

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the rule's documentation."""


_PAGES = "https://devlint.dev/rules/"
"""The address of the rules' documentation pages."""
_TOPICS = {
    "DEV1": "placement",
    "DEV2": "transfer",
    "DEV3": "dtype",
    "DEV4": "performance",
    "DEV5": "asynchronous-execution",
    "DEV6": "portability",
}
"""The topic of each rule family, by the prefix of its codes."""


def rule_url(name: str) -> str:
    """Return the address of the documentation page of the rule with a name."""
    return f"{_PAGES}{name}"


@dataclass(frozen=True, slots=True)
class RuleMetadata:
    """The metadata of one rule: its code, name, severity, defaults and documentation."""

    code: str
    name: str
    severity: Severity
    default: bool
    fixable: bool
    summary: str
    doc: str

    @classmethod
    def of(cls, rule: type[DocumentedRule]) -> RuleMetadata:
        """Return the metadata of a rule class."""
        return cls(
            rule.code, rule.name, rule.severity, rule.default, rule.fixable, rule.summary(), rule.documentation()
        )

    @property
    def topic(self) -> str | None:
        """The topic of the rule's family; None for rules about devlint itself and for third parties' rules."""
        return _TOPICS.get(self.code[:4])
