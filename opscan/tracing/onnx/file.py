"""The inventory of an ONNX model: a file given by the user, or what an exporter made. Needs onnx, not torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import onnx

from opscan.inventory import Attempt, Finding, Inventory, Location, OpCall, Trace
from opscan.tracing.onnx.graph import STANDARD, calls_of, inputs_of, open_inputs, opsets_of
from opscan.tracing.onnx.isolated import Unanswered, isolated

#: The newest opset of the standard domain that ATC reads.
NEWEST_OPSET = 18


@dataclass(slots=True)
class Listed:
    """A model made ready to be listed, and what is to be told of it. Each step may fail, and the model stays as it was
    before the step."""

    model: onnx.ModelProto
    findings: list[Finding] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    calls: tuple[OpCall, ...] = ()

    def step(self, work: Callable[[bytes], bytes], otherwise: str) -> bool:
        """Do a step in a process of its own; where it fails, ``otherwise`` says what is not seen therefore."""
        try:
            self.model = _read(isolated(work, _written(self.model)))
        except Unanswered as error:
            self.unseen.append(f"{otherwise} ({_in_short(str(error))}).")
            return False
        return True


def inventory_of(
    model: onnx.ModelProto,
    reference: str,
    parameters: int,
    notes: tuple[str, ...],
    progress: Callable[[str], None],
) -> Inventory:
    """All operator calls of the model of a file. Nothing is run."""
    file = Path(reference).name
    listed = list_model(model, file, None, (Location(file, 0),), progress)
    trace = Trace(
        tracer="onnx",
        engine="file",
        host_torch=model.producer_version if model.producer_name == "pytorch" else "",
        approximate=False,
        complete=not listed.model.functions,
        unseen=(*notes, *listed.unseen),
        attempts=(Attempt("onnx", True),),
    )
    inputs = inputs_of(model.graph)
    return Inventory(reference, parameters, trace, listed.calls, tuple(listed.findings), inputs=inputs)


def list_model(
    model: onnx.ModelProto, file: str, root: Path | None, here: tuple[Location, ...], progress: Callable[[str], None]
) -> Listed:
    """Write local functions out, convert an opset that ATC does not read, infer shapes, and list every node.

    ``file`` and ``root`` are for the locations of nodes, ``here`` for findings about the model as a whole. Of what
    fails, ``unseen`` tells.
    """
    listed = Listed(model, _findings(model, here))
    if model.functions:
        progress("writing functions out")
        listed.step(_inlined, "What local functions do: onnx could not write them out")
    opset = opsets_of(listed.model).get(STANDARD, 0)
    if opset > NEWEST_OPSET:
        progress(f"converting opset {opset} to {NEWEST_OPSET}")
        if listed.step(_converted, f"The model at opset {NEWEST_OPSET}: onnx's version converter refuses it"):
            facts = {"opset": str(opset), "converted": str(NEWEST_OPSET)}
            listed.findings.append(Finding("OPS622", facts, here))
    progress("inferring shapes")
    listed.step(_inferred, "Shapes and dtypes that the file does not state: onnx's inference failed")
    progress("listing operators")
    listed.calls = calls_of(listed.model, file, root)
    return listed


def _findings(model: onnx.ModelProto, here: tuple[Location, ...]) -> list[Finding]:
    """What ATC asks of a model as a whole."""
    found = []
    if dynamic := open_inputs(model.graph):
        found.append(Finding("OPS621", {"inputs": "; ".join(dynamic[:8])}, here))
    opsets = opsets_of(model)
    if len(opsets) > 1:
        domains = ", ".join(f"{domain} {version}" for domain, version in sorted(opsets.items()))
        found.append(Finding("OPS623", {"domains": domains}, here))
    if model.functions:
        names = ", ".join(sorted(f"{f.domain}::{f.name}" for f in model.functions)[:8])
        found.append(Finding("OPS624", {"functions": names}, here))
    weights = {tensor.name for tensor in model.graph.initializer}
    if all(value.name in weights for value in model.graph.input):
        found.append(Finding("OPS625", {}, here))
    return found


def _in_short(error: str) -> str:
    """Without the place in onnx's own source: ``RuntimeError: /…/x.h:23: adapt: Assertion `false` failed: No …``."""
    kind, _, rest = error.partition(": ")
    return f"{kind}: {rest.rpartition(' failed: ')[2]}" if " failed: " in rest else error


def _inlined(data: bytes) -> bytes:
    from onnx.inliner import inline_local_functions

    return _written(inline_local_functions(_read(data)))


def _converted(data: bytes) -> bytes:
    from onnx.version_converter import convert_version

    return _written(convert_version(_read(data), NEWEST_OPSET))


def _inferred(data: bytes) -> bytes:
    return _written(onnx.shape_inference.infer_shapes(_read(data), strict_mode=False, data_prop=True))


def _read(data: bytes) -> onnx.ModelProto:
    model: onnx.ModelProto = onnx.ModelProto.FromString(data)
    return model


def _written(model: onnx.ModelProto) -> bytes:
    data: bytes = model.SerializeToString()
    return data
