"""How operators are written: the one spelling of the tables, from any of those that users know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

_NAMESPACED = re.compile(r"([A-Za-z_][\w.]*)::([A-Za-z_]\w*(?:\.\w+)?)")
_DOTTED = re.compile(r"(?:torch\.ops\.)?([A-Za-z_]\w*)\.([A-Za-z_]\w*(?:\.\w+)?)")
_BARE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)?")

#: What Python calls the namespaces of operators, where a dotted name begins with one.
_NAMESPACES = frozenset({"aten", "npu", "prim", "prims", "quantized", "torchvision", "torch_npu", "torch"})


def canonical_operator(text: str) -> str:
    """The qualified overload name: ``aten::add.Tensor``, ``npu::npu_rms_norm``, ``ai.onnx::Add``.

    Takes ``torch.ops.aten.add.Tensor``, ``aten.add.Tensor``, ``aten::add``, ``add.Tensor`` and ``Add`` as well; the
    overload ``default`` has no name of its own. What is no operator's name comes back as it is, without blanks around.
    """
    name = text.strip().removesuffix("()")
    if qualified := _NAMESPACED.fullmatch(name):
        return _qualified(*qualified.groups())
    dotted = _DOTTED.fullmatch(name)
    if dotted and (name.startswith("torch.ops.") or dotted.group(1) in _NAMESPACES):
        return _qualified(*dotted.groups())
    if _BARE.fullmatch(name) and not name.startswith("aclnn"):
        return _qualified(_namespace(name), name)
    return name


def nearest(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Up to three of ``known`` that may have been meant: other overloads of the operator, then look-alikes."""
    if name in known:
        return (name,)
    base = _base(name)
    overloads = sorted(each for each in known if _base(each) == base)
    alike = difflib.get_close_matches(name, known, n=3, cutoff=0.75)
    return tuple(dict.fromkeys([*overloads, *alike]))[:3]


def _qualified(namespace: str, name: str) -> str:
    namespace = {"onnx": "ai.onnx", "torch": "aten", "torch_npu": "npu"}.get(namespace, namespace)
    return f"{namespace}::{name.removesuffix('.default')}"


def _namespace(name: str) -> str:
    """ONNX writes operators in capitals, torch does not; the adapter's own begin with npu_."""
    if name[0].isupper():
        return "ai.onnx"
    return "npu" if name.startswith(("npu_", "_npu_")) else "aten"


def _base(name: str) -> str:
    """Without namespace and overload, in lower case."""
    return name.rpartition("::")[2].partition(".")[0].lower()
