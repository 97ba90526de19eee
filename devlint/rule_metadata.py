"""What is said of a rule outside the rule itself: plain data for listings, reports and configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from devlint.diagnostic import Severity


class DocumentedRule(Protocol):
    """What a rule class tells of itself."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool]
    fixable: ClassVar[bool]

    @classmethod
    def documentation(cls) -> str:
        """The rule's Markdown."""

    @classmethod
    def summary(cls) -> str:
        """The first line of the documentation."""


_PAGES = "https://devlint.dev/rules/"
_TOPICS = {
    "DEV1": "placement",
    "DEV2": "transfer",
    "DEV3": "dtype",
    "DEV4": "performance",
    "DEV5": "asynchronous-execution",
    "DEV6": "portability",
}


def rule_url(name: str) -> str:
    """Where the rule of that name is documented."""
    return f"{_PAGES}{name}"


@dataclass(frozen=True, slots=True)
class RuleMetadata:
    """A rule as it is listed: its code, its name, how it is ranked and what its documentation says."""

    code: str
    name: str
    severity: Severity
    default: bool
    fixable: bool
    summary: str
    doc: str

    @classmethod
    def of(cls, rule: type[DocumentedRule]) -> RuleMetadata:
        """The card of a rule class."""
        return cls(
            rule.code, rule.name, rule.severity, rule.default, rule.fixable, rule.summary(), rule.documentation()
        )

    @property
    def topic(self) -> str | None:
        """What the rule's family is about; None for rules about devlint itself and for third parties'."""
        return _TOPICS.get(self.code[:4])
