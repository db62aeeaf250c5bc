"""Answers requests: joins loading, tracing and substitution on torch's side of the process boundary."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from opscan.errors import OpscanError, message_of
from opscan.inventory import Inventory
from opscan.text import Text
from opscan.worker.protocol import (
    Check,
    Checked,
    Failed,
    Progress,
    Release,
    Reply,
    Request,
    Scan,
    Scanned,
    ScanOnnx,
    line_of,
)
from opscan.workload import INFERENCE, Workload

#: Tracers that run a model at its given sizes alone.
_ONE_RUN = ("graph", "onnx")


def serve(requests: int, replies: int, engine: str, tracer_name: str) -> None:
    """Read requests until the parent closes the pipe. Torch loads at once, before the first request is there."""

    def reply(message: Reply) -> None:
        _write_all(replies, line_of(message))

    tracer = _tracer(engine, tracer_name)
    decoder = msgspec.json.Decoder(Request)
    with os.fdopen(requests, "rb") as lines:
        for line in lines:
            request = decoder.decode(line)
            if engine == "virtual" and not isinstance(request, ScanOnnx):
                from opscan.worker.shield import shield_from_torch_npu

                shield_from_torch_npu(request.release.torch_npu)
            reply(_answer(request, tracer, lambda stage: reply(Progress(stage))))


def _tracer(engine: str, name: str) -> Any:
    if name == "onnx-file":
        return None
    if name == "onnx":
        from opscan.tracing.onnx.tracer import OnnxExportTracer

        return OnnxExportTracer()
    if name == "export":
        from opscan.tracing.programs.export import ExportTracer

        return ExportTracer()
    if name == "fx":
        from opscan.tracing.programs.fx import FxTracer

        return FxTracer()
    if name == "jit":
        from opscan.tracing.programs.jit import JitTracer

        return JitTracer()
    if name == "graph":
        from opscan.probing.graph.tracer import GraphTracer

        return GraphTracer()
    if name == "captured-graph":
        from opscan.tracing.graph.tracer import CapturedGraphTracer

        return CapturedGraphTracer()
    if engine == "rehearse":
        from opscan.probing.rehearsal.tracer import RehearsalTracer

        return RehearsalTracer()
    from opscan.tracing.dispatch import DispatchTracer

    return DispatchTracer()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _answer(request: Request, tracer: Any, progress: Callable[[str], None]) -> Reply:
    try:
        if isinstance(request, ScanOnnx):
            return _scan_onnx(request, progress)
        return _scan(request, tracer, progress) if isinstance(request, Scan) else _check(request, tracer)
    except OpscanError as error:
        return Failed(type(error).__name__, error.message, error.hint, traceback.format_exc())
    except BaseException as error:
        what = f"{type(error).__name__}: {message_of(error)}"
        return Failed(
            "OpscanError", f"Internal error: {what}", "Run again with --debug and report it.", traceback.format_exc()
        )


def _scan(request: Scan, tracer: Any, progress: Callable[[str], None]) -> Scanned:
    from opscan.loading.inference import with_inferred_dtypes
    from opscan.loading.preparation import Preparation
    from opscan.tracing.interface import Recipe

    prepared = Preparation(request.reference, request.inputs, request.workload.train)
    options = _options(str(request.reference), request.release, request.workload)
    recipe = Recipe(prepared.build, prepared.root)
    if request.workload.dynamic:
        inventory, inferred = _scan_dynamic(prepared, recipe, options, tracer, progress)
    else:
        inventory, inferred = with_inferred_dtypes(prepared, lambda: tracer.trace(recipe, options, progress))
    return Scanned(inventory, prepared.notes + inferred)


def _scan_dynamic(
    prepared: Any, recipe: Any, options: Any, tracer: Any, progress: Callable[[str], None]
) -> tuple[Inventory, tuple[Text, ...]]:
    """Several runs, at other sizes of what varies; one, where a tracer follows symbolic sizes by itself or can run a
    model only once."""
    from opscan.loading.inference import with_inferred_dtypes
    from opscan.tracing.sizes.resizing import Resizing
    from opscan.worker.varying import varied

    resizing = Resizing(recipe, lambda: prepared.parameters, options.workload.dynamic)

    def at(sizes: Mapping[str, int]) -> Inventory:
        traced: Inventory = tracer.trace(resizing.at(sizes), options, progress)
        return traced

    inventory, inferred = with_inferred_dtypes(prepared, lambda: at({}))
    failed = any(not attempt.ok for attempt in inventory.trace.attempts[-1:])
    if tracer.name not in _ONE_RUN and not failed:
        inventory = varied(inventory, resizing.symbols, at, progress)
    return replace(inventory, inputs=resizing.inputs or inventory.inputs), inferred


def _scan_onnx(request: ScanOnnx, progress: Callable[[str], None]) -> Scanned:
    from opscan.loading.onnx_file import load_onnx
    from opscan.tracing.onnx.file import inventory_of

    progress("reading the file")
    loaded = load_onnx(request.reference)
    return Scanned(inventory_of(loaded.model, request.reference.path, loaded.parameters, loaded.notes, progress))


def _options(reference: str, release: Release, workload: Workload) -> Any:
    from opscan.tracing.interface import TraceOptions

    return TraceOptions(
        reference,
        release.registered,
        release.differentiable,
        release.torch,
        release.torch_npu,
        workload,
        release.autocast,
        release.foreach,
        release.bfloat16,
    )


def _check(request: Check, tracer: Any) -> Checked:
    """Numbers from real tensors on the CPU; operators from the replacement traced as if it were a model."""
    import torch

    from opscan.substitution.checking import check, concrete_inputs, replacement_callable
    from opscan.tracing.interface import Recipe

    result = check(request.match)
    options = _options(request.match.family, request.release, INFERENCE)

    def build() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        specs = concrete_inputs(request.match)
        tensors = tuple(
            torch.empty([int(size) for size in spec.shape], dtype=getattr(torch, spec.dtype)) for spec in specs
        )
        for tensor in tensors:
            if type(tensor) is torch.Tensor:  # a rehearsal computes: whatever memory holds is no index
                tensor.zero_()
        return replacement_callable(request.match), tensors, {}

    try:
        inventory = tracer.trace(Recipe(build, Path(os.devnull).parent), options, lambda stage: None)
    except Exception as error:  # a replacement that cannot be traced is shown unproven, with the reason
        return Checked(result, None, f"{type(error).__name__}: {message_of(error)}")
    return Checked(result, inventory)
