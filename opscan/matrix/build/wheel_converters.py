"""Which ATen overloads torchair converts to graph-engine operators, read from its Python sources without running them.

A converter is a function that ``register_fx_node_ge_converter(torch.ops.NS.OP.OVERLOAD)`` is applied to, as a
decorator or as a call. What it may emit is what its body calls, through helper functions of the package.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

import msgspec

from opscan.matrix.build.wheel_emission import Reach
from opscan.matrix.build.wheel_python import Package, Place, dotted

_REGISTER, _DECLARE = "register_fx_node_ge_converter", "declare_supported"

#: Dispatch keys under which a Python kernel takes an operator apart before conversion.
_DECOMPOSING = frozenset({"AutogradPrivateUse1", "CompositeImplicitAutograd"})

#: Registered only in a mode that users ask for; what the same overload has elsewhere is the default.
_LITE = ".ge_converter.lite."

#: What a module that registers or takes apart anything mentions.
_TELLING = re.compile(rf"{_REGISTER}|py_impl|get_npu_default_decompositions")

#: No module of torchair imports these.
_NEVER_IMPORTED = ".ge_converter.mkldnn."


class RawConverter(msgspec.Struct, frozen=True, omit_defaults=True):
    """One registration: ``op`` as written (``aten.add.Tensor``), in the order of its module."""

    op: str
    module: str
    raises: bool = False
    ge: tuple[str, ...] = ()
    declared: tuple[tuple[str, ...], ...] = ()


class RawTorchair(msgspec.Struct, frozen=True, omit_defaults=True):
    """``decomposed``: operators that torchair replaces by others before conversion. ``automatic``: an operator of
    another library without a converter gets one made from CANN's operator of the same name, if there is one.
    ``python``: scalar functions of Python that are converted. ``unread``: registrations that could not be read.
    """

    converters: tuple[RawConverter, ...] = ()
    decomposed: tuple[str, ...] = ()
    automatic: bool = False
    python: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def read_torchair(sources: Mapping[str, str]) -> RawTorchair:
    """``sources``: the text of every module of torchair by path, as ``torchair/_utils/__init__.py``."""
    package = Package(sources)
    dtypes = _dtype_names(package)
    reach = Reach(package)
    found: list[RawConverter] = []
    python, unread, decomposed = set(), set(), set()
    for name in package.names:
        text = package.text(name)
        if _NEVER_IMPORTED in name or not _TELLING.search(text) or (module := package.module(name)) is None:
            continue
        decomposed |= set(_decomposed(module.tree))
        for argument, function, cases in _registrations(module.tree):
            for op in _operators(package, name, argument):
                place = Place(name, function) if isinstance(function, ast.FunctionDef) else package.find(name, function)
                if op is None or place is None:
                    unread.add(f"{name}:{argument.lineno} {ast.unparse(argument)}")
                elif not op.startswith("torch.ops."):
                    python.add(op)
                else:
                    found.append(_converter(reach, place, name, op, _declared(cases, dtypes)))
    ops = {c.op for c in found if _LITE not in c.module}
    kept = tuple(c for c in found if _LITE not in c.module or c.op not in ops)
    automatic = (module := package.module("torchair._ge_concrete_graph.fx2ge_converter")) is not None and (
        "get_or_auto_gen_converter" in module.functions
    )
    return RawTorchair(kept, tuple(sorted(decomposed)), automatic, tuple(sorted(python)), tuple(sorted(unread)))


def _converter(reach: Reach, place: Place, module: str, op: str, declared: tuple[tuple[str, ...], ...]) -> RawConverter:
    types: frozenset[str] = frozenset()
    raises = _only_raises(place.function)
    if not raises:
        types, missing = reach.emitted(place)
        raises = bool(missing) and not types
    return RawConverter(op.removeprefix("torch.ops."), module, raises, tuple(sorted(types)), declared)


def _registrations(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.FunctionDef | str, ast.expr | None]]:
    """(what it is registered for, the function or its name, declared cases) for every registration, in order.

    ``declare_supported`` belongs to the registration just below it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            cases = None
            for decorator in node.decorator_list:
                if not isinstance(decorator, ast.Call):
                    continue
                if _called(decorator) == _DECLARE:
                    cases = decorator.args[0]
                elif _called(decorator) == _REGISTER:
                    yield decorator.args[0], node, cases
                    cases = None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Call) and _called(node.func) == _REGISTER:
            yield node.func.args[0], dotted(node.args[0]) or "", None


def _called(call: ast.Call) -> str:
    """The last name of what a call with arguments calls."""
    return (dotted(call.func) or "").rpartition(".")[2] if call.args else ""


def _operators(package: Package, module: str, node: ast.expr) -> Iterator[str | None]:
    """The operators that an argument of a registration may mean; None for what cannot be read.

    One that this torch does not have is passed over if the argument says so (``getattr(…, None)``), else it ends the
    import of the module; no release so far registers an implemented converter below such a line.
    """
    if (
        isinstance(node, ast.Call)
        and dotted(node.func) == "getattr"
        and len(node.args) >= 2
        and isinstance(node.args[1], ast.Constant)
        and isinstance(node.args[1].value, str)
    ):
        yield f"{dotted(node.args[0])}.{node.args[1].value}"
        return
    name = dotted(node)
    here = package.module(module)
    if name is None or here is None:
        yield None
    elif name in here.values:
        for value in here.values[name]:
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield from _operators(package, module, value)
    elif "." not in name and name in here.imports:
        yield ".".join(filter(None, here.imports[name]))
    else:
        yield name if "." in name else None


def _only_raises(function: ast.FunctionDef) -> bool:
    """Whether a function does nothing but raise."""
    first = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return bool(first) and isinstance(first[0], ast.Raise)


def _dtype_names(package: Package) -> dict[str, str]:
    """Class of a declared tensor (``F32``) → dtype, from the module that declares the classes."""
    module = package.module("torchair._ge_concrete_graph.supported_declaration")
    found = {}
    for node in module.tree.body if module else ():
        if isinstance(node, ast.ClassDef):
            for keyword in (k for c in ast.walk(node) if isinstance(c, ast.Call) for k in c.keywords):
                dtype = dotted(keyword.value) or ""
                if keyword.arg == "dtype" and dtype.startswith("torch."):
                    found[node.name] = dtype.removeprefix("torch.")
    return found


def _declared(cases: ast.expr | None, dtypes: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Per declared case, the dtypes of its tensors in order; cases without tensors are left out."""
    if cases is None:
        return ()
    found = []
    for node in ast.walk(cases):
        if isinstance(node, ast.Call) and dotted(node.func) == "Support":
            values = (*node.args, *(k.value for k in node.keywords))
            found.append(tuple(dtype for value in values for dtype in _tensors(value, dtypes)))
    return tuple(sorted(set(filter(None, found))))


def _tensors(node: ast.expr, dtypes: Mapping[str, str]) -> Iterator[str]:
    """Dtypes of the tensors that an argument of a declared case stands for."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for element in node.elts:
            yield from _tensors(element, dtypes)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in dtypes:
            yield dtypes[node.func.id]
            return
        for keyword in node.keywords:
            dtype = dotted(keyword.value) or ""
            if keyword.arg == "dtype":
                yield dtypes.get(dtype) or dtype.removeprefix("torch.")


def _decomposed(tree: ast.Module) -> Iterator[str]:
    """Operators that torchair takes apart: by a Python kernel, or in its default table of decompositions."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _called(decorator) == "py_impl":
                op, key = dotted(decorator.func) or "", dotted(decorator.args[0]) or ""
                if key.rpartition(".")[2] in _DECOMPOSING:
                    yield op.removesuffix(".py_impl").removeprefix("torch.ops.")
        if node.name == "get_npu_default_decompositions":
            inner = {id(part.value) for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            for part in ast.walk(node):
                name = dotted(part) if isinstance(part, ast.Attribute) and id(part) not in inner else None
                if name and name.startswith("torch.ops."):
                    yield name.removeprefix("torch.ops.")
