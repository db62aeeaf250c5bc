"""One call of an operator as a module whose inputs are the call's tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten


class Call(torch.nn.Module):
    """``function`` with every argument but its tensors fixed; returns the tensors of its result."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__()
        leaves, self.spec = tree_flatten((args, kwargs))
        self.function = function
        self.fixed = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors = tuple(leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor))

    def forward(self, *tensors: torch.Tensor) -> Any:
        leaves = list(self.fixed)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = tree_unflatten(leaves, self.spec)
        results = tree_flatten(self.function(*args, **kwargs))[0]
        return tuple(result for result in results if isinstance(result, torch.Tensor))

    @property
    def dtypes(self) -> str:
        """Of its tensors in order, without repeats."""
        return " ".join(dict.fromkeys(str(tensor.dtype).removeprefix("torch.") for tensor in self.tensors))


class Recorder(TorchDispatchMode):
    """The operators that reach the dispatcher's bottom, with their arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((func, args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def dispatched(call: Call) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """What ``call`` dispatches to. Raises what the operator raises."""
    with torch.no_grad(), Recorder() as recorder:
        call(*(tensor.clone() for tensor in call.tensors))
    return recorder.calls


def traced(call: Call) -> str | None:
    """The one overload that a TorchScript trace of ``call`` holds; None where it holds others, or cannot be made."""
    try:
        with torch.no_grad():
            module = torch.jit.trace(call, tuple(t.clone() for t in call.tensors), check_trace=False)
    except Exception:
        return None
    nodes = [node for node in module.inlined_graph.nodes() if not node.kind().startswith("prim::")]
    names = {qualified(torch._C.parse_schema(node.schema())) for node in nodes if node.schema() != "(no schema)"}
    return names.pop() if len(names) == 1 else None


def qualified(schema: Any) -> str:
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)
