"""torch's two ONNX exporters, asked for the newest opset that ATC reads, and why one of them failed."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import onnx
import torch
from torch.jit._trace import TracerWarning

from opscan.tracing import failures
from opscan.tracing.onnx.file import NEWEST_OPSET
from opscan.tracing.onnx.open_sizes import OpenSizes
from opscan.tracing.quiet import quiet

_CONVERTING = re.compile(r"Converting a tensor to (a Python \w+)")

_OVERLOAD = re.compile(r"OpOverload\(op='(\w+)\.(\w+)', overload='(\w+)'\)")


class ExporterMissing(Exception):
    """An exporter that needs a package which is not installed, or that cannot do what is asked of it."""


@dataclass(frozen=True, slots=True)
class Exported:
    """``baked``: values of tensors that became constants, as (file, line, what became of it)."""

    model: onnx.ModelProto
    baked: tuple[tuple[str, int, str], ...] = ()


def dynamo(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: OpenSizes | None = None) -> Exported:
    """``torch.onnx.export(…, dynamo=True)``. ``sizes`` are left open."""
    _needs_onnxscript()
    with quiet():
        program = torch.onnx.export(
            model,
            args,
            kwargs=kwargs,
            dynamo=True,
            opset_version=NEWEST_OPSET,
            verbose=False,
            external_data=False,
            dynamic_shapes=sizes.shapes if sizes else None,
        )
    assert program is not None
    return Exported(program.model_proto)


def dynamo_without_weights(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: OpenSizes | None = None
) -> Exported:
    """The same for a model of fake tensors: weights are named, and lie nowhere. The exporter's optimisations read
    weights, so they are left out. Sizes stay as they are."""
    if sizes is not None:
        raise ExporterMissing("a model without its weights is exported for one size")
    _needs_onnxscript()
    import onnx_ir

    with quiet():
        captured = torch.export.export(model, args, kwargs, strict=False)
        program = torch.onnx.export(
            captured, (), dynamo=True, opset_version=NEWEST_OPSET, verbose=False, optimize=False
        )
    assert program is not None
    for value in program.model.graph.initializers.values():
        data = value.const_value
        if data is not None:
            shape: Any = data.shape
            value.const_value = onnx_ir.ExternalTensor(
                "weights", 0, 0, data.dtype, shape=shape, name=value.name or "", base_dir="."
            )
    return Exported(onnx_ir.to_proto(program.model))


def torchscript(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: OpenSizes | None = None) -> Exported:
    """``torch.onnx.export(…, dynamo=False)``; ``verbose`` keeps the lines of code."""
    buffer = io.BytesIO()
    with quiet() as caught:
        torch.onnx.export(
            model,
            args,
            buffer,  # type: ignore[arg-type]  # it is taken; the annotation does not say so
            kwargs=kwargs,
            dynamo=False,
            opset_version=NEWEST_OPSET,
            verbose=True,
            training=torch.onnx.TrainingMode.PRESERVE,
            input_names=list(sizes.names) if sizes else None,
            dynamic_axes=sizes.axes if sizes else None,
        )
    return Exported(onnx.load_model_from_string(buffer.getvalue()), tuple(_baked(caught)))


def _baked(caught: list[warnings.WarningMessage]) -> Iterator[tuple[str, int, str]]:
    """The trace's own warnings: a value of a tensor that it took for a constant."""
    for each in caught:
        if issubclass(each.category, TracerWarning):
            found = _CONVERTING.search(str(each.message))
            yield each.filename, each.lineno, found.group(1) if found else "a value of a tensor"


def reason(error: BaseException) -> str:
    """Why an exporter failed."""
    return str(error) if isinstance(error, ExporterMissing) else failures.reason(error)


def refused_operator(error: BaseException) -> str:
    """The operator that the newer exporter has no translation of (``aten::gather``); empty for other failures."""
    for each in failures.causes(error):
        if type(each).__name__ == "DispatchError" and (found := _OVERLOAD.search(str(each))):
            library, name, overload = found.groups()
            return f"{library}::{name}" if overload == "default" else f"{library}::{name}.{overload}"
    return ""


def _needs_onnxscript() -> None:
    try:
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise ExporterMissing("it needs onnxscript: pip install 'opscan-npu[onnx]'") from error


Exporter = Callable[..., Exported]
