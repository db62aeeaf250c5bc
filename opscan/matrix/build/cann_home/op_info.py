"""AI Core operators of one SoC: the lists of an installed toolkit, and what precompiled kernels add to them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from opscan.matrix.build.cann_home.kernels import Binaries, dtypes_of
from opscan.matrix.build.cann_home.toolkit import AI_CORE, Toolkit, damaged, read_operators
from opscan.matrix.files import GeKernel, GeParameter

#: Operator → its inputs and outputs by the prototype.
Prototypes = Mapping[str, tuple[GeParameter, ...]]

_SPELLINGS = {"float": "float32", "double": "float64", "bf16": "bfloat16"}
_IO = re.compile(r"(input|output)(\d+)")


def read_op_info(
    toolkit: Toolkit, folder: str, binaries: Binaries, prototypes: Prototypes
) -> dict[str, tuple[GeKernel, ...]]:
    """Operator → its AI Core kernels on a SoC, those of custom operators first, as the graph engine asks them.

    Where a list leaves the dtypes of a parameter open (operators with ``dynamicFormat``), those of the precompiled
    kernels stand in, else the prototype's, which are a bound.
    """
    custom = toolkit.files(f"opp/vendors/*/{AI_CORE}/config/{folder}/*.json")
    found: dict[str, list[GeKernel]] = defaultdict(list)
    for path in (*custom, *toolkit.ai_core_lists(folder)):
        for op, entry in read_operators(toolkit, path).items():
            listed = _parameters(toolkit, path, op, entry)
            params = tuple(_filled(p, i, op, entry, binaries, prototypes) for i, p in _numbered(listed))
            found[op].append(GeKernel("ai_core", params, source=_source(toolkit, path, listed, params)))
    return {op: tuple(dict.fromkeys(kernels)) for op, kernels in found.items()}


def _source(toolkit: Toolkit, path: Path, listed: tuple[GeParameter, ...], params: tuple[GeParameter, ...]) -> str:
    """The list, and what stands in for dtypes that it leaves open."""
    source = f"{toolkit.name(path)} of the installed toolkit"
    filled = [after for before, after in zip(listed, params, strict=True) if not before.dtypes and after.dtypes]
    if any(not p.bound for p in filled):
        source += ", dtypes of its precompiled kernels"
    return source + (", dtypes bound by the prototype" if any(p.bound for p in filled) else "")


def _parameters(toolkit: Toolkit, path: Path, op: str, entry: dict[str, Any]) -> tuple[GeParameter, ...]:
    """Inputs, then outputs, each by their numbers."""
    found = []
    for key in sorted((k for k in entry if _IO.fullmatch(k)), key=_order):
        value = entry[key]
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            raise damaged(toolkit, path, "expected an object with a name", f"{op}.{key}")
        listed = value.get("dtype", "")
        if not isinstance(listed, str):
            raise damaged(toolkit, path, "expected dtypes joined by commas", f"{op}.{key}.dtype")
        io: Literal["in", "out"] = "in" if key.startswith("input") else "out"
        found.append(GeParameter(value["name"], io, _dtypes(listed), value.get("paramType") == "optional"))
    return tuple(found)


def _order(key: str) -> tuple[str, int]:
    match = _IO.fullmatch(key)
    assert match is not None
    return match[1], int(match[2])


def _dtypes(listed: str) -> tuple[str, ...]:
    """One dtype per combination, as the list has them → the distinct ones."""
    words = {word.strip().lower() for word in listed.split(",")} - {""}
    return tuple(sorted(_SPELLINGS.get(word, word) for word in words))


def _numbered(params: tuple[GeParameter, ...]) -> list[tuple[int, GeParameter]]:
    """Each parameter with its number among the inputs or the outputs."""
    inputs = [p for p in params if p.io == "in"]
    return [*enumerate(inputs), *enumerate(p for p in params if p.io == "out")]


def _filled(
    parameter: GeParameter, number: int, op: str, entry: dict[str, Any], binaries: Binaries, prototypes: Prototypes
) -> GeParameter:
    if parameter.dtypes:
        return parameter
    declared = _declared(parameter, number, prototypes.get(op, ()))
    compiled = dtypes_of(binaries, op, entry, parameter.io, number, declared)
    if compiled.dtypes:
        return replace(parameter, dtypes=compiled.dtypes, bound=compiled.bound)
    return replace(parameter, dtypes=declared, bound=bool(declared))


def _declared(parameter: GeParameter, number: int, prototype: tuple[GeParameter, ...]) -> tuple[str, ...]:
    """The prototype's dtypes of the parameter of that name, else of that number where as many are declared."""
    same = [p for p in prototype if p.io == parameter.io]
    for declared in same:
        if declared.name == parameter.name:
            return declared.dtypes
    return same[number].dtypes if number < len(same) else ()
