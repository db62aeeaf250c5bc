"""Which module of the model runs now, by its qualified name."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook


class _OfOneThread(threading.local):
    """The modules whose forward runs, and the name of the innermost one."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, str]] = []
        self.current = ""


class ModulePath:
    """``current`` is the name in ``model.named_modules()`` of the innermost module whose forward runs, by thread."""

    def __init__(self, model: object) -> None:
        named = model.named_modules() if isinstance(model, nn.Module) else ()
        self._names = {id(m): name for name, m in named}
        self._at = _OfOneThread()

    @property
    def current(self) -> str:
        return self._at.current

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
        at = self._at
        name = self._names.get(id(module))
        at.stack.append((id(module), at.current if name is None else name))
        at.current = at.stack[-1][1]

    def _leave(self, module: nn.Module, _args: Any, _out: Any) -> None:
        # An exception may have skipped inner modules: unwind to the one that ends.
        at = self._at
        while at.stack and at.stack.pop()[0] != id(module):
            pass
        at.current = at.stack[-1][1] if at.stack else ""
