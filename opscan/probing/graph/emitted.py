"""What a converter added to the graph, as kernel launches: the graph-engine operators that will be computed.

The graph engine leaves out what no result of the graph hangs on, and computes what hangs on constants and static shapes
alone while it compiles. Both are left out here too; but an operator that makes a node's own result stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opscan.inventory import Dim, KernelArgument, KernelLaunch, TensorSpec
from opscan.matrix.graph_engine import UNKNOWN
from opscan.matrix.launches import LEGACY
from opscan.probing.graph.result_dtypes import result_dtypes

#: Nodes of a graph that stand for its inputs, constants and results.
_CARRIERS = frozenset({"Const", "Constant", "ConstPlaceHolder", "Data", "NetOutput", "Placeholder", "RefData"})

#: What is known without data where shapes are static.
_CONSTANT = frozenset({"Const", "Constant", "Shape", "ShapeN", "Size", "Rank"})

#: Computed while the graph is compiled, where all inputs are constants. Source: ``compiler/host_kernels`` of hicann/ge
#: @ffdcbc9f7496.
_FOLDED_NAMES = """
    Add BroadcastArgs BroadcastGradientArgs Cast ConcatOffset ConcatV2 DynamicStitch Empty ExpandDims Fill FlattenV2
    FloorDiv FloorMod GatherShapes GatherV2 Greater Identity Maximum Mul Pack Permute Range ReFormat ReduceProd Reshape
    Rsqrt Slice SliceD Squeeze SqueezeV3 StridedSlice Sub TransData Transpose Unpack Unsqueeze UnsqueezeV3
"""
_FOLDED = frozenset(_FOLDED_NAMES.split())

#: The shape of a tensor between the operators of one converter.
_ANY_SHAPE: tuple[Dim, ...] = ("?",)

#: Names of dtypes in CANN → in torch.
_DTYPES = {"FLOAT": "float32", "DOUBLE": "float64", "BF16": "bfloat16", "UNDEFINED": UNKNOWN}


class EmittedOperators:
    """The operators of one converted graph. ``shapes``: of the tensors that FX knows, by graph-engine name."""

    def __init__(self, definition: Any, shapes: dict[str, tuple[Dim, ...]]) -> None:
        self._operators = list(definition.op)
        self._specs: dict[str, TensorSpec] = {}
        self._dtype_names = _dtype_names()
        self._shapes = shapes
        self._constant: set[str] = set()
        self._inputs = [list(self._data_inputs(op)) for op in self._operators]
        for op, inputs in zip(self._operators, self._inputs, strict=True):
            self._resolve(op, inputs)
        self._live = self._reachable()

    def launches(self, positions: range, own: tuple[str, ...]) -> tuple[KernelLaunch, ...]:
        """The operators at ``positions`` that are computed on the device. ``own``: the tensors that the node made."""
        found = []
        for position in positions:
            op = self._operators[position]
            makes_own = any(name.rpartition(":")[0] == op.name for name in own)
            folded = op.name in self._constant and (op.type in _CONSTANT or (op.type in _FOLDED and not makes_own))
            if op.type in _CARRIERS or op.name not in self._live or folded:
                continue
            found.append(self._launch(op, self._inputs[position]))
        return tuple(found)

    # --- tensors ----------------------------------------------------------------------------------------------

    def _data_inputs(self, op: Any) -> Iterator[tuple[str, str, Any]]:
        """(parameter, tensor, description) of the inputs that carry data; control edges have no description."""
        names = [name for name in op.input if not name.endswith(":-1")]
        for name, description in zip(names, op.input_desc, strict=False):
            yield description.name, name, description

    def _resolve(self, op: Any, inputs: list[tuple[str, str, Any]]) -> None:
        named = [(parameter, self._spec(tensor, d).dtype) for parameter, tensor, d in inputs if tensor]
        inferred = result_dtypes(op.type, named, self._asked(op), len(op.output_desc))
        for index, description in enumerate(op.output_desc):
            name = f"{op.name}:{index}"
            stated = self._dtype(description.dtype)
            dtype = stated if stated != UNKNOWN else inferred[index]
            self._specs[name] = TensorSpec(dtype, self._shape(name, op, description))
        tensors = [tensor for _, tensor, _ in inputs if tensor]
        if op.type in _CONSTANT or (tensors and all(t.rpartition(":")[0] in self._constant for t in tensors)):
            self._constant.add(op.name)

    def _spec(self, tensor: str, description: Any) -> TensorSpec:
        return self._specs.get(tensor) or TensorSpec(self._dtype(description.dtype), _ANY_SHAPE)

    def _shape(self, name: str, op: Any, description: Any) -> tuple[Dim, ...]:
        if name in self._shapes:
            return self._shapes[name]
        return tuple(description.shape.dim) if op.type in _CARRIERS else _ANY_SHAPE

    def _dtype(self, number: int) -> str:
        return self._dtype_names.get(number, UNKNOWN)

    def _asked(self, op: Any) -> str:
        """The dtype that an attribute asks for, which is written in another numbering than descriptions are."""
        from torchair.ge._ge_graph import _ge_dtype_to_ge_proto_dtype

        for key in ("dst_type", "dtype", "dst_dtype"):
            if key in op.attr:
                try:
                    return self._dtype(_ge_dtype_to_ge_proto_dtype(op.attr[key].i or op.attr[key].dt))
                except (ValueError, RuntimeError):
                    return ""
        return ""

    # --- operators --------------------------------------------------------------------------------------------

    def _reachable(self) -> set[str]:
        """Names of the operators that a result hangs on, or that write to memory; all, where there is no result."""
        if not any(op.type == "NetOutput" for op in self._operators):
            return {op.name for op in self._operators}
        by_name = {op.name: op for op in self._operators}
        waiting = [op for op in self._operators if op.type == "NetOutput" or _writes(op)]
        live = {op.name for op in waiting}
        while waiting:
            for name in waiting.pop().input:
                source = by_name.get(name.rpartition(":")[0])
                if source is not None and source.name not in live:
                    live.add(source.name)
                    waiting.append(source)
        return live

    def _launch(self, op: Any, inputs: list[tuple[str, str, Any]]) -> KernelLaunch:
        arguments: list[KernelArgument] = []
        formats = _formats(op, "input_layout_info")
        for index, (parameter, tensor, description) in enumerate(inputs):
            layout = (formats.get(index, "ND"),)
            if not tensor:
                arguments.append(KernelArgument("0", name=parameter))
                continue
            spec = (self._spec(tensor, description),)
            last = arguments[-1] if arguments else None
            if last is not None and last.kind == "L" and parameter == f"{last.name}{len(last.tensors)}":
                arguments[-1] = KernelArgument("L", last.tensors + spec, last.formats + layout, last.name)
            elif parameter.endswith("0") and not parameter[:-1].endswith(tuple("0123456789")):
                arguments.append(KernelArgument("L", spec, layout, parameter[:-1]))
            else:
                kind = "I" if self._is_written_integer(tensor, spec[0]) else "T"
                arguments.append(KernelArgument(kind, spec, layout, parameter))
        results = tuple(self._specs[f"{op.name}:{index}"] for index in range(len(op.output_desc)))
        return KernelLaunch(LEGACY + op.type, tuple(arguments), results)

    def _is_written_integer(self, tensor: str, spec: TensorSpec) -> bool:
        """Whether a tensor is an axis or a size that the converter writes into the graph."""
        return spec.dtype in ("int32", "int64") and tensor.rpartition(":")[0] in self._constant


def _writes(op: Any) -> bool:
    """Whether an operator changes an input: its result has the input's name."""
    inputs = {description.name for description in op.input_desc}
    return op.type == "Assign" or (op.type not in _CARRIERS and any(d.name in inputs for d in op.output_desc))


def _formats(op: Any, attribute: str) -> dict[int, str]:
    """Storage formats that torchair asks for, by index; every other tensor is ND."""
    if attribute not in op.attr:
        return {}
    value = op.attr[attribute].list
    return {int(index): layout.decode() for index, layout in zip(value.i, value.s, strict=False)}


def _dtype_names() -> dict[int, str]:
    from torchair._ge_concrete_graph.ge_ir_pb2 import DataType

    named = {number: name.removeprefix("DT_") for name, number in DataType.items()}
    return {number: _DTYPES.get(name, name.lower()) for number, name in named.items()}
