"""What every format shares: the languages, and where the text of a rule comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

Lang = Literal["en", "zh"]

LANGS: tuple[Lang, ...] = ("en", "zh")


class Messages(Protocol):
    """Texts of rules in any language. The caller passes one in, so that rendering does not depend on the rules.

    Every method answers ``None`` where it has no text, for a report written by another version of opscan, say: the
    English text that the assessment carries is shown instead.
    """

    def title(self, rule: str, lang: Lang) -> str | None:
        """A few words that name the rule."""

    def message(self, rule: str, lang: Lang, facts: Mapping[str, str]) -> str | None:
        """One sentence: what is wrong with this operator or model. ``facts`` are untrusted."""

    def why(self, rule: str, lang: Lang) -> str | None:
        """What the problem means for the user."""

    def fix(self, rule: str, lang: Lang) -> str | None:
        """What to do about it."""


def message_in(lang: Lang, rule: str | None, facts: Mapping[str, str], english: str, messages: Messages | None) -> str:
    """The text of a verdict or finding in ``lang``. English is the assessment's own, as it was when it was made."""
    if lang == "en" or rule is None or messages is None:
        return english
    return messages.message(rule, lang, facts) or english
