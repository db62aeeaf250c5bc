"""Runs a graph of TorchScript node by node in Python: what it computes reaches the dispatcher as any model's calls do,
each from the line that the archive names.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import torch

from opscan.graphs.lines import Call, Line, from_lines
from opscan.graphs.script_operators import IN_PYTHON

#: Where a node is from: in a scripted function, and, innermost call first, in a traced one.
_SCRIPTED = re.compile(r'File "([^"\n]+)", line (\d+)')
_TRACED = re.compile(r"^(/?[^\n(]+)\((\d+)\): ", re.MULTILINE)

#: Files whose lines are of no interest: torch's own.
_OF_TORCH = re.compile(r"(^|[\\/])torch[\\/](nn|jit|functional|_|autograd|utils)|^code/__torch__")


class Unsupported(NotImplementedError):
    """A node that is not run here: the trace ends at it, and says so."""


class Graph:
    """A method or function: its graph and its signature."""

    def __init__(self, graph: Any, schema: Any) -> None:
        self._signature = signature_of(schema, with_self=True)
        self.block = graph
        self.inputs = [value.unique() for value in graph.inputs()]

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Values of the graph's inputs, in order; defaults where none is given."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return list(bound.arguments.values())


class Functions:
    """The free functions of an archive, by qualified name."""

    def __init__(self, unit: Any) -> None:
        self._unit = unit
        self._graphs: dict[str, Graph] = {}

    def call(self, name: str, args: list[Any]) -> Any:
        if name not in self._graphs:
            found = self._unit.find_function(name)
            if found is None:
                raise Unsupported(f"the TorchScript function {name}")
            self._graphs[name] = Graph(found.graph, found.schema)
        graph = self._graphs[name]
        return run(graph, graph.bound(tuple(args), {}), self)


def signature_of(schema: Any, with_self: bool = False) -> inspect.Signature:
    """The signature of a method by its schema."""
    parameters = [
        inspect.Parameter(
            argument.name if argument.name.isidentifier() else f"argument_{position}",
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=argument.default_value if argument.has_default_value() else inspect.Parameter.empty,
        )
        for position, argument in enumerate(schema.arguments)
    ]
    return inspect.Signature(parameters if with_self else parameters[1:])


def run(graph: Graph, inputs: list[Any], functions: Functions) -> Any:
    """The graph's result; a tuple where it has several."""
    values = dict(zip(graph.inputs, inputs, strict=True))
    results = _Interpreter(values, functions).block(graph.block)
    return results[0] if len(results) == 1 else tuple(results) if results else None


def run_flat(
    graph: Any,
    inputs: list[Any],
    functions: Functions,
    call_of: Callable[[Any], Call],
    constant_of: Callable[[Any], Any],
) -> Any:
    """The result of a graph that calls no module, whose inputs are given in order."""
    values = dict(zip((value.unique() for value in graph.inputs()), inputs, strict=True))
    results = _Interpreter(values, functions, call_of, constant_of).block(graph)
    return results[0] if len(results) == 1 else tuple(results)


def constant_of_node(node: Any) -> Any:
    return next(iter(node.outputs())).toIValue()


class _Interpreter:
    """``values`` by the number of what defines them; blocks see the values around them. ``call_of`` makes the call of a
    node, and ``constant_of`` gives a constant."""

    def __init__(
        self,
        values: dict[int, Any],
        functions: Functions,
        call_of: Callable[[Any], Call] | None = None,
        constant_of: Callable[[Any], Any] | None = None,
    ) -> None:
        self._values = values
        self._functions = functions
        self._call_of = call_of or _from
        self._constant_of = constant_of or constant_of_node

    def block(self, block: Any) -> list[Any]:
        for node in block.nodes():
            self._node(node)
        return [self._values[value.unique()] for value in block.outputs()]

    def _node(self, node: Any) -> None:
        kind = node.kind()
        structural = _STRUCTURE.get(kind)
        results = self._operator(node, kind) if structural is None else structural(self, node)
        outputs = list(node.outputs())
        held = [results] if len(outputs) == 1 else list(results or ())
        for value, result in zip(outputs, held, strict=False):
            self._values[value.unique()] = result

    def inputs(self, node: Any) -> list[Any]:
        return [self._values[value.unique()] for value in node.inputs()]

    def _operator(self, node: Any, kind: str) -> Any:
        inputs = self.inputs(node)
        call = self._call_of(node)
        in_python = IN_PYTHON.get(kind)
        if in_python is not None:
            answer = call(in_python, inputs, {})
            if answer is not NotImplemented:
                return answer
        function, keywords = _function(kind, node.schema())
        split = len(inputs) - len(keywords)
        return call(function, inputs[:split], dict(zip(keywords, inputs[split:], strict=True)))

    # --- control flow, attributes, calls ------------------------------------------------------------------

    def condition(self, node: Any) -> Any:
        taken, other = node.blocks()
        results = self.block(taken if self.inputs(node)[0] else other)
        return results[0] if len(results) == 1 else results

    def loop(self, node: Any) -> Any:
        most, go_on, *carried = self.inputs(node)
        body = next(iter(node.blocks()))
        names = [value.unique() for value in body.inputs()]
        count = 0
        while go_on and count < most:
            self._values.update(zip(names, (count, *carried), strict=True))
            go_on, *carried = self.block(body)
            count += 1
        return carried[0] if len(carried) == 1 else carried

    def get_attribute(self, node: Any) -> Any:
        owner, name = self.inputs(node)[0], node.s("name")
        return owner.attribute(name) if hasattr(owner, "attribute") else getattr(owner, name)

    def set_attribute(self, node: Any) -> Any:
        owner, value = self.inputs(node)
        if not hasattr(owner, "assign"):
            raise Unsupported("a TorchScript object whose attributes change")
        owner.assign(node.s("name"), value)

    def call_method(self, node: Any) -> Any:
        owner, *args = self.inputs(node)
        name = node.s("name")
        call = _from(node)
        if hasattr(owner, "call"):
            return call(owner.call, [name, args, {}], {})
        return call(getattr(owner, name), args, {})

    def call_function(self, node: Any) -> Any:
        function, *args = node.inputs()
        given = [self._values[value.unique()] for value in args]
        return _from(node)(self._functions.call, [str(function.type()), given], {})

    def python_function(self, node: Any) -> Any:
        """A function with a derivative of its own (``torch.autograd.Function``) is called whole. ``c`` marks arguments
        that are plain values."""
        dynamic, plain = iter(self.inputs(node)), iter(node.scalar_args())
        args = [next(plain if kind == "c" else dynamic) for kind in node.cconv()]
        return self._call_of(node)(node.pyobj(), args, {})

    def constant(self, node: Any) -> Any:
        return self._constant_of(node)

    def unpacked(self, node: Any) -> Any:
        parts = list(self.inputs(node)[0])
        return parts[0] if node.outputsSize() == 1 else parts

    def dictionary(self, node: Any) -> Any:
        parts = self.inputs(node)
        return dict(zip(parts[::2], parts[1::2], strict=True))

    def raised(self, node: Any) -> Any:
        raise RuntimeError(str(self.inputs(node)[0]))


_STRUCTURE: dict[str, Callable[[_Interpreter, Any], Any]] = {
    "prim::If": _Interpreter.condition,
    "prim::Loop": _Interpreter.loop,
    "prim::GetAttr": _Interpreter.get_attribute,
    "prim::SetAttr": _Interpreter.set_attribute,
    "prim::CallMethod": _Interpreter.call_method,
    "prim::CallFunction": _Interpreter.call_function,
    "prim::Constant": _Interpreter.constant,
    "prim::PythonOp": _Interpreter.python_function,
    "prim::ListConstruct": _Interpreter.inputs,
    "prim::TupleConstruct": lambda interpreter, node: tuple(interpreter.inputs(node)),
    "prim::DictConstruct": _Interpreter.dictionary,
    "prim::ListUnpack": _Interpreter.unpacked,
    "prim::TupleUnpack": _Interpreter.unpacked,
    "prim::RaiseException": _Interpreter.raised,
}


@functools.cache
def _function(kind: str, schema: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """The operator of a node, and the names of its arguments that are keywords only."""
    try:
        parsed = torch._C.parse_schema(schema)
        found = torch._C._get_operation_overload(kind, parsed.overload_name)
    except RuntimeError as error:
        raise Unsupported(f"TorchScript's {kind}") from error
    if found is None:
        raise Unsupported(f"TorchScript's {kind}")
    return found[0], tuple(argument.name for argument in parsed.arguments if argument.kwarg_only)


def _from(node: Any) -> Call:
    """Makes a call from the lines of the model's source that the node is from, where the archive names any."""
    return from_lines(lines_of(node.sourceRange()))


@functools.cache
def lines_of(source: str) -> tuple[Line, ...]:
    """Lines by a source range's text, outermost first, without torch's own."""
    found = _SCRIPTED.findall(source) or _TRACED.findall(source)
    return tuple((file, int(line)) for file, line in reversed(found) if not _OF_TORCH.search(file))
