"""The ``onnx`` tracer: the model as torch's exporters write it, node by node, each with the operator and the line of
code that it comes from. Where neither exporter succeeds, the dispatch tracer's operators stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import onnx
import torch

from opscan.cuda_packages import package_of
from opscan.errors import ModelError
from opscan.inventory import Attempt, Finding, Inventory, Location, Trace
from opscan.tracing.interface import Recipe, TraceOptions, Tracer
from opscan.tracing.onnx import exporters
from opscan.tracing.onnx.check import Compared, compare, tensors
from opscan.tracing.onnx.exporters import Exported, Exporter
from opscan.tracing.onnx.file import list_model
from opscan.tracing.onnx.open_sizes import OpenSizes, differing_sizes, fixed_sizes, open_sizes, with_symbols
from opscan.tracing.process_state import restored
from opscan.tracing.real_model import Built, build
from opscan.workload import INFERENCE

#: Weights of an exported model that are kept for shape inference.
_SMALL = 4096


class OnnxExportTracer:
    """``dispatch`` makes the tracer that stands in; a process can have one only."""

    name = "onnx"

    def __init__(self, dispatch: Callable[[], Tracer] | None = None) -> None:
        self._make_dispatch = dispatch or _dispatch
        self._dispatch: Tracer | None = None

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises ModelError for errors of the user's own code, LoadError from the recipe."""
        with restored():
            progress("building the model")
            attempts: list[Attempt] = []
            try:
                built = build(recipe)
            except ModelError as error:
                if (extension := _extension(error)) is None:
                    raise
                reason = f"the model imports {extension}, a CUDA extension that is not installed"
                return self._by_dispatch(recipe, options, (Attempt("onnx", False, reason),), "", progress)
            refused = ""
            for name, exporter, given, sizes in _plan(built, recipe):
                progress(f"exporting to ONNX ({name})")
                try:
                    exported = _export(exporter, given, sizes)
                except BaseException as error:
                    if isinstance(error, KeyboardInterrupt):
                        raise
                    attempts.append(Attempt(f"onnx ({name})", False, exporters.reason(error)))
                    refused = refused or exporters.refused_operator(error)
                    continue
                attempts.append(Attempt(f"onnx ({name})", True))
                return _inventory(exported, built, recipe, options, tuple(attempts), progress, sizes)
        return self._by_dispatch(recipe, options, tuple(attempts), refused, progress)

    def _by_dispatch(
        self,
        recipe: Recipe,
        options: TraceOptions,
        attempts: tuple[Attempt, ...],
        refused: str,
        progress: Callable[[str], None],
    ) -> Inventory:
        self._dispatch = self._dispatch or self._make_dispatch()
        inventory = self._dispatch.trace(recipe, replace(options, workload=INFERENCE), progress)
        return _stand_in(inventory, attempts, refused)


def _extension(error: ModelError) -> str | None:
    """The package of CUDA kernels without which the model cannot be imported."""
    cause = error.__cause__
    missing = cause.name if isinstance(cause, ModuleNotFoundError) else None
    return missing if missing is not None and package_of(missing) is not None else None


def _exporters(built: Built) -> tuple[tuple[str, Exporter], ...]:
    if built.fake is not None:
        return (("dynamo", exporters.dynamo_without_weights),)
    return (("dynamo", exporters.dynamo), ("torchscript", exporters.torchscript))


def _plan(built: Built, recipe: Recipe) -> Iterator[tuple[str, Exporter, Built, OpenSizes | None]]:
    """Both exporters with the sizes open that vary, then both with all sizes given. A size of 1 is raised before: torch
    makes a constant of it."""
    if recipe.resizing is not None:
        raised = {symbol.name: 2 for symbol in recipe.resizing.symbols if symbol.size == 1}
        args, kwargs = recipe.resizing.arguments(built.args, built.kwargs, raised)
        given = replace(built, args=args, kwargs=kwargs)
        sizes = open_sizes(recipe.resizing, built.module, args, kwargs)
        yield from ((f"{name}, open sizes", exporter, given, sizes) for name, exporter in _exporters(built))
    yield from ((name, exporter, built, None) for name, exporter in _exporters(built))


def _export(exporter: Exporter, built: Built, sizes: OpenSizes | None) -> Exported:
    with torch.no_grad():
        if built.fake is None:
            return exporter(built.module, built.args, built.kwargs, sizes)
        with built.fake:
            return exporter(built.module, built.args, built.kwargs, sizes)


def _inventory(
    exported: Exported,
    built: Built,
    recipe: Recipe,
    options: TraceOptions,
    attempts: tuple[Attempt, ...],
    progress: Callable[[str], None],
    sizes: OpenSizes | None = None,
) -> Inventory:
    progress("comparing with onnxruntime")
    model = with_symbols(exported.model, sizes) if sizes else exported.model
    compared = _compared(model, built)
    fixed = _fixed(model, built, recipe)
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) > _SMALL:
            tensor.ClearField("raw_data")
    listed = list_model(model, "the exported model", recipe.root, (), progress)
    baked = _baked(exported, recipe.root)
    findings = [*listed.findings, *baked, *fixed]
    if compared.output:
        findings.append(Finding("OPS626", {"output": compared.output, "detail": compared.detail}))
    unseen = list(listed.unseen)
    if options.workload.train:
        unseen.append("Backward and optimizer: an offline model only runs forward.")
    trace = Trace(
        tracer="onnx",
        engine="cpu",
        host_torch=str(torch.__version__),
        approximate=torch.__version__.partition("+")[0] != options.torch_release,
        complete=not listed.model.functions and not baked,
        unseen=tuple(unseen),
        attempts=attempts,
        values="none" if compared.skipped else "computed",
        values_note=compared.skipped,
    )
    return Inventory(options.reference, built.parameters, trace, listed.calls, tuple(findings))


def _fixed(model: onnx.ModelProto, built: Built, recipe: Recipe) -> list[Finding]:
    """Sizes that should vary, and are constants of the exported model."""
    if recipe.resizing is None:
        return []
    found = fixed_sizes(model, recipe.resizing)
    if not found and built.fake is None:
        exported = model.SerializeToString()
        found = differing_sizes(exported, built.module, built.args, built.kwargs, recipe.resizing)
    return [Finding("OPS669", {"sizes": "; ".join(found)})] if found else []


def _baked(exported: Exported, root: Path) -> list[Finding]:
    """Places where the trace took one path of many."""
    return [
        Finding("OPS603", {"what": what, "answer": "what these inputs give"}, (Location(_shown(file, root), line),))
        for file, line, what in dict.fromkeys(exported.baked)
    ]


def _shown(file: str, root: Path) -> str:
    return str(Path(file).relative_to(root)) if Path(file).is_relative_to(root) else file


def _compared(exported: onnx.ModelProto, built: Built) -> Compared:
    if built.fake is not None:
        return Compared(skipped="exported without its weights: nothing was compared")
    with torch.no_grad():
        expected = tensors(built.model(*built.args, **built.kwargs))
        again = tensors(built.model(*built.args, **built.kwargs))
    if not all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(expected, again, strict=True)):
        return Compared(skipped="the model's results differ from run to run")
    return compare(exported.SerializeToString(), tensors((built.args, built.kwargs)), expected)


def _dispatch() -> Tracer:
    from opscan.tracing.dispatch import DispatchTracer

    return DispatchTracer()


def _stand_in(inventory: Inventory, attempts: tuple[Attempt, ...], refused: str) -> Inventory:
    """Operators of ATen instead of ONNX nodes. The failed attempts stand last: the inventory is not what was asked.

    Calls of the ``refused`` operator say so in their attributes.
    """
    reasons = "; ".join(f"{attempt.tracer}: {attempt.reason}" for attempt in attempts)
    trace = replace(
        inventory.trace,
        complete=False,
        unseen=(f"The exported model: it cannot be exported. {reasons}.", *inventory.trace.unseen),
        attempts=(*inventory.trace.attempts, *attempts),
    )
    told = (("onnx_export", "no translation in either exporter's export of this model"),)
    calls = (replace(c, attributes=c.attributes + told) if c.name == refused else c for c in inventory.calls)
    return replace(inventory, trace=trace, calls=tuple(calls))
