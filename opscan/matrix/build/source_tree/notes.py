"""Notes below a parameter table: what they add to or take from the lists above, for some products only.

Only plain statements are read: a product, a colon, and clauses of the form "these parameters (also | not | only) accept
these dtypes". A sentence with a condition (a mode, another dtype, a shape) or in any other form is counted and left
out, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from opscan.matrix.build.source_tree.markup import plain
from opscan.matrix.build.source_tree.words import DTYPE, PRODUCT, SOCS, all_socs, dtypes


@dataclass(frozen=True, slots=True)
class Note:
    """``socs`` empty: every SoC. ``parameters`` empty: every parameter that lists the dtypes (for ``remove`` only)."""

    socs: frozenset[str]
    parameters: tuple[str, ...]
    kind: Literal["add", "remove", "only"]
    dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A sentence that names dtypes and is not used. ``reason``: ``condition``, ``form``, ``product`` or ``scope``."""

    reason: str
    text: str


_SEPARATOR = r"(?:\s*[、,，/和或与及]+\s*|\s+)"
_LIST = rf"{DTYPE.pattern}(?:{_SEPARATOR}{DTYPE.pattern})*"
_ROLE = r"(?:可选)?(?:输入参数|输出参数|参数|入参|出参|输入|输出)?\s*"
_NAME = rf"{_ROLE}[A-Za-z][A-Za-z0-9_]*"
_NAMES = rf"{_NAME}(?:\s*[、,，和与/及]+\s*{_NAME})*\s*(?:参数)?\s*的?"
#: One clause. A name may not be a dtype: the list would be taken for parameters.
_CLAUSE = re.compile(
    rf"(?P<names>(?!{DTYPE.pattern}){_NAMES})?\s*(?:支持的)?(?:数据类型|数据不类型|类型)?\s*"
    rf"(?P<verb>(?:均|都)?额外支持|还支持|新增支持|(?:均|都|暂)?不支持(?:支持)?|[仅只]支持|(?:均|都)?支持|(?<=数据类型)[仅只]?为|(?<=数据不类型)支持)"
    rf"\s*(?:的?数据类型)?\s*[:：]?\s*(?P<list>{_LIST})\s*(?:等?(?:数据)?类型)?"
)
_EXCLUSIVE = re.compile(rf"({_LIST})\s*(?:等?(?:数据)?类型)?仅(?:支持该(?:产品|型号)|在该(?:产品|型号)支持)")
#: What may follow a clause and says nothing of dtypes.
_ASIDE = re.compile(
    r"[，,]?\s*数据格式(?:仅|不)?支持[A-Za-z0-9_、,， ]+$|[，,]?\s*不支持[A-Za-z\-、,]*inf[A-Za-z\-、,]*输入$|[，,]$"
)
_CONDITION = re.compile(
    r"当|如果|若|时[，,。]?|场景|推导|组合|转换|转化|cast|模式|选项|精度|范围|计算|溢出|量化|等于|元素|空[tT]ensor|取值|开启"
)
#: How a dtype that is accepted is computed: no condition.
_MEANWHILE = re.compile(r"[，,]当(?:数据)?类型为[^，,]*时[，,]转[化换]为.*$")
_PRODUCTS_ONLY = re.compile(rf"(?:(?:{PRODUCT.pattern})[^、：:，。支时]*)(?:、(?:{PRODUCT.pattern})[^、：:，。支时]*)*")
_ENDS = re.compile(r"[。；;]|\n")
_JOINS = " ，,、且"


def read_notes(
    lines: Sequence[str], names: Iterable[str], alike: tuple[str, ...] = ()
) -> tuple[list[Note], list[Skipped]]:
    """The notes in the lines below a parameter table whose parameters are ``names``.

    A line "product:" without more governs the deeper lines that follow it. ``alike``: what a list without a parameter
    is about, the tensors of the API where all have the same list; empty where they have not.
    """
    known, notes, skipped = frozenset(names), list[Note](), list[Skipped]()
    governing: tuple[int, frozenset[str] | None] | None = None
    for line in lines:
        text = plain(line).strip()
        if not text:
            continue
        depth = len(line) - len(line.lstrip())
        if governing is not None and depth <= governing[0]:
            governing = None
        products, statement = _split(re.sub(r"^(?:[-*>]\s*)+", "", text).rstrip(".。"))
        scope = all_socs(products) if products else governing[1] if governing else frozenset()
        if products and not statement:
            governing = depth, scope
            continue
        for sentence in filter(None, (part.strip() for part in _ENDS.split(statement))):
            if DTYPE.search(sentence):
                found = _read(sentence, scope, known, alike)
                if isinstance(found, Skipped):
                    skipped.append(found)
                elif scope or all(note.parameters for note in found):
                    notes += found
                else:
                    skipped.append(Skipped("scope", sentence))
    return notes, skipped


def _split(text: str) -> tuple[str, str]:
    """(products, statement) of ``products：statement``; products empty where the line names none first."""
    head, colon, rest = re.sub(r"\s*:\s*", "：", text, count=1).partition("：")
    if colon and PRODUCT.match(head):
        return head, rest.strip()
    return (text, "") if _PRODUCTS_ONLY.fullmatch(text) else ("", text)


def _read(
    sentence: str, scope: frozenset[str] | None, known: frozenset[str], alike: tuple[str, ...]
) -> list[Note] | Skipped:
    if scope is None:
        return Skipped("product", sentence)
    exclusive = _EXCLUSIVE.fullmatch(sentence)
    if exclusive and scope:
        return [Note(SOCS - scope, (), "remove", dtypes(exclusive[1]))]
    sentence = _MEANWHILE.sub("", sentence)
    if _CONDITION.search(sentence):
        return Skipped("condition", sentence)
    found = _clauses(sentence, scope, known)
    if found is None:
        return Skipped("form", sentence)
    if all(note.parameters or note.kind == "remove" for note in found):
        return found
    if not alike:
        return Skipped("scope", sentence)
    return [replace(note, parameters=note.parameters or alike) for note in found]


def _clauses(sentence: str, scope: frozenset[str], known: frozenset[str]) -> list[Note] | None:
    """Every clause of a sentence; None unless they make up the whole of it and name parameters of the table only."""
    notes, position, end = list[Note](), 0, 0
    while position < len(sentence):
        match = _CLAUSE.match(sentence, position)
        if match is None:
            return notes if notes and _ASIDE.fullmatch(sentence, end) else None
        named = tuple(re.findall(r"[A-Za-z][A-Za-z0-9_]*", match["names"] or ""))
        if not known.issuperset(named):
            return None
        notes.append(Note(scope, named, _kind(match["verb"], match[0]), dtypes(match["list"])))
        position = end = match.end()
        while position < len(sentence) and sentence[position] in _JOINS:
            position += 1
    return notes


def _kind(verb: str, clause: str) -> Literal["add", "remove", "only"]:
    if "不" in verb or "数据不类型" in clause:
        return "remove"
    return "add" if verb.endswith(("额外支持", "还支持", "新增支持")) else "only"
