"""What a rule is: a stable code, the verdict it stands for, and its words in the languages of the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Literal

from opscan.assessment import Severity, Verdict
from opscan.text import Text as Text


@dataclass(frozen=True, slots=True)
class Rule:
    """``code`` is never reused. ``verdict`` is None for findings about the model. ``why`` says what it means for a user,
    ``fix`` what to do; ``example`` is code that meets the rule."""

    code: str
    name: str
    severity: Severity
    title: Text
    message: Text
    why: Text
    fix: Text
    example: str
    verdict: Verdict | None = None
    status: Literal["stable", "preview"] = "stable"

    def say(self, lang: str, facts: Mapping[str, str]) -> str:
        """The message with its facts. A fact that is missing shows as its name, so that an old report still renders.

        A fact that is a sentence has its Chinese beside it: ``advice`` and ``advice_zh``.
        """
        template = self.message.in_(lang)
        facts = (
            facts if lang == "en" else {**facts, **{name[:-3]: facts[name] for name in facts if name.endswith("_zh")}}
        )
        wanted = [name for _, name, _, _ in Formatter().parse(template) if name]
        text = template.format(**{name: facts.get(name, name) for name in wanted})
        within = facts.get("within")
        if within:
            prefix = f"{within} 会调用其他算子：" if lang == "zh" else f"{within} calls other operators. "
            return prefix + text
        return text
