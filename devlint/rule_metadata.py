"""What listings, reports and configuration need to know of a rule, as plain data without the rule's code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from devlint.diagnostic import Severity


class DocumentedRule(Protocol):
    """The attributes and methods that a rule class must have so that `RuleMetadata` can be read from it."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool]
    fixable: ClassVar[bool]
    info_by_name: ClassVar[bool]

    @classmethod
    def documentation(cls) -> str:
        """Return the rule's documentation in Markdown."""

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the rule's documentation."""


_TOPICS = {
    "DEV1": "placement",
    "DEV2": "transfer",
    "DEV3": "dtype",
    "DEV4": "performance",
    "DEV5": "asynchronous-execution",
    "DEV6": "portability",
}
"""The topic of each rule family, by the prefix of its codes."""
GROUPS = {topic.upper(): prefix for prefix, topic in _TOPICS.items()}
"""The names by which settings select all rules of a family, with the prefix of its codes, such as PORTABILITY: DEV6."""


@dataclass(frozen=True, slots=True)
class RuleMetadata:
    """The description of one rule: its code, name, severity, whether it is on by default, and its documentation.

    With `info_by_name`, its findings of severity info are shown only where a selector names the rule itself.
    """

    code: str
    name: str
    severity: Severity
    default: bool
    fixable: bool
    summary: str
    doc: str
    info_by_name: bool = False

    @classmethod
    def of(cls, rule: type[DocumentedRule]) -> RuleMetadata:
        """Return the metadata of the given rule class."""
        return cls(
            rule.code,
            rule.name,
            rule.severity,
            rule.default,
            rule.fixable,
            rule.summary(),
            rule.documentation(),
            rule.info_by_name,
        )

    @property
    def facts(self) -> str:
        """The rule's severity, whether it is on by default and whether it has a fix, as words for readers."""
        state = "on by default" if self.default else "off by default"
        return f"{self.severity.value}, {state}, {'fixable' if self.fixable else 'without a fix'}"

    @property
    def topic(self) -> str | None:
        """The topic of the rule's family, such as "placement" for all rules DEV1xx.

        It is None for rules about devlint itself and for the rules of third parties.
        """
        return _TOPICS.get(self.code[:4])
