"""Modules that torch.compile leaves to eager mode as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

if TYPE_CHECKING:
    from opscan.tracing.graph.recorder import GraphRecorder


@contextmanager
def recurrent_modules_outside(recorder: GraphRecorder) -> Iterator[None]:
    """``nn.LSTM``, ``nn.GRU`` and ``nn.RNN``: dynamo captures none of them, unless its option ``allow_rnn`` is set."""
    inside: list[ExitStack] = []

    def enter(module: nn.Module, _args: Any) -> None:
        if isinstance(module, nn.RNNBase):
            recorder.leaves_graph(f"nn.{type(module).__name__} is not captured")
            stack = ExitStack()
            stack.enter_context(recorder.marks.outside())
            inside.append(stack)

    def leave(module: nn.Module, _args: Any, _out: Any) -> None:
        if isinstance(module, nn.RNNBase) and inside:
            inside.pop().close()

    hooks = (register_module_forward_pre_hook(enter), register_module_forward_hook(leave, always_call=True))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
