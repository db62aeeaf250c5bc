"""What autograd does on a device, and does otherwise for fake tensors, because they are tensors of Python's.

Operators that write to a view: their backward looks at the base through ``as_strided``, and a view that was written to
gets ``AsStridedBackward`` for its derivative. For tensors of Python's, autograd takes the views again, one by one.

Tensors saved for the backward pass: those of Python's are detached by a call, those of a device without one.

Seen on the real torch_npu 2.13.0, on a simulated runtime.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from opscan.tracing.host import is_a_view

_DETACH = torch.ops.aten.detach.default
_COPY_SLICES = "torch::autograd::CopySlices"

#: Views that the device shows in place of others.
SHOWN_VIEWS = frozenset({"aten::as_strided", "aten::squeeze.dim"})

#: ``emit(name, inputs, outputs)``
Emit = Callable[[str, list[Any], list[Any]], None]


def is_saving(func: Any, inputs: list[torch.Tensor]) -> bool:
    """Whether autograd detaches a tensor to save it for the backward pass, or takes it out there.

    It does so above the keys below which an operator of the model arrives. ``x.data`` is detached there too, and seen
    on a device; so is a view that was written to.
    """
    if func is not _DETACH or torch._C._dispatch_tls_is_dispatch_key_excluded(
        torch._C.DispatchKey.AutogradFunctionality
    ):
        return False
    node = torch._C._current_autograd_node()
    if node is not None:
        return bool(node.name() != _COPY_SLICES)
    return torch.is_grad_enabled() and not inputs[0].is_leaf and not inputs[0]._is_view()


class WrittenViews:
    """Follows one run, told of each call that has run; says which of them the device does not show."""

    def __init__(self) -> None:
        self._written: list[weakref.ref[torch.Tensor]] = []
        #: The chain of views being taken again: the numbers of their nodes, and the last view.
        self._chain: tuple[list[int], torch.Tensor] | None = None
        #: Nodes made by taking views again, by number: the view, at the last of a chain.
        self._again: dict[int, torch.Tensor | None] = {}
        #: Views of the whole base, by the number of the node that the write to them makes: taken again without a call.
        self._whole: dict[int, torch.Tensor] = {}
        #: What a slice of a gradient is cut from; no more than looked at, or autograd would copy the gradient.
        self._base: weakref.ref[torch.Tensor] | None = None
        self._sliced = False
        self._told: int | None = None

    def hides(self, func: Any, inputs: list[torch.Tensor], out: Any, emit: Emit) -> bool:
        """Whether the device does not show this call; what it shows instead is emitted."""
        node = torch._C._current_autograd_node()
        if node is not None:
            return self._hides_in_backward(node, func, inputs, out, emit)
        if self._written and is_a_view(func) and isinstance(out, torch.Tensor):
            return self._is_taken_again(inputs[0], out)
        self._chain = None
        if func._schema.is_mutable and torch.is_grad_enabled():
            self._note(inputs[0], inputs)
        return False

    def _note(self, view: torch.Tensor, inputs: list[torch.Tensor]) -> None:
        if view._is_view() and any(t.requires_grad for t in inputs):
            self._written = [ref for ref in self._written if ref() is not None and ref() is not view]
            self._written.append(weakref.ref(view))
            if view._base is not None and _same_place(view, view._base):
                self._whole[torch._C._autograd._get_sequence_nr()] = view.detach()

    def _is_taken_again(self, source: torch.Tensor, out: torch.Tensor) -> bool:
        """Whether this call ends the chain of views of one that was written to."""
        numbers, last = self._chain or ([], None)
        number = torch._C._autograd._get_sequence_nr() - 1
        for ref in self._written:
            view = ref()
            if view is None or source is not (view._base if last is None else last):
                continue
            if _same_place(view, out):
                self._again |= {n: None for n in numbers} | {number: view.detach()}
                self._written.remove(ref)
                self._chain = None
                return True
            self._chain = ([*numbers, number], out)
            return False
        self._chain = None
        return False

    def _hides_in_backward(self, node: Any, func: Any, inputs: list[torch.Tensor], out: Any, emit: Emit) -> bool:
        if node.name() == _COPY_SLICES:
            return self._hides_in_copy_slices(node, func, inputs, emit)
        number = node._sequence_nr()
        if number not in self._again or func._schema.name == "aten::add":  # where gradients meet, it adds them
            return False
        view = self._again[number]
        if view is not None and self._told != number and inputs:
            self._told = number
            _as_strided_backward(inputs[0], view, out, emit)
        return True

    def _hides_in_copy_slices(self, node: Any, func: Any, inputs: list[torch.Tensor], emit: Emit) -> bool:
        name = func._schema.name
        if name == "aten::new_empty_strided":
            self._base, self._sliced = None, False
            if (view := self._whole.get(node._sequence_nr())) is not None:
                _as_strided_backward(inputs[0], view, inputs[0], emit)
        elif name == "aten::copy_" and self._base is None:
            self._base = weakref.ref(inputs[0])
        elif self._base is not None and not self._sliced:
            if is_a_view(func):
                return True
            self._sliced = True
            base = self._base()
            emit("aten::as_strided", [inputs[0] if base is None else base], [inputs[0]])
        return False


def _same_place(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and a.stride() == b.stride() and a.storage_offset() == b.storage_offset()


def _as_strided_backward(grad: torch.Tensor, view: torch.Tensor, out: Any, emit: Emit) -> None:
    base = out if isinstance(out, torch.Tensor) else grad
    for _ in [size for size in view.shape if size == 1]:
        emit("aten::squeeze.dim", [grad], [grad])
    emit("aten::new_zeros", [grad], [base])
    emit("aten::as_strided", [base], [grad])
    emit("aten::copy_", [grad, grad], [grad])
    emit("aten::as_strided", [base], [base])
