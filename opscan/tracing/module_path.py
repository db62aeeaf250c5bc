"""Which module of the model runs now, by its qualified name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook


class ModulePath:
    """``current`` is the name in ``model.named_modules()`` of the innermost module whose forward runs."""

    def __init__(self, model: object) -> None:
        named = model.named_modules() if isinstance(model, nn.Module) else ()
        self._names = {id(m): name for name, m in named}
        self._stack: list[tuple[int, str]] = []
        self.current = ""

    @contextmanager
    def following(self) -> Iterator[None]:
        before = register_module_forward_pre_hook(self._enter)
        after = register_module_forward_hook(self._leave, always_call=True)
        try:
            yield
        finally:
            before.remove()
            after.remove()

    def _enter(self, module: nn.Module, _args: Any) -> None:
        name = self._names.get(id(module))
        self._stack.append((id(module), self.current if name is None else name))
        self.current = self._stack[-1][1]

    def _leave(self, module: nn.Module, _args: Any, _out: Any) -> None:
        # An exception may have skipped inner modules: unwind to the one that ends.
        while self._stack and self._stack.pop()[0] != id(module):
            pass
        self.current = self._stack[-1][1] if self._stack else ""
