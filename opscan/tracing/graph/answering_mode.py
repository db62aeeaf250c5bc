"""Fake tensors that go on where a model asks for a value, as ``opscan.tracing.data_dependent`` answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves

from opscan.tracing import values
from opscan.tracing.assumptions import Assumptions
from opscan.tracing.data_dependent import LIMITS, run

if TYPE_CHECKING:
    from opscan.tracing.graph.recorder import GraphRecorder

#: Operators whose result hangs on data only for some arguments.
_SOMETIMES = frozenset({"aten::index", "aten::repeat_interleave", "aten::bincount"})

_ON_DATA = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output}


class AnsweringMode(FakeTensorMode):
    """While answering, an operator whose result hangs on data is answered, and told of as a place where torch.compile
    leaves the graph.
    """

    def __init__(self, assumptions: Assumptions) -> None:
        super().__init__(allow_non_fake_inputs=True)
        self._assumptions = assumptions
        self._recorder: GraphRecorder | None = None

    @contextmanager
    def answering(self, recorder: GraphRecorder | None) -> Iterator[None]:
        before, self._recorder = self._recorder, recorder
        try:
            yield
        finally:
            self._recorder = before

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        recorder = self._recorder
        kwargs = kwargs or {}
        if recorder is None or func.namespace == "prim":
            return super().dispatch(func, types, args, kwargs)
        inputs = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        for tensor in inputs:
            _as_known(tensor)
        if depends_on_data(func) and not recorder.is_paused:
            out = self._answer(recorder, func, args, kwargs, inputs)
        else:
            try:
                out = super().dispatch(func, types, args, kwargs)
            except LIMITS:
                out = self._answer(recorder, func, args, kwargs, inputs)
        values.propagate(func, args, kwargs, inputs, out)
        return out

    def _answer(self, recorder: GraphRecorder, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
        assumed = len(recorder.findings)
        with self.answering(None), self:  # the operator itself, and what the answer is made of, are asked for once
            out = run(self._assumptions, recorder, func, args, kwargs, inputs)
        if always_depends_on_data(func) or len(recorder.findings) > assumed:
            recorder.marks.last_is_outside()
            recorder.leaves_graph(f"what {func._schema.name} gives depends on data")
        return out


def depends_on_data(func: object) -> bool:
    """Whether an operator's result, or its size, may hang on what its arguments hold."""
    return isinstance(func, torch._ops.OpOverload) and bool(_ON_DATA & set(func.tags))


def always_depends_on_data(func: Any) -> bool:
    """The same, whatever its arguments."""
    return depends_on_data(func) and func._schema.name not in _SOMETIMES


def _as_known(tensor: torch.Tensor) -> None:
    """torch computes with the constant that a fake tensor was made of, on the device that it goes to: here it is a
    known value as any other.
    """
    constant = getattr(tensor, "constant", None)
    if constant is not None:
        values.attach(tensor, values.detached(constant), constant=True)
        tensor.constant = None  # type: ignore[attr-defined]
