"""Graph-engine operators of one SoC by an installed toolkit, and which of the others it surely lacks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from opscan.matrix.build.cann_home.strings import printable
from opscan.matrix.build.cann_home.toolkit import Toolkit, read_operators, read_text
from opscan.matrix.files import CannFile, GeKernel, GeOp
from opscan.matrix.local_engine import LOCAL

#: Lists of further engines: random numbers, images, vector cores. Their operators are not in the matrix, nor absent.
_OTHER_ENGINES = (
    "opp/built-in/op_impl/dsa_core/config/*/*.json",
    "opp/built-in/op_impl/dvpp/dvpp_kernel/config/*.json",
    "opp/built-in/op_impl/vector_core/tbe/config/**/*.json",
)

#: What rewrites a graph before kernels are chosen: an operator that it names may become others
#: (``compiler/engines/nn_engine/optimizer/fe_config/fe.ini`` of hicann/ge @ffdcbc9f7496).
_REWRITERS = (
    "opp/built-in/fusion_pass/**/*.so",
    "opp/built-in/fusion_rules/**/*.json",
    *(
        f"{libraries}/plugin/opskernel/{part}"
        for libraries in ("*-linux/lib64", "lib64", "compiler/lib64")
        for part in ("fusion_pass/**/*.so", "fusion_rules/**/*.json", "libfe.so")
    ),
)
_TYPE = r"[A-Z]\w+"

Kernels = Mapping[str, tuple[GeKernel, ...]]


@dataclass(frozen=True, slots=True)
class Absences:
    """What decides that an operator is absent. ``elsewhere``: operators with an AI Core kernel on any SoC.

    An operator that has a kernel nowhere (Einsum, CommonLSTM) is one that the engine rewrites: nothing is known of it.
    """

    elsewhere: frozenset[str]
    spared: frozenset[str]

    def of(self, core: Kernels, slow: Kernels) -> frozenset[str]:
        return self.elsewhere - self.spared - LOCAL - core.keys() - slow.keys()


def read_spared(toolkit: Toolkit) -> frozenset[str]:
    """Operators that need no AI Core kernel: those of other engines, and those that are rewritten into others."""
    names: set[str] = set()
    for path in toolkit.files(*_OTHER_ENGINES):
        names |= read_operators(toolkit, path).keys()
    for path in toolkit.files(*_REWRITERS):
        if path.suffix == ".so":
            names |= set(printable(toolkit, path, _TYPE.encode()))
        else:
            names |= set(re.findall(f'"({_TYPE})"', read_text(toolkit, path)))
    return frozenset(names)


def ge_ops(
    toolkit: Toolkit, folder: str, core: Kernels, slow: Kernels, absences: Absences, packaged: CannFile | None
) -> dict[str, GeOp]:
    """Operator → its kernels on a SoC.

    Where the toolkit's AI Core lists leave packages out, the packaged table answers for operators that they lack.
    Where it has no list of the AI CPU, ``slow`` is that of the packaged table.
    """
    ops = {name: GeOp((*core.get(name, ()), *slow.get(name, ()))) for name in {*core, *slow}}
    if toolkit.is_complete(folder):
        source = f"the AI Core op-info of the installed toolkit (CANN {toolkit.release}) for {folder}"
        for name in absences.of(core, slow):
            ops[name] = GeOp(absent=True, source=source)
    elif packaged is not None:
        for name, op in packaged.ge.items():
            fast = tuple(_borrowed(k, packaged, toolkit) for k in op.kernels if k.engine == "ai_core")
            if fast and name not in core:
                ops[name] = GeOp((*fast, *slow.get(name, ())))
            elif name not in ops and packaged.release == toolkit.release:
                ops[name] = op
    return dict(sorted(ops.items()))


def slow_of(packaged: CannFile, toolkit: Toolkit) -> dict[str, tuple[GeKernel, ...]]:
    """The AI CPU and host kernels of the packaged table, for a toolkit without lists of its own."""
    found = {}
    for name, op in packaged.ge.items():
        kernels = tuple(_borrowed(k, packaged, toolkit) for k in op.kernels if k.engine != "ai_core")
        if kernels:
            found[name] = kernels
    return found


def _borrowed(kernel: GeKernel, packaged: CannFile, toolkit: Toolkit) -> GeKernel:
    own = packaged.release == toolkit.release
    return kernel if own else replace(kernel, borrowed=kernel.borrowed or packaged.release)
