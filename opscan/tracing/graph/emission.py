"""Operators of the adapter's own in a captured graph: a node for what has no schema in this process.

Such an operator's results are made beside it, from nothing; copied from the node, they hang on it, so that the passes
which drop what nothing needs keep it.
"""

from __future__ import annotations

import json
from typing import Any

import torch

_SCHEMA = "emitted(Tensor[] inputs, Tensor[] outputs, str name, str attributes) -> Tensor[]"

_library: torch.library.Library | None = None


def emit_node(
    name: str, inputs: list[torch.Tensor], outputs: list[torch.Tensor], attributes: tuple[tuple[str, str], ...]
) -> list[torch.Tensor]:
    """Add the node; its results, like ``outputs``."""
    _define()
    with torch._C._AutoDispatchBelowAutograd():
        results: list[torch.Tensor] = torch.ops.opscan.emitted(inputs, outputs, name, json.dumps(attributes))
    return results


def is_emitted(node: torch.fx.Node) -> bool:
    return _library is not None and node.target is torch.ops.opscan.emitted.default


def emitted_arguments(node: torch.fx.Node) -> tuple[list[Any], str, tuple[tuple[str, str], ...]]:
    """(nodes of the inputs, name, attributes)."""
    inputs, _, name, attributes = node.args
    return list(inputs), str(name), tuple((str(k), str(v)) for k, v in json.loads(str(attributes)))  # type: ignore[arg-type]


def _define() -> None:
    global _library
    if _library is not None:
        return
    _library = torch.library.Library("opscan", "FRAGMENT")
    _library.define(_SCHEMA)
    _library.impl("emitted", _empty_results, "CompositeExplicitAutograd")


def _empty_results(
    inputs: list[torch.Tensor], outputs: list[torch.Tensor], name: str, attributes: str
) -> list[torch.Tensor]:
    return [torch.empty_like(tensor) for tensor in outputs]
