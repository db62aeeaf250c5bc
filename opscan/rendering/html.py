"""The report as one HTML file that works from a disk: no request, no external file, readable without JavaScript.

What comes from the model is untrusted: Jinja escapes it, :func:`opscan.rendering.inert.inert` disarms its control
characters before that, and the content security policy lets only the report's own style and script run, by their
hashes.
Both languages are in the page; the ``lang`` of ``<html>`` decides which one is visible.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from opscan.assessment import VERDICTS, AssessedOp, Assessment, Substitution, TensorPair
from opscan.inventory import Location, Phase
from opscan.rendering import overview
from opscan.rendering.inert import inert, inert_code, shorten
from opscan.rendering.interface import LANGS, Lang, Messages, message_in
from opscan.rendering.strings import text
from opscan.rendering.templates import read_source, reports_folder

#: Values of the ``lang`` attribute.
_TAGS: Mapping[Lang, str] = {"en": "en", "zh": "zh-CN"}

#: Characters of code that fit into half of the page.
_HALF_WIDTH = 55


def render_html(assessment: Assessment, lang: Lang = "en", messages: Messages | None = None) -> str:
    """The whole page, in ``lang`` when it opens. ``messages`` gives the rules' texts; without it they are English."""
    style, script = read_source("report.css"), read_source("report.js")
    substitutions = overview.substitutions(assessment)
    environment = _environment(messages)
    return environment.get_template("report.html.jinja").render(
        assessment=assessment,
        lang_tag=_TAGS[lang],
        titles={each: _title(assessment, each) for each in LANGS},
        lang=lang,
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        state=overview.state(assessment),
        headline=overview.headline(assessment),
        tallies=overview.tallies(assessment),
        ops=overview.worst_first(assessment),
        phases=[phase for phase in get_args(Phase) if any(op.phase == phase for op in assessment.ops)],
        findings=overview.by_severity(assessment),
        errors=overview.error_findings(assessment),
        substitutions=substitutions,
        anchors={
            (each.substitution.id, each.substitution.after): f"substitution-{number}"
            for number, each in enumerate(substitutions, 1)
        },
        evidence=_evidence_kinds(assessment.ops),
        measured=overview.measured(assessment),
        severities={"error": "unsupported", "warning": "slow", "info": "unknown"},
        verdicts=VERDICTS,
    )


def _environment(messages: Messages | None) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(reports_folder()),
        autoescape=True,
        finalize=lambda value: inert(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        code=lambda source: escape(inert_code(source)),
        days=overview.days,
        dtypes=overview.dtypes,
        error_size=overview.error_size,
        long_code=_has_long_lines,
        places=_places,
        percent=overview.percent,
        shorten=shorten,
        tensor=_tensor,
    )
    environment.globals.update(
        t=_both,
        raw_text=text,
        rule_title=lambda rule: _explained("title", rule, messages),
        explained=lambda what, rule: _explained(what, rule, messages),
        message=lambda rule, facts, english: _pair(
            {lang: message_in(lang, rule, facts, english or "", messages) for lang in LANGS}
        ),
        bilingual=lambda english, chinese: _pair({"en": english, "zh": chinese or english}),
    )
    return environment


def _both(key: str, **values: object) -> Markup:
    """A text of ``strings.json`` in both languages. Strings among ``values`` may be untrusted."""
    safe = {name: inert(value) if isinstance(value, str) else value for name, value in values.items()}
    return _pair({lang: text(key, lang, **safe) for lang in LANGS})


def _pair(texts: Mapping[Lang, str]) -> Markup:
    """One element a language, of which the style shows one; a single one where both say the same."""
    if texts["en"] == texts["zh"]:
        return escape(inert(texts["en"]))
    return Markup("").join(
        Markup('<span class="t" lang="{}">{}</span>').format(_TAGS[lang], inert(texts[lang])) for lang in LANGS
    )


def _explained(what: Literal["title", "why", "fix"], rule: str, messages: Messages | None) -> Markup:
    """One of the texts that explain a rule; empty where there is none."""
    if messages is None:
        return Markup("")
    ask = {"title": messages.title, "why": messages.why, "fix": messages.fix}[what]
    english = ask(rule, "en") or ""
    return _pair({"en": english, "zh": ask(rule, "zh") or english})


def _title(assessment: Assessment, lang: Lang) -> str:
    return text("page.title", lang, model=inert(assessment.model.reference), soc=inert(assessment.target.soc))


def _policy(style: str, script: str) -> str:
    """Nothing may load; only this style and this script may act. ``data:`` is for the icon of the page."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode("utf-8")).digest()).decode("ascii")


def _tensor(pair: TensorPair) -> str:
    """``float32[1, 512]``; a tensor without dimensions is ``float32[]``."""
    dtype, shape = pair
    return f"{dtype}[{', '.join(str(dim) for dim in shape)}]"


def _has_long_lines(substitution: Substitution) -> bool:
    """Whether the two pieces of code do not fit side by side and go below each other."""
    lines = [*substitution.before.splitlines(), *substitution.after.splitlines()]
    return any(len(line) > _HALF_WIDTH for line in lines)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of code with the modules that reach it."""

    file: str
    line: int
    modules: tuple[str, ...]

    @property
    def short(self) -> str:
        """The file without its folders, and the line; of a file without lines, the node."""
        name = self.file.replace(chr(92), "/").rsplit("/", 1)[-1]
        return f"{name}:{self.line}" if self.line else f"{name} {next(iter(self.modules), '')}".rstrip()


def _places(locations: Iterable[Location]) -> list[Place]:
    """Locations by line: a block that is repeated eighty times is one line of code, reached by eighty modules."""
    modules: dict[tuple[str, int], list[str]] = {}
    for location in locations:
        names = modules.setdefault((location.file, location.line), [])
        if location.module and location.module not in names:
            names.append(location.module)
    return [Place(file, line, tuple(names)) for (file, line), names in modules.items()]


@dataclass(frozen=True, slots=True)
class EvidenceKind:
    """One kind of evidence, the releases it is about, and the number of operators that rest on it."""

    kind: str
    releases: tuple[str, ...]
    ops: int


def _evidence_kinds(ops: Iterable[AssessedOp]) -> list[EvidenceKind]:
    releases: dict[str, set[str]] = {}
    counts: Counter[str] = Counter()
    for op in ops:
        counts.update({item.kind for item in op.evidence})
        for item in op.evidence:
            releases.setdefault(item.kind, set()).add(item.release)
    return [EvidenceKind(kind, tuple(sorted(releases[kind])), counts[kind]) for kind in sorted(releases)]
