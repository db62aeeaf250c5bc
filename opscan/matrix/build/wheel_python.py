"""Reading Python sources without running them: which function a name means, in a package given as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


class Place(NamedTuple):
    """A function of the package: the module it is in, and its definition."""

    module: str
    function: ast.FunctionDef


@dataclass
class Module:
    """One module: its functions, what it imports, and names with plain values, at every level of its blocks.

    ``imports``: local name → (module, name in it, empty for the module itself). ``stars``: modules imported whole.
    """

    name: str
    text: str
    is_package: bool = False
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def read(self) -> Module:
        for node in statements(self.tree.body):
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.values.setdefault(target.id, []).append(node.value)
        indented = re.search(r"^\s+(?:from|import)\s", self.text, re.MULTILINE)
        for part in ast.walk(self.tree) if indented else self.tree.body:
            if isinstance(part, ast.Import):
                for alias in part.names:
                    self.imports[alias.asname or alias.name] = alias.name, ""
            elif isinstance(part, ast.ImportFrom):
                self._from(part)
        return self

    def _from(self, node: ast.ImportFrom) -> None:
        parts = self.name.split(".")
        base = parts[: len(parts) - node.level + self.is_package] if node.level else []
        source = ".".join([*base, *filter(None, [node.module])])
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(source)
            else:
                self.imports[alias.asname or alias.name] = source, alias.name


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported: those inside ``if``, ``for``, ``try`` and ``with`` too."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            for part in ("body", "orelse", "finalbody"):
                yield from statements(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from statements(handler.body)


class Package:
    """The modules of a package by dotted name; each is parsed when it is first asked for."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        """``sources``: text by path, as ``torchair/ge/attr.py``."""
        self._unread: dict[str, Module] = {}
        for path, text in sources.items():
            name = path.removesuffix(".py").replace("/", ".")
            whole = name.endswith(".__init__")
            name = name.removesuffix(".__init__")
            self._unread[name] = Module(name, text, whole)
        self._read: dict[str, Module] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._unread))

    def text(self, name: str) -> str:
        return self._unread[name].text

    def module(self, name: str) -> Module | None:
        if name not in self._read and name in self._unread:
            self._read[name] = self._unread[name].read()
        return self._read.get(name)

    def find(self, module: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> Place | None:
        """The function that ``name`` (dotted: an attribute of an imported module) means in a module of the package."""
        here = self.module(module)
        if here is None or (module, name) in seen:
            return None
        seen |= {(module, name)}
        if name in here.functions:
            return Place(module, here.functions[name])
        if "." in name:
            return self._attribute(here, name, seen)
        if name in here.imports:
            source, original = here.imports[name]
            return self.find(source, original, seen) if original else None
        return next((place for star in here.stars if (place := self.find(star, name, seen))), None)

    def is_module(self, module: str, name: str, expected: str) -> bool:
        """Whether ``name`` means the module ``expected`` in a module of the package."""
        return self._module_called(module, name, frozenset()) == expected

    def _attribute(self, here: Module, name: str, seen: frozenset[tuple[str, str]]) -> Place | None:
        """``ge.Add``, where ``ge`` is an imported module, perhaps imported by a module that is imported whole."""
        left, _, right = name.rpartition(".")
        source = self._module_called(here.name, left, seen)
        return self.find(source, right, seen) if source else None

    def _module_called(self, module: str, name: str, seen: frozenset[tuple[str, str]]) -> str | None:
        here = self.module(module)
        if here is None or (module, f"{name}.") in seen:
            return None
        seen |= {(module, f"{name}.")}
        if name in here.imports:
            source, original = here.imports[name]
            whole = f"{source}.{original}" if original else source
            return whole if whole in self._unread else self._module_called(source, original, seen)
        if name in self._unread:
            return name
        return next((found for star in here.stars if (found := self._module_called(star, name, seen))), None)


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` for a chain of attributes; None for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (left := dotted(node.value)):
        return f"{left}.{node.attr}"
    return None
