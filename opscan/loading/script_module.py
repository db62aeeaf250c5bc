"""TorchScript modules as modules of Python, whose methods are interpreted from their graphs."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import nn

from opscan.loading.script_graph import Functions, Graph, run, signature_of


class ScriptedModule(nn.Module):
    """One module of an archive, with its parameters, buffers and submodules under their own names.

    ``required``: inputs of ``forward`` without defaults.
    """

    def __init__(self, unit: Any, source: Any, known: dict[int, ScriptedModule] | None = None) -> None:
        super().__init__()
        known = {} if known is None else known
        known[hash(source)] = self
        self._source = source
        self._functions = Functions(unit)
        self._graphs: dict[str, Graph] = {}
        self._attributes: dict[str, Any] = {}
        for name, tensor in _items(torch._C.ParameterDict(source)):
            of_floats = tensor.is_floating_point() or tensor.is_complex()
            learned = tensor.requires_grad and of_floats
            self.register_parameter(name, nn.Parameter(tensor.detach(), requires_grad=learned))
        for name, tensor in _items(torch._C.BufferDict(source)):
            self.register_buffer(name, tensor)
        for name, inner in _items(torch._C.ModuleDict(source)):
            self.add_module(name, known.get(hash(inner)) or ScriptedModule(unit, inner, known))
        if "forward" in source._method_names():
            self.forward = _Forward(self, signature_of(source._get_method("forward").schema))

    @property
    def required(self) -> list[str]:
        parameters = inspect.signature(self.forward).parameters.values()
        return [p.name for p in parameters if p.default is inspect.Parameter.empty]

    def call(self, method: str, args: Any, kwargs: Any) -> Any:
        """Run a method; ``forward`` by way of the module's hooks."""
        return self(*args, **kwargs) if method == "forward" else self.run(method, args, kwargs)

    def attribute(self, name: str) -> Any:
        """What ``self.name`` is in the script."""
        if name == "training":
            return self.training
        if name in self._attributes:
            return self._attributes[name]
        for held in (self._parameters, self._buffers, self._modules):
            if name in held:
                return held[name]
        return self._source.getattr(name)

    def assign(self, name: str, value: Any) -> None:
        if name in self._buffers:
            self._buffers[name] = value
        else:
            self._attributes[name] = value

    def run(self, method: str, args: Any, kwargs: Any) -> Any:
        if method not in self._graphs:
            found = self._source._get_method(method)
            self._graphs[method] = Graph(found.graph, found.schema)
        graph = self._graphs[method]
        return run(graph, graph.bound((self, *args), kwargs), self._functions)


def _items(held: Any) -> list[tuple[str, Any]]:
    """Names and values of one kind of attribute."""
    return list(held.items())


class _Forward:
    """``module.forward``, with the signature that the script gave it."""

    def __init__(self, module: ScriptedModule, signature: inspect.Signature) -> None:
        self._module = module
        self.__signature__ = signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._module.run("forward", args, kwargs)
