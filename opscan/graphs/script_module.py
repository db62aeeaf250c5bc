"""TorchScript modules as modules of Python, whose methods are interpreted from their graphs."""

from __future__ import annotations

import inspect
import re
from typing import Any

import torch
from torch import nn

from opscan.graphs.script_graph import Functions, Graph, run, signature_of

#: ``forward``, or one of its overloads.
_FORWARD = re.compile(r"forward(__\d+)?")


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
        forwards = [name for name in source._method_names() if _FORWARD.fullmatch(name)]
        if forwards:
            self.forward = self._forward = _Forward(self, forwards[0])

    @property
    def required(self) -> list[str]:
        parameters = inspect.signature(self.forward).parameters.values()
        return [p.name for p in parameters if p.default is inspect.Parameter.empty]

    def call(self, method: str, args: Any, kwargs: Any) -> Any:
        """Run a method; ``forward``, or an overload of it, by way of the module's hooks."""
        if not _FORWARD.fullmatch(method):
            return self.run(method, args, kwargs)
        self._forward.method = method
        return self(*args, **kwargs)

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
    """``module.forward``, or the overload of it that is called now, with the signature that the script gave it."""

    def __init__(self, module: ScriptedModule, method: str) -> None:
        self._module = module
        self.method = method
        self.__signature__ = signature_of(module._source._get_method(method).schema)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._module.run(self.method, args, kwargs)
