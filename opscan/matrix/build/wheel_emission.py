"""Which graph-engine operators a function of torchair may add to the graph, by what its source mentions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from opscan.matrix.build.wheel_python import Package, Place, dotted

#: Nodes of a graph that no kernel computes.
_PLUMBING = frozenset({"Const", "Constant", "Data", "NetOutput", "RefData"})

#: Functions whose first argument is a type of operator.
_BY_NAME = frozenset({"custom_op", "ge_op"})

#: The module of functions that add one operator to the graph, and what it has besides.
_OPERATORS = "torchair._ge_concrete_graph.ge_apis"
_CALLED = re.compile(r"ge\.[A-Z]\w+")
_NO_FUNCTIONS = frozenset({"ge.Tensor", "ge.TensorSpec", "ge.DataType", "ge.ProtoDataType"})


class _Mentioned(NamedTuple):
    """What a function's own body mentions: types of operators, functions of the package, functions that it lacks."""

    types: frozenset[str]
    functions: tuple[Place, ...]
    missing: frozenset[str]


class Reach:
    """What functions of a package may add to the graph; every function is read once."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._known: dict[tuple[str, int], _Mentioned] = {}

    def emitted(self, place: Place) -> tuple[frozenset[str], frozenset[str]]:
        """Types of graph-engine operators that a function may add to the graph, with all functions it mentions.

        Also what it calls of the module of operators that is not there: such a call raises.
        """
        types: frozenset[str] = frozenset()
        missing: frozenset[str] = frozenset()
        seen, waiting = {_key(place)}, [place]
        while waiting:
            mentioned = self._mentioned(waiting.pop())
            types |= mentioned.types
            missing |= mentioned.missing
            new = [found for found in mentioned.functions if _key(found) not in seen]
            seen |= {_key(found) for found in new}
            waiting += new
        return types - _PLUMBING, missing - _NO_FUNCTIONS

    def _mentioned(self, place: Place) -> _Mentioned:
        if _key(place) not in self._known:
            self._known[_key(place)] = self._read(place)
        return self._known[_key(place)]

    def _read(self, place: Place) -> _Mentioned:
        nodes = list(_body(place.function))
        types = {text for node in nodes for text in _type_named(node)}
        names = {name for node in nodes if isinstance(node, (ast.Name, ast.Attribute)) and (name := dotted(node))}
        found = {name: self._package.find(place.module, name) for name in sorted(names)}
        missing = {
            name
            for name, function in found.items()
            if function is None and _CALLED.fullmatch(name) and self._package.is_module(place.module, "ge", _OPERATORS)
        }
        return _Mentioned(frozenset(types), tuple(filter(None, found.values())), frozenset(missing))


def _key(place: Place) -> tuple[str, int]:
    return place.module, place.function.lineno


def _body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Every node that may run when a function is called, without annotations and decorators."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef):
            waiting += node.body
        elif isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
        else:
            waiting += ast.iter_child_nodes(node)


def _type_named(node: ast.AST) -> Iterator[str]:
    """The operator type that ``op.type = "X"``, ``ge_op(op_type="X")`` or ``custom_op("X")`` names."""
    if isinstance(node, ast.Assign):
        targets = node.targets[0]
        if isinstance(targets, ast.Attribute) and targets.attr == "type":
            yield from _text(node.value)
    elif isinstance(node, ast.Call):
        called = (dotted(node.func) or "").rpartition(".")[2]
        if called in _BY_NAME:
            for value in (*node.args[:1], *(k.value for k in node.keywords if k.arg == "op_type")):
                yield from _text(value)


def _text(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        yield node.value
