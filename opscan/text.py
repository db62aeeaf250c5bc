"""Words in the languages of opscan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """The same words in English and Chinese. In a rule's message, ``{name}`` takes a fact of that name."""

    en: str
    zh: str

    def in_(self, lang: str) -> str:
        return self.zh if lang == "zh" else self.en
