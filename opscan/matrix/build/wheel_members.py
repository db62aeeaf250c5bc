"""What the members of a torch_npu wheel say: its list of functions, and the tables of its METADATA."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from opscan.errors import OpscanError

#: Sections of the list of functions, and the library that their operators belong to. ``symint`` repeats functions of
#: the others.
_LIBRARIES = {"supported": "aten", "autograd": "aten", "quant": "aten", "custom": "npu"}

#: Sections whose functions are registered for another dispatch key.
_KEYS = {"quant": "QuantizedPrivateUse1"}


class Function(msgspec.Struct, frozen=True, omit_defaults=True):
    """A function of the list. ``impl``: its implementations (empty: written by hand, in one).

    ``key``: the dispatch key it is registered for, where that is another than the NPU's own.
    """

    impl: tuple[str, ...] = ()
    key: str = ""


class VersionRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of METADATA: releases that belong together, as written there."""

    cann: str
    torch: str
    torch_npu: str
    branch: str


class Metadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """``cann``: the release that the instructions tell to install. ``branch``: the one they tell to build."""

    version: str
    torch: str
    branch: str = ""
    cann: str = ""
    rows: tuple[VersionRow, ...] = ()


def read_functions(text: str, where: str) -> dict[str, dict[str, Function]]:
    """Section → overload without its library → function.

    The list is machine-written YAML of one form: sections at the margin, entries of scalars (``- func: …``,
    ``  impl_ns: …``) and one mapping (``dispatch``), one a line. A line of any other form raises OpscanError.
    """
    sections: dict[str, dict[str, Function]] = {}
    for section, lines in _sections(text):
        entries = sections.setdefault(section, {})
        for entry in _entries(lines, where):
            name = entry.get("func", "").partition("(")[0]
            if not name:
                raise OpscanError(f"{where}: an entry of {section} has no func", "The wheel is damaged.")
            declared = tuple(filter(None, re.split(r",\s*", entry.get("impl_ns", ""))))
            both = ("acl_op", "op_api") if entry.get("op_api", "").lower() == "true" else ()
            sparse = "SparsePrivateUse1" if "sparse" in entry and not declared else ""
            entries[name] = Function(declared or both, entry.get("dispatch", "") or sparse or _KEYS.get(section, ""))
    if not sections.get("supported"):
        raise OpscanError(f"{where}: it lists no supported functions", "The wheel is damaged, or of an unknown layout.")
    return sections


def _sections(text: str) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    section = ""
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if re.fullmatch(r"\w+:.*", line):
            if section:
                yield section, lines
            name, _, value = line.partition(":")
            section, lines = ("" if value.strip() else name), []
        else:
            lines.append((number, line))
    if section:
        yield section, lines


def _entries(lines: list[tuple[int, str]], where: str) -> Iterator[dict[str, str]]:
    """Keys and values of each entry; a plain name is an entry with ``func`` alone, ``dispatch`` has its first key."""
    entry: dict[str, str] | None = None
    for number, line in lines:
        match = re.fullmatch(r"(\s*- |\s+)(?:(\w+):(?: (.*))?|([\w.]+))", line)
        starts = match is not None and "-" in match[1]
        if match is None or (entry is None and not starts):
            raise OpscanError(
                f"{where}:{number}: not a line of a list of functions: {line.strip()[:80]}",
                "The wheel is damaged, or of a layout that this opscan does not know.",
            )
        if starts:
            if entry:
                yield entry
            entry = {}
        assert entry is not None
        key, value = (match[2], (match[3] or "").strip("'\" ")) if match[2] else ("func", match[4])
        if key[0].isupper():
            entry["dispatch"] = entry.get("dispatch") or key
        else:
            entry[key] = value
    if entry:
        yield entry


def operators(sections: Mapping[str, Mapping[str, Function]]) -> dict[str, Function]:
    """Functions by qualified overload, of every section that has a library.

    ``supported`` also names functions of ``custom`` that are written by hand.
    """
    custom = sections.get("custom", {})
    return {
        f"{_LIBRARIES[section]}::{name}": function
        for section, functions in sections.items()
        if section in _LIBRARIES
        for name, function in functions.items()
        if section == "custom" or name not in custom
    }


def read_metadata(text: str, where: str) -> Metadata:
    """The tables of a wheel's METADATA. Raises OpscanError where the wheel is not torch_npu's."""
    header = dict(re.findall(r"^([\w-]+): (.*)$", text.partition("\n\n")[0], re.MULTILINE))
    name = header.get("Name", "no name")
    if name.lower().replace("-", "_") != "torch_npu":
        raise OpscanError(f"{where}: a wheel of {name}, not of torch_npu", "Give a torch_npu wheel.")
    torch = re.search(r"^Requires-Dist: torch\s*\(?==\s*([\d.]+\d)", text, re.MULTILINE)
    branch = re.search(r"-b (v\d[\w.-]*)", text)
    cann = re.search(r"Install CANN (\d+\.\d+\.\w+(?:[.-]\w+)*)", text)
    return Metadata(
        header["Version"],
        torch[1] if torch else ".".join(header["Version"].split(".")[:3]),
        branch[1] if branch else "",
        cann[1] if cann else "",
        tuple(_version_rows(text)),
    )


def _version_rows(text: str) -> Iterator[VersionRow]:
    """Rows of the table CANN, torch, torch_npu, branch; an empty first cell repeats the one above."""
    cann = ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.strip().startswith("|") else []
        if len(cells) == 4 and re.fullmatch(r"\d+\.\d+\.\d+", cells[1]) and re.match(r"\d+\.\d+", cells[2]):
            cann = cells[0].removeprefix("CANN").strip() or cann
            yield VersionRow(cann, *cells[1:])
