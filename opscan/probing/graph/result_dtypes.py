"""Dtypes of the graph-engine tensors that torchair leaves open: those between the operators of one converter.

torchair states dtypes where FX has them; the graph engine infers the others when it compiles. What it would infer is
told here by the operators' prototypes (``REG_OP`` in the wheel's own ``auto_generated_ge_raw_ops.py``); for any other
operator the dtype stays unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from opscan.matrix.graph_engine import UNKNOWN

#: Results are bool, whatever is compared.
_BOOL_NAMES = """
    Equal NotEqual Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalNot LogicalXor IsInf IsNan IsFinite
    ReduceAny ReduceAll
"""
_BOOL = frozenset(_BOOL_NAMES.split())

#: All results have the dtype of the first input.
_LIKE_FIRST_NAMES = """
    Abs Acos Acosh Add AddN Addcdiv Addcmul AsStrided Asin Asinh Atan Atanh AxpyV2 BNInfer BatchMatMul
    BatchMatMulV2 BitwiseAnd BitwiseOr BitwiseXor BroadcastTo Ceil ClipByValue ClipByValueV2 ConcatD ConcatV2
    Conv2D Conv3D Cos Cosh Cumprod Cumsum Div Elu Erf Erfc Erfinv Exp Expand ExpandDims Expm1 Flatten FlattenV2
    Floor FloorDiv FloorMod Gather GatherElements GatherNd GatherV2 Gelu HardSigmoid HardSwish Identity
    IndexByTensor InplaceIndexAdd Invert LeakyRelu LeftShift Lerp Log Log1p LogSigmoid LogSoftmaxV2 LpNormV2
    MaskedFill MatMul MatMulV2 Maximum Minimum Mish Mod Mul Muls NanToNum Neg OnesLike PRelu Pack PadV3 PadV3Grad
    Permute Pow Range RealDiv Reciprocal ReduceMax ReduceMaxD ReduceMean ReduceMin ReduceProd ReduceProdD ReduceSum
    Relu Relu6 Reshape ReverseV2 RightShift Round Rsqrt ScatterElements ScatterNdUpdate ScatterUpdate Sigmoid Sign
    Sin Sinh Slice SoftmaxV2 Softplus Split SplitD SplitV Sqrt Square Squeeze StridedSlice StridedSliceV2 Sub Swish
    Tan Tanh TensorMove TensorScatterUpdate Tile Transpose Tril Triu TruncateDiv Unpack Unsqueeze ViewCopy Xlogy
    ZerosLike
"""
_LIKE_FIRST = frozenset(_LIKE_FIRST_NAMES.split())

#: Operator → the input whose dtype its result has.
_LIKE_NAMED = {"Fill": "value", "Select": "x1", "SelectV2": "then"}

#: Operator → dtypes of its results; ``""`` stands for that of the first input.
_STATED = {
    "ArgMaxWithValue": ("int32", ""),
    "ArgMinWithValue": ("int32", ""),
    "TopKV2": ("", "int32"),
    "Sort": ("", "int32"),
}

_REAL_OF = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}
_COMPLEX_OF = {real: complex_ for complex_, real in _REAL_OF.items()}


def result_dtypes(operator: str, inputs: Sequence[tuple[str, str]], asked: str, count: int) -> list[str]:
    """The dtypes of the ``count`` results of an operator.

    ``inputs``: (name, dtype) in order. ``asked``: the dtype that an attribute of it names, empty where none does.
    """
    first = inputs[0][1] if inputs else UNKNOWN
    if operator in _BOOL:
        return ["bool"] * count
    if operator in _STATED and count <= len(_STATED[operator]):
        return [dtype or first for dtype in _STATED[operator][:count]]
    if asked:
        return [asked, *[UNKNOWN] * (count - 1)]
    if operator in _LIKE_NAMED:
        return [dict(inputs).get(_LIKE_NAMED[operator], UNKNOWN)] * count
    if operator in ("Real", "Imag"):
        return [_REAL_OF.get(first, UNKNOWN)] * count
    if operator == "Complex":
        return [_COMPLEX_OF.get(first, UNKNOWN)] * count
    # Products of int8 are int32 in some operators and int8 in others.
    known = operator in _LIKE_FIRST and not ("Mat" in operator and first == "int8")
    return [first if known else UNKNOWN] * count
