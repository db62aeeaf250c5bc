"""AI CPU and host CPU kernels of an installed toolkit: the same for every SoC."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Literal

from opscan.matrix.build.cann_home.toolkit import Toolkit, damaged, read_operators
from opscan.matrix.files import GeKernel, GeParameter

#: Both layouts of the built-in lists, and those of custom operators.
_LISTS = (
    "opp/vendors/*/op_impl/cpu/config/*.json",
    "opp/vendors/*/op_impl/cpu/aicpu_kernel/config/*.json",
    "opp/built-in/op_impl/aicpu/aicpu_kernel/config/*.json",
    "opp/built-in/op_impl/aicpu/config/*.json",
    "opp/built-in/op_impl/aicpu/tf_kernel/config/*.json",
    "opp/built-in/op_impl/host_cpu/config/*.json",
)

#: ``opInfo.engine`` → engine of the matrix. What runs elsewhere (image units) is left out.
_ENGINES: dict[str, Literal["ai_cpu", "host_cpu"]] = {"DNN_VM_AICPU": "ai_cpu", "DNN_VM_HOST_CPU": "host_cpu"}

_SPELLINGS = {"bf16": "bfloat16", "float": "float32", "double": "float64"}
_IO = re.compile(r"(?:dynamic_)?(input|output)(\d+)")

#: Spellings of the lists that the engine does not know, so that they never match (``compiler/engines/cpu_engine/common/
#: util/util.cc`` of hicann/ge @ffdcbc9f7496). Others without ``DT_`` are misprints.
_UNKNOWN = frozenset({"DT_FLOAT64"})


def read_ai_cpu(toolkit: Toolkit) -> dict[str, tuple[GeKernel, ...]]:
    """Operator → its kernels on the AI CPU and on the host."""
    found: dict[str, list[GeKernel]] = defaultdict(list)
    for path in toolkit.files(*_LISTS):
        for op, entry in read_operators(toolkit, path).items():
            info = entry.get("opInfo")
            if not isinstance(info, dict) or not isinstance(info.get("engine"), str):
                raise damaged(toolkit, path, "expected an engine", f"{op}.opInfo.engine")
            engine = _ENGINES.get(info["engine"])
            if engine is not None:
                source = f"{toolkit.name(path)} of the installed toolkit"
                found[op].append(GeKernel(engine, _parameters(toolkit, path, op, entry), source=source))
    return {op: tuple(dict.fromkeys(kernels)) for op, kernels in found.items()}


def _parameters(toolkit: Toolkit, path: Path, op: str, entry: dict[str, Any]) -> tuple[GeParameter, ...]:
    """Inputs, then outputs, each by their numbers. One without types has no dtypes, one without a name its key."""
    found = []
    for key in sorted((k for k in entry if _IO.fullmatch(k)), key=_order):
        value = entry[key]
        if not isinstance(value, dict) or not isinstance(value.get("type", ""), str):
            raise damaged(toolkit, path, "expected an object with types joined by commas", f"{op}.{key}")
        io: Literal["in", "out"] = "in" if "input" in key else "out"
        found.append(GeParameter(str(value.get("name") or key), io, _dtypes(value.get("type", ""))))
    return tuple(found)


def _order(key: str) -> tuple[str, int]:
    match = _IO.fullmatch(key)
    assert match is not None
    return match[1], int(match[2])


def _dtypes(listed: str) -> tuple[str, ...]:
    words = {word.strip() for word in listed.split(",")} - _UNKNOWN
    plain = {word[3:].lower() for word in words if word.startswith("DT_")}
    return tuple(sorted(_SPELLINGS.get(word, word) for word in plain))
