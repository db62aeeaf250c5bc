"""Hooks that judge each module as it ends, inner ones before the ones around them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from opscan.probing.layers.copies import Copies
from opscan.probing.layers.judging import Given, compare_module
from opscan.probing.layers.report import Layer
from opscan.tracing.source import SourceLocator


@dataclass
class Watch:
    """Judges each module of the device's copy as it ends."""

    copies: Copies
    locate: SourceLocator
    layers: list[Layer] = field(default_factory=list)
    _given: list[tuple[int, Given, dict[str, Tensor]]] = field(default_factory=list)

    @contextmanager
    def following(self) -> Iterator[None]:
        own, wide = (dict(m.named_modules()) if m is not None else {} for m in (self.copies.own, self.copies.wide))
        handles = []
        for name, module in self.copies.device_model.named_modules():
            if name in own:
                handles += self._hooks(name, module, own[name], wide.get(name))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _hooks(self, name: str, module: nn.Module, own: nn.Module, wide: nn.Module | None) -> list[Any]:
        def before(_: nn.Module, args: Any, kwargs: Any) -> None:
            buffers = {n: b.detach().cpu().clone() for n, b in module.named_buffers()} if module.training else {}
            self._given.append((id(module), tree_map(_onto_cpu, (args, kwargs)), buffers))

        def after(_: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            given, buffers = self._pop(module)
            self.layers.append(self._judged(name, module, (own, wide), given, buffers, output))

        return [
            module.register_forward_pre_hook(before, with_kwargs=True),
            module.register_forward_hook(after, with_kwargs=True),
        ]

    def _pop(self, module: nn.Module) -> tuple[Given, dict[str, Tensor]]:
        # An exception that the model caught may have skipped inner modules: unwind to the one that ends.
        while True:
            ident, given, buffers = self._given.pop()
            if ident == id(module):
                return given, buffers

    def _judged(
        self,
        name: str,
        module: nn.Module,
        references: tuple[nn.Module, nn.Module | None],
        given: Given,
        buffers: dict[str, Tensor],
        output: Any,
    ) -> Layer:
        file, line = self._defined(type(module))
        actual = [_onto_cpu(t) for t in tree_leaves(output) if isinstance(t, Tensor)]
        found, message = compare_module(references, given, buffers, actual)
        status: Literal["agrees", "departs", "open"] = "open" if found is None else "departs" if message else "agrees"
        return Layer(len(self.layers) + 1, name, type(module).__name__, status, file, line, found, message)

    def _defined(self, kind: type) -> tuple[str, int]:
        with suppress(OSError, TypeError):
            return self.locate.shown(inspect.getsourcefile(kind) or ""), inspect.getsourcelines(kind)[1]
        return "", 0


def _onto_cpu(value: Any) -> Any:
    return value.detach().to("cpu", copy=True) if isinstance(value, Tensor) else value
