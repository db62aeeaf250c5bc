"""What CANN says of one kernel: an aclnn API or a graph-engine operator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from opscan.matrix.files import Api, GeOp, Parameter
from opscan.matrix.names import nearest
from opscan.matrix.query import Matrix


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """``kernel``: the engine that computes it; ``note``: where its list comes from, and what is doubtful in it."""

    kernel: str
    io: str
    name: str
    dtypes: tuple[str, ...]
    ranks: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """``cann``: the release whose table answers, which is the nearest one where the target's has none."""

    name: str
    cann: str
    soc: str
    state: Literal["supported", "not on this SoC", "unknown", "experimental"]
    parameters: tuple[KernelParameter, ...]
    notes: tuple[str, ...]
    sources: tuple[str, ...]


def is_kernel(name: str) -> bool:
    """Whether a name is spelled as that of a kernel."""
    return name.startswith(("aclnn", "GE "))


def kernel(matrix: Matrix, name: str) -> Kernel | None:
    """What the target's CANN says of ``aclnnIndex`` or ``GE Index``; None where ``name`` is no kernel's name."""
    ge = name.removeprefix("GE ")
    table = next(iter(matrix.cann), None)
    if not is_kernel(name):
        return None
    if table is None:
        return _unknown(name, matrix, "the matrix holds no table of this CANN release on this SoC")
    if name.startswith("GE "):
        op = table.ge.get(ge)
        if op is None:
            return _unknown(name, matrix, *_unlisted(ge, table.ge, "GE "))
        return _ge(name, op, table.release, table.soc)
    api = table.apis.get(name)
    if api is None:
        return _unknown(name, matrix, *_unlisted(name, table.apis))
    return _aclnn(name, api, table.release, table.soc)


def _unlisted(name: str, known: Iterable[str], prefix: str = "") -> tuple[str, ...]:
    """A name may be mistyped, or belong to a kernel that nothing documents."""
    near = [prefix + each for each in nearest(name, tuple(known))]
    return ("no table lists it", f"look-alikes: {', '.join(near)}") if near else ("no table lists it",)


def _unknown(name: str, matrix: Matrix, *why: str) -> Kernel:
    return Kernel(name, matrix.target.cann, matrix.target.soc, "unknown", (), why, ())


def _aclnn(name: str, api: Api, cann: str, soc: str) -> Kernel:
    order = [parameter for _, parameter in (api.signatures or ((),))[0]]
    order += [parameter for parameter in api.params if parameter not in order]
    parameters = tuple(
        KernelParameter("aclnn", p.io, parameter, p.dtypes, p.ranks, _note(p))
        for parameter in order
        if (p := api.params.get(parameter)) is not None
    )
    notes = []
    if api.ai_cpu:
        notes.append(f"on the AI CPU, slowly: {' '.join(api.ai_cpu)}")
    if api.borrowed:
        notes.append(f"from CANN {api.borrowed}")
    if api.disputed:
        notes.append(f"disputed: {api.disputed}")
    if api.corrected:
        notes.append(f"corrected: {api.corrected}")
    state: Literal["supported", "not on this SoC"] = "supported" if api.supported else "not on this SoC"
    return Kernel(name, cann, soc, state, parameters, tuple(notes), tuple(filter(None, [api.source])))


def _note(parameter: Parameter) -> str:
    """What is to be known of a parameter's list."""
    parts = [
        f"from CANN {parameter.borrowed}" if parameter.borrowed else "",
        f"disputed: {' '.join(parameter.disputed)}" if parameter.disputed else "",
        f"doubted by a note: {' '.join(parameter.contested)}" if parameter.contested else "",
        f"excluded by a note: {' '.join(parameter.excluded)}" if parameter.excluded else "",
        f"corrected: {parameter.corrected}" if parameter.corrected else "",
    ]
    return "; ".join(part for part in parts if part)


def _ge(name: str, op: GeOp, cann: str, soc: str) -> Kernel:
    parameters = tuple(
        KernelParameter(
            k.engine.replace("_", " "),
            p.io,
            p.name + ("?" if p.optional else ""),
            p.dtypes,
            note="; ".join(
                filter(
                    None,
                    [
                        f"from CANN {k.borrowed}" if k.borrowed else "",
                        "a bound, not for every SoC and shape" if p.bound else "",
                        "experimental" if k.experimental else "",
                    ],
                )
            ),
        )
        for k in op.kernels
        for p in k.params
    )
    sources = tuple(dict.fromkeys(filter(None, [op.source, *(k.source for k in op.kernels)])))
    if op.absent:
        return Kernel(name, cann, soc, "not on this SoC", (), (), sources)
    experimental = all(k.experimental for k in op.kernels)
    return Kernel(name, cann, soc, "experimental" if experimental else "supported", parameters, (), sources)
