"""The texts of rules and cost weights, for renderers that must not know them."""

from __future__ import annotations

from collections.abc import Mapping

from opscan.rules.registry import RULES


class RuleMessages:
    """Implements ``opscan.rendering.interface.Messages``."""

    def title(self, rule: str, lang: str) -> str | None:
        return RULES[rule].title.in_(lang) if rule in RULES else None

    def message(self, rule: str, lang: str, facts: Mapping[str, str]) -> str | None:
        return RULES[rule].say(lang, facts) if rule in RULES else None

    def why(self, rule: str, lang: str) -> str | None:
        return RULES[rule].why.in_(lang) if rule in RULES else None

    def fix(self, rule: str, lang: str) -> str | None:
        return RULES[rule].fix.in_(lang) if rule in RULES else None
