"""What the arguments of one call decide of its conversion: which graph-engine operators its converter adds of all that
it may add, in which dtype they compute, or that it refuses the call.

Read from the converters in ``torchair/_ge_concrete_graph/ge_converter/aten`` of torch_npu 2.13.0, and held against
rehearsals (``benchmarks/graph_agreement.py``). What a release's converter does not add at all is not taken from here.
An operator without an entry is judged by all that its converter may add.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opscan.inventory import OpCall

#: The chips for which converters add newer operators (torchair asks for the name).
_ASCEND_950 = "ascend950"

#: Operators whose converter adds this one for those chips, and raises for others.
_ONLY_ON_950 = {
    "aten::_native_batch_norm_legit": "BatchNormV3",
    "aten::_native_batch_norm_legit.no_stats": "BatchNormV3",
}

_NOT_950 = "it is converted on Ascend950 only"


@dataclass(frozen=True, slots=True)
class Conversion:
    """``operators``: those that compute; empty where arguments do not tell. ``dtype``: of what they compute; empty
    for that of the first argument. ``refusal``: why the call is not converted, by a converter that adds
    ``operators`` elsewhere.
    """

    operators: tuple[str, ...] = ()
    dtype: str = ""
    refusal: str = ""


def conversion_of(call: OpCall, soc: str) -> Conversion:
    """What is known of one call on a SoC."""
    rule = _RULES.get(call.name)
    return rule(call, soc.startswith(_ASCEND_950)) if rule is not None else Conversion()


def of_the_chip(operator: str, soc: str) -> Conversion:
    """What is known without a call."""
    if operator in _ONLY_ON_950 and not soc.startswith(_ASCEND_950):
        return Conversion((_ONLY_ON_950[operator],), refusal=_NOT_950)
    return Conversion()


def _convolution(call: OpCall, on_950: bool) -> Conversion:
    """Three dimensions are made four."""
    rank = len(call.outputs[0].shape)
    kind = {3: "Conv2D", 4: "Conv2D", 5: "Conv3D"}.get(rank, "")
    transposed = dict(call.attributes).get("transposed") == "True"
    return Conversion((f"{kind}Transpose" if transposed else kind,)) if kind else Conversion()


def _mean(call: OpCall, on_950: bool) -> Conversion:
    """A dtype that is asked for is an operator of its own."""
    return Conversion(("ReduceMeanWithCast",) if "dtype" in dict(call.attributes) else ("ReduceMean",))


def _add(call: OpCall, on_950: bool) -> Conversion:
    return Conversion(("Add",) if dict(call.attributes).get("alpha", "1") == "1" else ("AxpyV2",), _result(call))


def _sub(call: OpCall, on_950: bool) -> Conversion:
    plain = dict(call.attributes).get("alpha", "1") == "1"
    return Conversion(("Sub",), _result(call)) if plain else Conversion()


def _mul(call: OpCall, on_950: bool) -> Conversion:
    """Half precision and a number have an operator of their own; truth values are multiplied as bytes."""
    dtypes = [spec.dtype for spec in call.inputs]
    if len(dtypes) == 1 and dtypes[0] in ("float16", "bfloat16"):
        return Conversion(("Muls",))
    return Conversion(("Mul",), "uint8" if set(dtypes) == {"bool"} and len(dtypes) == 2 else _result(call))


def _bitwise(of_bool: str, of_integers: str) -> Callable[[OpCall, bool], Conversion]:
    def rule(call: OpCall, on_950: bool) -> Conversion:
        return Conversion((of_bool if _result(call) == "bool" else of_integers,), _result(call))

    return rule


def _in_result_dtype(call: OpCall, on_950: bool) -> Conversion:
    return Conversion(dtype=_result(call))


def _any(call: OpCall, on_950: bool) -> Conversion:
    return Conversion(("ReduceAny",), "bool")


def _by_chip(newer: tuple[str, ...], older: tuple[str, ...]) -> Callable[[OpCall, bool], Conversion]:
    return lambda call, on_950: Conversion(newer if on_950 else older)


def _batch_norm_of_batch(call: OpCall, on_950: bool) -> Conversion:
    refusal = "" if on_950 else _NOT_950
    if dict(call.attributes).get("training") == "False":
        refusal = "it is converted in training only"
    return Conversion(("BatchNormV3",), refusal=refusal)


def _batch_norm_in_training(call: OpCall, on_950: bool) -> Conversion:
    refusal = "it is converted in training only" if dict(call.attributes).get("training") == "False" else ""
    return Conversion(("BatchNormV3",), refusal=refusal)


def _result(call: OpCall) -> str:
    return call.outputs[0].dtype if call.outputs else ""


_RULES: dict[str, Callable[[OpCall, bool], Conversion]] = {
    "aten::convolution": _convolution,
    "aten::mean.dim": _mean,
    "aten::add.Tensor": _add,
    "aten::add.Scalar": _add,
    "aten::sub.Tensor": _sub,
    "aten::mul.Tensor": _mul,
    "aten::bitwise_and.Tensor": _bitwise("LogicalAnd", "BitwiseAnd"),
    "aten::bitwise_or.Tensor": _bitwise("LogicalOr", "BitwiseOr"),
    "aten::bitwise_not": _bitwise("LogicalNot", "Invert"),
    "aten::cumsum": _in_result_dtype,
    "aten::any": _any,
    "aten::any.dim": _any,
    "aten::max_pool2d_with_indices": _by_chip(("MaxPoolWithArgmaxV3",), ("MaxPoolWithArgmaxV1",)),
    "aten::native_group_norm": _by_chip(("GroupNormV2",), ("GroupNorm", "Rsqrt", "Add")),
    "aten::std.correction": _by_chip(("ReduceStdV2",), ("ReduceMean", "ReduceStdWithMean")),
    "aten::_native_batch_norm_legit_no_training": _by_chip(("BatchNormV3",), ("BNInfer",)),
    "aten::_native_batch_norm_legit": _batch_norm_of_batch,
    "aten::_native_batch_norm_legit.no_stats": _batch_norm_of_batch,
    "aten::_native_batch_norm_legit_functional": _batch_norm_in_training,
}
