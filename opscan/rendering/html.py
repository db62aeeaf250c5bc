"""The report as one HTML file that works from a disk: no request, no external file, readable without JavaScript.

What comes from the model is untrusted: Jinja escapes it, :func:`opscan.rendering.inert.inert` disarms its control
characters before that, and the content security policy lets only the report's own style and script run, by their
hashes.
Both languages are in the page; the ``lang`` of ``<html>`` decides which one is visible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from jinja2 import Environment
from markupsafe import Markup, escape

from opscan.assessment import VERDICTS, AssessedOp, Assessment, Substitution, TensorPair
from opscan.inventory import Location, Phase
from opscan.rendering import overview, page
from opscan.rendering.inert import inert, inert_code
from opscan.rendering.interface import LANGS, Lang, Messages, message_in
from opscan.rendering.side_by_side import figures
from opscan.rendering.strings import text
from opscan.rendering.templates import read_source
from opscan.rendering.workload import departures

#: Characters of code that fit into half of the page.
_HALF_WIDTH = 55


def render_html(assessment: Assessment, lang: Lang = "en", messages: Messages | None = None) -> str:
    """The whole page, in ``lang`` when it opens. ``messages`` gives the rules' texts; without it they are English."""
    style, script = read_source("report.css"), read_source("report.js")
    substitutions = overview.substitutions(assessment)
    environment = report_environment(messages)
    return environment.get_template("report.html.jinja").render(
        assessment=assessment,
        lang_tag=page.TAGS[lang],
        titles={each: _title(assessment, each) for each in LANGS},
        lang=lang,
        policy=page.policy(style, script),
        style=Markup(style),
        script=Markup(script),
        run=departures(assessment.workload),
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


def report_environment(messages: Messages | None) -> Environment:
    """The templates of reports, with the filters that the macros use and the texts of the rules."""
    environment = page.environment()
    environment.filters.update(
        code=lambda source: escape(inert_code(source)),
        days=overview.days,
        figures=figures,
        dtypes=overview.dtypes,
        error_size=overview.error_size,
        long_code=_has_long_lines,
        places=_places,
        tensor=_tensor,
        tracer_result=overview.tracer_result,
    )
    environment.globals.update(
        raw_text=text,
        rule_title=lambda rule: _explained("title", rule, messages),
        explained=lambda what, rule: _explained(what, rule, messages),
        message=lambda rule, facts, english: page.pair(
            {lang: message_in(lang, rule, facts, english or "", messages) for lang in LANGS}
        ),
        bilingual=lambda english, chinese: page.pair({"en": english, "zh": chinese or english}),
    )
    return environment


def _explained(what: Literal["title", "why", "fix"], rule: str, messages: Messages | None) -> Markup:
    """One of the texts that explain a rule; empty where there is none."""
    if messages is None:
        return Markup("")
    ask = {"title": messages.title, "why": messages.why, "fix": messages.fix}[what]
    english = ask(rule, "en") or ""
    return page.pair({"en": english, "zh": ask(rule, "zh") or english})


def _title(assessment: Assessment, lang: Lang) -> str:
    return text("page.title", lang, model=inert(assessment.model.reference), soc=inert(assessment.target.soc))


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
