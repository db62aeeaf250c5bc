"""One operator call of the graph route, judged by what torchair made of it: its refusal, or the graph-engine operators
that its converter added, each against the target's CANN release and SoC.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from opscan.assessment import Evidence, Verdict
from opscan.inventory import KernelLaunch, Observed, OpCall
from opscan.matrix.compiler_passes import with_constants
from opscan.matrix.graph_engine import Acceptance, NamedInput, accepts_inputs
from opscan.matrix.launches import LEGACY
from opscan.matrix.query import Matrix
from opscan.matrix.tables import CannTable
from opscan.matrix.torchair_table import NO_CONVERTER, WITH_CALLBACK
from opscan.routes.conversion import conversion_of
from opscan.routes.dtypes import lacking, unknown_soc
from opscan.routes.ge_kernels import ge_ruling
from opscan.routes.graph import graph
from opscan.verdict import Ruling, facts_of, of_extension

#: Verdicts of several operators of one call, from the one that decides.
_DECIDING: tuple[Verdict, ...] = ("unsupported", "unknown", "fallback", "slow", "supported")

#: Libraries whose operators torchair does not convert by itself.
_OF_TORCH = ("aten::", "prim::", "prims::", "higher_order::")

#: Operators whose inputs do not tell the dtype of their results.
_CONVERTING = frozenset({"Cast"})


@dataclass(frozen=True, slots=True)
class GraphJudge:
    """Judges the calls of one rehearsed inventory. ``host_torch`` is the inventory's own."""

    matrix: Matrix
    host_torch: str

    def call(self, call: OpCall) -> Ruling:
        """The ruling on one call; by the static tables where it was not rehearsed."""
        if (extension := of_extension(self.matrix, call, self.host_torch)) is not None:
            return extension
        dtypes = tuple(dict.fromkeys(call.dtypes))
        facts = facts_of(self.matrix, call.name, ", ".join(dtypes), self.host_torch)
        if (absent := self._not_there(call, facts)) is not None:
            return absent
        if call.observed is None:
            conversion = conversion_of(call, self.matrix.target.soc)
            return graph(self.matrix, call.name, dtypes[0] if dtypes else "", conversion).ruling
        if call.observed.raised:
            return self._refused(call.name, call.observed, facts)
        if not call.observed.launches:
            return Ruling("supported", evidence=(self._seen("nothing is computed for it"),))
        return self._by_operators(call.observed.launches, facts)

    def _not_there(self, call: OpCall, facts: dict[str, str]) -> Ruling | None:
        """The reviewed statement that the SoC, or a dtype on it, is not there at all."""
        if (absent := unknown_soc(self.matrix, facts)) is not None:
            return absent
        dtypes = dict.fromkeys(spec.dtype for spec in (*call.inputs, *call.outputs))
        return next((found for d in dtypes if (found := lacking(self.matrix, d, facts)) is not None), None)

    def _refused(self, name: str, observed: Observed, facts: dict[str, str]) -> Ruling:
        if not observed.raised.startswith(NO_CONVERTER):
            evidence = (self._seen(observed.raised),)
            return Ruling("unsupported", "OPS112", facts | {"detail": observed.raised}, evidence=evidence)
        evidence = (self._seen(observed.raised),)
        if observed.raised == WITH_CALLBACK:
            detail = f"{WITH_CALLBACK}, where the CANN release knows such callbacks and there is a C++ compiler"
            return Ruling("unknown", "OPS308", facts | {"detail": detail}, evidence=evidence)
        table = self.matrix.converters
        if table is not None and table.automatic and not name.startswith(_OF_TORCH):
            detail = "torchair converts it by itself where CANN has an operator of its name"
            return Ruling("unknown", "OPS308", facts | {"detail": detail}, evidence=evidence)
        return Ruling("unsupported", "OPS111", facts, evidence=evidence)

    def _by_operators(self, launches: Iterable[KernelLaunch], facts: dict[str, str]) -> Ruling:
        """All operators of a call must have a kernel."""
        distinct = {_without_shapes(launch): launch for launch in launches}
        rulings = [self._operator(launch, facts) for launch in distinct.values()]
        decisive = min(rulings, key=lambda ruling: _DECIDING.index(ruling.verdict))
        kernels = tuple(dict.fromkeys(launch.api for launch in distinct.values()))
        operators = ", ".join(kernel.removeprefix(LEGACY) for kernel in kernels)
        evidence = (self._seen(f"converted to {operators}"), *decisive.evidence)
        return replace(decisive, kernels=kernels, evidence=evidence)

    def _operator(self, launch: KernelLaunch, facts: dict[str, str]) -> Ruling:
        name = launch.api.removeprefix(LEGACY)
        inputs = tuple(
            NamedInput(argument.name, tuple(spec.dtype for spec in argument.tensors), argument.kind == "I")
            if argument.tensors
            else None
            for argument in launch.arguments
        )
        results = tuple(spec.dtype for spec in launch.results) if name in _CONVERTING else ()
        if not self.matrix.cann:
            return Ruling("unknown", "OPS305", facts, (launch.api,))

        def ask(table: CannTable) -> Acceptance:
            if not all(each is not None and each.constant for each in inputs[1:]):
                return _accepted(table, name, inputs, results)
            data = inputs[:1]
            return with_constants(table, name, lambda op: _accepted(table, op, inputs if op == name else data, results))

        return ge_ruling(self.matrix, name, ask, facts)

    def _seen(self, what: str) -> Evidence:
        release = self.matrix.target.torch_npu
        return Evidence("observed", release, f"torchair's conversion of this release, on a simulated runtime: {what}")


def _accepted(
    table: CannTable, operator: str, inputs: tuple[NamedInput | None, ...], results: tuple[str, ...]
) -> Acceptance:
    return accepts_inputs(table.ge.get(operator), inputs, results, operator)


def _without_shapes(launch: KernelLaunch) -> tuple[object, ...]:
    arguments = tuple((a.name, a.kind, tuple(spec.dtype for spec in a.tensors)) for a in launch.arguments)
    return launch.api, arguments, tuple(spec.dtype for spec in launch.results)
