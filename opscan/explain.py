"""``opscan explain``: a rule or an error code in plain words. Operators are answered by the matrix, not here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from opscan.explanation import Citation, Explanation, Kind, Related
from opscan.matrix.errors_file import ErrorCodes, ErrorEntry, ErrorFamily, Found
from opscan.rules.interface import Rule
from opscan.rules.registry import RULES

#: Where the rules are documented.
RULES_PAGE = "docs/verdicts.md#rules"

_RULE = re.compile(r"(?<![A-Za-z0-9])OPS[0-9]{3}(?![0-9])", re.IGNORECASE)

#: What is longer is a line of a log, and nobody meant to type a code.
_TYPED = 40


def explain(subject: str, lang: str) -> Explanation | None:
    """What ``subject`` means: a rule's code or name, an error code, or a text that holds one.

    None where it is neither; it may be an operator then. Raises MatrixError where the file of codes is damaged.
    """
    rule = _rule(subject)
    if rule is not None:
        return _explain_rule(rule, lang)
    codes = ErrorCodes.load()
    message, found = codes.message(subject), codes.find(subject)
    if message is not None:
        return _explain_entry(codes, message.text[0], message.entry, lang, "message", found)
    if not found:
        return None
    first, *others = found
    if first.entry is not None:
        return _explain_entry(codes, first.code, first.entry, lang, "code", others, first)
    return _explain_family(codes, first, lang, others)


def nearest_subjects(subject: str) -> tuple[str, ...]:
    """Up to three rules and error codes that may have been meant."""
    typed = subject.strip().upper()
    if not typed or len(typed) > _TYPED:
        return ()
    codes = ErrorCodes.load()
    spelled = {each.upper(): each for each in (*RULES, *(rule.name for rule in RULES.values()))}
    spelled |= {each: each for each in (*codes.file.codes, *codes.names)}
    return tuple(spelled[each] for each in difflib.get_close_matches(typed, spelled, n=3, cutoff=0.7))


def _rule(subject: str) -> Rule | None:
    match = _RULE.search(subject)
    if match:
        return RULES.get(match.group().upper())
    name = subject.strip().lower()
    return next((rule for rule in RULES.values() if rule.name == name), None)


def _explain_rule(rule: Rule, lang: str) -> Explanation:
    return Explanation(
        kind="rule",
        subject=rule.code,
        name=rule.name,
        title=rule.title.in_(lang),
        verdict=rule.verdict or "",
        severity=rule.severity,
        status=rule.status,
        meaning=rule.why.in_(lang),
        next=rule.fix.in_(lang),
        message=rule.message.in_(lang),
        example=rule.example,
        page=RULES_PAGE,
    )


def _explain_entry(
    codes: ErrorCodes,
    subject: str,
    entry: ErrorEntry,
    lang: str,
    kind: Kind,
    others: Iterable[Found],
    found: Found | None = None,
) -> Explanation:
    title = entry.title.in_(lang)
    if found and found.module:
        title = f"{found.module.in_(lang)}{'：' if lang == 'zh' else ': '}{title}"
    return Explanation(
        kind=kind,
        subject=subject,
        name=entry.name,
        title=title,
        origin=found.family.origin.in_(lang) if found and found.family else "",
        about=entry.about,
        meaning=entry.meaning.in_(lang) if entry.meaning else "",
        next=codes.file.next[entry.next].in_(lang),
        rules=_rules(entry.rules, lang),
        successors=tuple(Related(code, codes.file.codes[code].title.in_(lang)) for code in entry.successors),
        also=tuple(_related(each, lang) for each in others),
        sources=_sources(codes, entry.sources),
    )


def _explain_family(codes: ErrorCodes, found: Found, lang: str, others: Iterable[Found]) -> Explanation:
    family = found.family
    assert family is not None  # a code is found by its entry or its family
    return Explanation(
        kind="family",
        subject=found.code,
        name=family.pattern,
        title=family.title.in_(lang),
        origin=family.origin.in_(lang),
        about=family.about,
        next=codes.file.next[family.next].in_(lang),
        rules=_rules(family.rules, lang),
        also=tuple(_related(each, lang) for each in others),
        sources=_sources(codes, family.sources),
    )


def _related(found: Found, lang: str) -> Related:
    known: ErrorEntry | ErrorFamily | None = found.entry or found.family
    return Related(found.code, known.title.in_(lang) if known else "")


def _rules(names: Iterable[str], lang: str) -> tuple[Related, ...]:
    return tuple(Related(name, RULES[name].title.in_(lang)) for name in names if name in RULES)


def _sources(codes: ErrorCodes, keys: Iterable[str]) -> tuple[Citation, ...]:
    sources = (codes.file.sources[key] for key in keys)
    return tuple(Citation(source.document, source.where, source.date) for source in sources)
