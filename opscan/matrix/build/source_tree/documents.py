"""API pages of CANN's operator repositories: products, parameters with dtypes and ranks, signatures.

Both layouts are read: parameters as a table with notes below it (most pages from 9.0.0 on), and as a list with one
bullet for each parameter and one for each product below (most pages of 8.5.0).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from opscan.matrix.build.source_tree.constraints import read_constraints
from opscan.matrix.build.source_tree.markup import plain, tables
from opscan.matrix.build.source_tree.notes import Note, Skipped, read_notes
from opscan.matrix.build.source_tree.words import DTYPE, PRODUCT, all_socs, dtypes, socs

#: Parameters of every API that say nothing of the operator.
_PLUMBING = frozenset({"workspaceSize", "executor", "workspace", "stream"})


def _sibling(soc: str) -> str:
    """The SoC with the same AI Core whose name stands for both on some pages."""
    return "ascend910_93" if soc == "ascend910b" else ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """``listed`` None: no list of dtypes. ``by_soc``: lists that hold for single SoCs in its place."""

    name: str
    io: str
    listed: tuple[str, ...] | None
    by_soc: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ranks: str = ""

    def on(self, soc: str) -> tuple[str, ...] | None:
        """The list for a SoC. Pages of 8.5.0 name Atlas A3 alone where they mean A2 as well: the chips are the same."""
        return self.by_soc.get(soc) or self.by_soc.get(_sibling(soc)) or self.listed


@dataclass(frozen=True, slots=True)
class Api:
    name: str
    parameters: tuple[Parameter, ...]
    notes: tuple[Note, ...] = ()

    def accepted(self, soc: str) -> dict[str, tuple[str, ...] | None]:
        """Parameter → dtypes on a SoC after every note; None where the page has no list.

        Pages name Atlas A3 alone where a dtype is added for A2 as well: the dtype checks of those APIs treat the two
        chips alike.
        """
        notes = [n for n in self.notes if not n.socs or soc in n.socs or (n.kind == "add" and _sibling(soc) in n.socs)]
        return {
            p.name: _noted(p.on(soc), [n for n in notes if p.name in n.parameters or not n.parameters])
            for p in self.parameters
        }


@dataclass(frozen=True, slots=True)
class Document:
    """One page. ``supported``: SoC → yes or no. ``problem``: why it could not be used; then there are no APIs."""

    supported: dict[str, bool]
    apis: tuple[Api, ...] = ()
    signatures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    problem: str = ""


def _noted(listed: tuple[str, ...] | None, notes: list[Note]) -> tuple[str, ...] | None:
    """A list after the notes on it. Of several that name the whole list, each holds (they are about different modes).

    A "whole list" of nothing that is listed is an addition: some pages leave the word "also" out.
    """
    if listed is None:
        return None
    whole = [d for note in notes if note.kind == "only" for d in note.dtypes]
    if whole:
        listed = tuple(dict.fromkeys(whole if set(whole) & set(listed) else (*listed, *whole)))
    added = [d for note in notes if note.kind == "add" for d in note.dtypes]
    removed = {d for note in notes if note.kind == "remove" for d in note.dtypes}
    return tuple(d for d in dict.fromkeys((*listed, *added)) if d not in removed)


def read_document(text: str) -> Document:
    """What one API page says; with the reason in ``problem`` where it has no form that is understood."""
    text = re.sub(r"<!--.*?-->|<sup>[^<]*</sup>", "", text, flags=re.S)
    signatures = _signatures(text)
    sections = _sections(_without_code(text))
    supported = _products(sections)
    if not supported:
        return Document({}, signatures=signatures, problem="no product table")
    constraints = "\n".join(body for title, body in sections if "约束" in title)
    apis, skipped = dict[str, Api](), list[Skipped]()
    for title, body in sections:
        for name in _documented(title):
            parameters, below = _parameters(_before_result(body))
            if not parameters or name in apis:
                continue
            names = [p.name for p in parameters]
            notes, missed = read_notes(below, names, _alike(parameters, signatures.get(name, ())))
            apis[name] = Api(name, parameters, (*notes, *read_constraints(constraints, names)))
            skipped += missed
    problem = "" if apis else "no parameter list"
    return Document(supported, tuple(apis.values()), signatures, tuple(skipped), problem)


def _documented(title: str) -> list[str]:
    """The APIs whose parameters a section describes: ``aclnnXGetWorkspaceSize``; on a few pages only ``aclnnX``."""
    return re.findall(r"(aclnn[A-Z][A-Za-z0-9_]*?)GetWorkspaceSize", title) or re.findall(
        r"^(aclnn[A-Z][A-Za-z0-9_]*)$", title
    )


def _alike(parameters: tuple[Parameter, ...], signature: tuple[str, ...]) -> tuple[str, ...]:
    """The tensors of an API where every one that has a list has the same; else none."""
    tensors = {part.split()[1] for part in signature if part.startswith(("aclTensor*", "aclTensorList*"))}
    listed = {p.name: frozenset(p.listed) for p in parameters if p.name in tensors and p.listed}
    return tuple(listed) if len(set(listed.values())) == 1 else ()


def _without_code(text: str) -> str:
    """Without fenced blocks; a fence that names a language opens one even where the last was not closed."""
    kept, inside = [], False
    for line in text.splitlines():
        fence = re.match(r"[ \t]*(?:>[ \t]*)?(?:```|~~~)[ \t]*([\w+]*)", line)
        if fence:
            inside = bool(fence[1]) or not inside
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def _sections(text: str) -> list[tuple[str, str]]:
    """(heading, text up to the next heading)."""
    parts = re.split(r"^#{1,6}[ \t]*(.+?)[ \t#]*$", text, flags=re.M)
    return [(plain(title), body) for title, body in zip(parts[1::2], parts[2::2], strict=True)]


def _before_result(body: str) -> str:
    """Up to the description of the status code that the function returns."""
    return re.split(
        r"^\s*[-*]*\s*(?:\*\*)?\s*返回(?:值|码|参数|结果)?(?:说明)?\s*(?:\*\*)?\s*[:：]?\s*(?:\*\*)?\s*$|^\s*[-*]\s*\*\*返回",
        body,
        flags=re.M,
    )[0]


def _products(sections: list[tuple[str, str]]) -> dict[str, bool]:
    """SoC → yes or no. Of several lines for one chip (training, inference cards), one yes is a yes."""
    found: dict[str, bool] = {}
    for title, body in sections:
        if "产品支持" not in title and "支持的产品" not in title:
            continue
        listed = re.findall(r"^\s*[-*]\s*(.+?)\s*[:：]\s*(不支持|支持|√|×)\s*[。；]?\s*$", plain(body), re.M)
        for products, answer in listed:
            for soc in all_socs(products) or ():
                found[soc] = found.get(soc, False) or answer in ("支持", "√")
        for row in (row for table in tables(body) for row in table):
            mark = next((cell for cell in row[1:] if cell in ("√", "×", "x", "X", "✓", "√（仅支持）")), "")
            for soc in socs(plain(row[0])) if mark else ():
                found[soc] = found.get(soc, False) or mark in ("√", "✓")
    return found


def _signatures(text: str) -> dict[str, tuple[str, ...]]:
    """API → its parameters in order, as ``type name``, without the two that every API ends with."""
    found: dict[str, tuple[str, ...]] = {}
    for name, inside in re.findall(
        r"aclnnStatus\s+(aclnn[A-Za-z0-9_]+?)GetWorkspaceSize\s*\(([^()]*)\)", text.replace("\\", "")
    ):
        parts = (re.sub(r"//[^\n]*|/\*.*?\*/", "", part) for part in inside.split(","))
        matches = (re.fullmatch(r"\s*(?:const\s+)?(.+?)\s*(\w+)\s*", part, re.S) for part in parts)
        typed = [(re.sub(r"\s+", "", m[1]), m[2]) for m in matches if m]
        declared = tuple(f"{kind} {name}" for kind, name in typed if name not in _PLUMBING)
        found.setdefault(name, declared)
    return found


def _parameters(body: str) -> tuple[tuple[Parameter, ...], list[str]]:
    """The parameters of one API, and the lines below their table (none where they are a list)."""
    for table in tables(body):
        columns = _columns(table[0])
        if columns is not None:
            rows = (_from_row(row, columns) for row in table[1:])
            return _united(p for p in rows if p is not None), _below_table(body)
    return _united(_from_bullets(body)), []


def _below_table(body: str) -> list[str]:
    """The lines below the first table, without those of further tables."""
    if "</table>" in body:
        rest = re.sub(r"<table.*?</table>", "", body.partition("</table>")[2], flags=re.S)
        return rest.splitlines()
    lines = body.splitlines()
    first = next(i for i, line in enumerate(lines) if line.lstrip().startswith("|"))
    return [line for line in lines[first:] if not line.lstrip().startswith("|")]


@dataclass(frozen=True, slots=True)
class _Columns:
    name: int
    io: int | None
    dtype: int | None
    ranks: int | None
    words: tuple[int, ...]


def _columns(header: list[str]) -> _Columns | None:
    titles = [re.sub(r"\s", "", title) for title in header]

    def find(pattern: str) -> int | None:
        return next((i for i, title in enumerate(titles) if re.search(pattern, title)), None)

    name = find(r"^参数(?:名|名称)?$")
    if name is None:
        return None
    words = tuple(i for i, title in enumerate(titles) if re.search(r"描述|说明", title))
    return _Columns(name, find(r"输入/输出|输入输出"), find(r"^数据类型"), find(r"^维度|^shape|^Shape"), words)


def _from_row(row: list[str], columns: _Columns) -> Parameter | None:
    name = re.match(r"[`*\s]*([A-Za-z][A-Za-z0-9_]*)", plain(row[columns.name]))
    if name is None or name[1] in _PLUMBING:
        return None
    io = _io(row[columns.io]) if columns.io is not None and columns.io < len(row) else _io(row[columns.name])
    if columns.dtype is not None and columns.dtype < len(row):
        listed, by_soc = _by_product(plain(row[columns.dtype]), strict=False)
    else:
        words = "\n".join(plain(row[i]) for i in columns.words if i < len(row))
        listed, by_soc = _by_product(words, strict=True)
    ranks = plain(row[columns.ranks]) if columns.ranks is not None and columns.ranks < len(row) else ""
    return Parameter(name[1], io, listed, by_soc, "" if ranks == "-" else re.sub(r"\s+", " ", ranks).replace(";", "，"))


def _io(text: str) -> str:
    return "in" if "输入" in text or "入参" in text or not re.search(r"输出|出参", text) else "out"


#: ``- name(type, input)：text``.
_BULLET = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*+]|\d+\.)\s*`?(?P<name>[A-Za-z][A-Za-z0-9_]*)`?\s*"
    r"[（(](?P<kind>[^（）()]*?)[)）]\s*[:：]?(?P<text>.*)$"
)


def _from_bullets(body: str) -> list[Parameter]:
    found: list[tuple[str, str, list[str]]] = []
    depth: int | None = None
    for line in body.splitlines():
        match = _BULLET.match(line.replace("\\", ""))
        named = match is not None and bool(re.search(r"输入|输出|入参|出参", match["kind"]))
        if match is not None and named and (depth is None or len(match["indent"]) <= depth):
            depth = len(match["indent"])
            found.append((match["name"], _io(match["kind"]), [match["text"]]))
        elif found:
            found[-1][2].append(line)
    parameters = []
    for name, io, lines in found:
        if name not in _PLUMBING:
            listed, by_soc = _by_product("\n".join(map(plain, lines)), strict=True)
            parameters.append(Parameter(name, io, listed, by_soc))
    return parameters


#: A list of dtypes; a misprinted name (``UINT43``) does not end it.
_LIST = rf"{DTYPE.pattern}(?:(?:\s*[、,，/和或]\s*|\s+)(?:{DTYPE.pattern}|[A-Z]+\d+))*"
_LISTED = re.compile(rf"类型(?:仅|只)?(?:支持|包括)\s*[:：]?\s*({_LIST})")


def _by_product(text: str, *, strict: bool) -> tuple[tuple[str, ...] | None, dict[str, tuple[str, ...]]]:
    """The dtypes of a text, and those of its lines that start with products.

    ``strict``: prose, in which only what follows "dtype supports" is a list; else a cell that is a list.
    """
    general: list[str] = []
    by_soc: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        head, colon, rest = line.strip().lstrip("-*> ").replace(":", "：", 1).partition("：")
        if colon and PRODUCT.match(head):
            found = _listed(rest, strict=strict and "类型" in rest)
            for soc in (all_socs(head) or ()) if found else ():
                by_soc[soc] = found
        else:
            general += _listed(line, strict=strict)
    return tuple(dict.fromkeys(general)) or None, by_soc


def _listed(text: str, *, strict: bool) -> tuple[str, ...]:
    if strict:
        return tuple(dict.fromkeys(d for part in _LISTED.findall(text) for d in dtypes(part)))
    return dtypes(text)


def _united(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Each parameter once: a table may give one several rows."""
    found: dict[str, Parameter] = {}
    for p in parameters:
        old = found.get(p.name)
        if old is None:
            found[p.name] = p
        else:
            listed = tuple(dict.fromkeys((*(old.listed or ()), *(p.listed or ())))) or None
            found[p.name] = Parameter(p.name, old.io, listed, {**old.by_soc, **p.by_soc}, old.ranks or p.ranks)
    return tuple(found.values())
