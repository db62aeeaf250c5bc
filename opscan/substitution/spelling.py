"""How user code writes a recorded operator call: ``aten::mm`` as ``torch.mm(x, mat2=mat2)``.

The tables hold functions whose Python signature takes the parameter names of the ATen schema (``self`` is ``input``),
so that arguments can be given by name. Any other operator is written ``torch.ops.…``, which takes the schema's names.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable

from opscan.inventory import OpCall
from opscan.substitution.arguments import Symbol, attributes, base_name, operands


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


TORCH = _names(
    """
    abs acos acosh add addbmm addcdiv addcmul addmm addmv addr all amax amin aminmax angle any argmax argmin asin
    asinh atan atan2 atanh baddbmm bmm bucketize cat ceil celu cholesky cholesky_inverse cholesky_solve clamp
    clamp_max clamp_min clone complex convolution copysign cos cosh count_nonzero cummax cummin cumprod cumsum
    deg2rad diag_embed diagonal diagonal_scatter digamma dist div dot embedding eq erf erfc erfinv exp exp2 expm1
    fill flip floor floor_divide fmax fmin fmod frac frexp gather ge gt hardshrink heaviside histc histogram hypot
    i0 igamma igammac index_add index_copy index_fill index_put index_reduce index_select isin isinf isnan isneginf
    isposinf kthvalue ldexp le lerp lgamma log log10 log1p log2 logaddexp logaddexp2 logcumsumexp logical_and
    logical_not logical_or logical_xor logit logsumexp lt lu_unpack masked_fill masked_scatter masked_select matmul
    max maximum mean median min minimum mm mode mul mv mvlgamma nan_to_num nanmedian nansum ne neg nextafter nonzero
    nonzero_static norm outer permute pixel_shuffle pixel_unshuffle polar pow prod put rad2deg reciprocal relu
    remainder renorm repeat_interleave roll rot90 round rsqrt rsub scatter scatter_add scatter_reduce searchsorted
    select select_scatter sgn sigmoid sign signbit sin sinc sinh slice_scatter sort split_with_sizes sqrt squeeze
    stack std std_mean sub sum t take tan tanh threshold topk trace transpose tril triu trunc unbind unsqueeze var
    var_mean vdot view_as_complex view_as_real where xlogy
    """
)

FUNCTIONAL = _names(
    """
    avg_pool2d avg_pool3d gelu glu hardsigmoid hardswish hardtanh leaky_relu max_pool2d_with_indices
    max_pool3d_with_indices mish silu softplus softshrink
    """
)

#: Functions whose in-place form is no method of a tensor.
_NO_METHOD = frozenset({"celu", "threshold"})

#: Public functions under another name than the ATen operator, and the arguments that only the operator has.
RENAMED: dict[str, tuple[str, frozenset[str]]] = {
    "_softmax": ("torch.softmax", frozenset({"half_to_float"})),
    "_log_softmax": ("torch.log_softmax", frozenset({"half_to_float"})),
}

#: Arguments that say how a result is stored: code to paste leaves them to torch, and defaults of a factory too.
_STORAGE = frozenset({"layout", "pin_memory", "memory_format"})
_DEFAULTS = frozenset({"dtype", "device"})

#: Parameters that have no default although ``None`` is allowed: a trace leaves ``None`` out, a call needs it.
_REQUIRED = {
    "convolution": ("bias",),
    "native_layer_norm": ("weight", "bias"),
    "native_group_norm": ("weight", "bias"),
    "native_batch_norm": ("weight", "bias", "running_mean", "running_var"),
    "_native_batch_norm_legit": ("weight", "bias"),
    "nll_loss_forward": ("weight",),
    "nll_loss2d_forward": ("weight",),
}

_UNNAMED = "the trace does not name the parameters"


def variables(call: OpCall) -> tuple[str, ...]:
    """A variable for each input: ``x`` for the first, the parameter's name for the others, numbered in a list.

    Raises ``ValueError`` where the trace does not name the parameters.
    """
    named = operands(call)
    if named is None:
        raise ValueError(_UNNAMED)
    taken = {operand.name for operand in named[1:] if operand.position is None}
    first = "x" if "x" not in taken else "x0"
    return tuple(
        f"{operand.name}{operand.position}" if operand.position is not None else first if index == 0 else operand.name
        for index, operand in enumerate(named)
    )


def expression(call: OpCall, tensor: Callable[[str, str], str], attribute: Callable[[object], object]) -> str:
    """The call as Python. ``tensor`` (variable, dtype) writes a tensor, ``attribute`` may change any other argument.

    Raises ``ValueError`` where the trace does not name the parameters or an argument is no plain value.
    """
    function, hidden, receiver = _function(call)
    arguments: dict[str, list[str]] = {}
    lists: set[str] = set()
    for operand, variable in zip(operands(call) or (), variables(call), strict=True):
        items = arguments.setdefault(operand.name, [])
        if operand.position is not None:
            lists.add(operand.name)
            items += ["None"] * (operand.position - len(items))
        items.append(tensor(variable, operand.spec.dtype))
    texts = [(name, f"[{', '.join(items)}]" if name in lists else items[0]) for name, items in arguments.items()]
    for name, value in attributes(call).items():
        if name not in hidden and not (value is None and name in _DEFAULTS):
            texts.append((name, _text(attribute(value))))
    given = {name for name, _ in texts}
    texts += [(name, "None") for name in _REQUIRED.get(base_name(call)[1], ()) if name not in given]
    if any(keyword.iskeyword(name) for name, _ in texts):
        raise ValueError("a parameter's name is a word of Python")
    if receiver and texts and texts[0][0] == "self":
        return f"{texts[0][1]}.{function}({_listed(texts[1:], public=False)})"
    return f"{function}({_listed(texts, public=not function.startswith('torch.ops'))})"


def _function(call: OpCall) -> tuple[str, frozenset[str], bool]:
    """The function, the arguments that it does not show, and whether it is a method of the first tensor (in place)."""
    namespace, name, overload = base_name(call)
    if namespace == "aten" and overload != "out" and not overload.endswith("_out"):
        if name in RENAMED:
            function, hidden = RENAMED[name]
            return function, hidden, False
        if name in TORCH:
            return f"torch.{name}", _STORAGE, False
        if name in FUNCTIONAL:
            return f"torch.nn.functional.{name}", _STORAGE, False
        if name.endswith("_") and name[:-1] in TORCH - _NO_METHOD:
            return name, _STORAGE, True
    return f"torch.ops.{namespace}.{name}.{overload}", frozenset(), False


def _listed(texts: list[tuple[str, str]], public: bool) -> str:
    """Arguments by name; the tensor that a public function is about comes first without one."""
    parts = []
    for index, (name, text) in enumerate(texts):
        if index == 0 and name in ("self", "input") and (public or len(texts) == 1):
            parts.append(text)
        else:
            parts.append(f"{'input' if public and name == 'self' else name}={text}")
    return ", ".join(parts)


def _text(value: object) -> str:
    if isinstance(value, Symbol):
        return repr(value.text) if value.is_device else value.text
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    return repr(value)
