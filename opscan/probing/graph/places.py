"""Where in the user's code and model the nodes of a graph come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from opscan.inventory import Location
from opscan.tracing.source import SourceLocator

_FRAME = re.compile(r'^\s*File "(.+)", line (\d+)', re.M)

#: The root of a module's name as dynamo writes it: ``L['self'].layers.0``, ``L__self___layers_0``.
_ROOT = re.compile(r"^[LG]\['\w+'\]\.?")
_INDEX = re.compile(r"\[['\"]?(\w+)['\"]?\]")


class Places:
    """Where nodes come from. ``model`` gives modules their names."""

    def __init__(self, locator: SourceLocator, model: object) -> None:
        self._locator = locator
        named = model.named_modules() if isinstance(model, nn.Module) else ()
        self._names = {id(module): name for name, module in named}
        self._qualified = frozenset(self._names.values())

    def of(self, node: torch.fx.Node) -> Location | None:
        """The user's innermost line and the innermost module; a backward node has those of its forward node."""
        line = self._locator.innermost_of(frames(node.meta.get("stack_trace") or node.stack_trace or ""))
        return Location(*line, self._module(node)) if line else None

    def _module(self, node: torch.fx.Node) -> str:
        stack: dict[Any, Any] = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
        for key, entry in reversed(list(stack.items())):
            path = str(entry[0] if isinstance(entry, (tuple, list)) else entry)
            name = self._names.get(int(key)) if str(key).isdigit() else _as_named(path)
            if name is not None and (name in self._qualified or name == ""):
                return name
        return ""


def _as_named(path: str) -> str:
    """``L['self']._modules['layers'][0]`` → ``layers.0``, as ``named_modules()`` has it."""
    plain = _INDEX.sub(r".\1", _ROOT.sub("", path)).replace("_modules.", "")
    return plain.strip(".")


def frames(text: str) -> Iterator[tuple[str, int]]:
    """(file, line) of each entry of a traceback's text, outermost first."""
    for match in _FRAME.finditer(text):
        yield match[1], int(match[2])
