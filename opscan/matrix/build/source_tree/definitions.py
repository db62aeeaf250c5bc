"""Operator definitions: which graph-engine operator has a kernel on which SoC, with the dtypes of its parameters.

AI Core: ``…_def.cpp`` with ``OpDef``; the configuration of a SoC may have parameters of its own in place of the
common ones. AI CPU: ``…_aicpu_def.cpp`` in the same language (from 9.0.0 on) or JSON (8.5.0).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from opscan.matrix.build.source_tree.cpp import blocks, calls, dtype_list, statements, variables, without_comments

_KINDS = {"OPTIONAL": "opt", "DYNAMIC": "dyn"}

#: The SoC of AI CPU kernels: they are the same on every one.
ANY = "any(aicpu)"


@dataclass(frozen=True, slots=True)
class Parameter:
    """``dtypes``: one for each combination that the kernel takes, in order; empty where they are not plain.

    ``kind``: ``opt`` (optional) or ``dyn`` (a list of any length).
    """

    name: str
    io: str
    dtypes: tuple[str, ...] = ()
    kind: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """``evidence``: where the dtypes stand (``base``, ``config``, ``aicpu_def``, ``aicpu_json``)."""

    op: str
    soc: str
    engine: str
    parameters: tuple[Parameter, ...]
    evidence: str

    def combinations(self) -> int:
        return max((len(p.dtypes) for p in self.parameters), default=0)

    def dtypes(self) -> str:
        """``in x=float16|float32;in y=…:opt;out z=…``, as raw tables have it."""
        return ";".join(
            f"{p.io} {p.name}={'|'.join(dict.fromkeys(p.dtypes))}{':' + p.kind if p.kind else ''}"
            for p in self.parameters
        )


#: (``in`` or ``out``, name) → parameter, in the order of their declaration.
Parameters = dict[tuple[str, str], Parameter]


def read_definition(text: str, *, ai_cpu: bool = False) -> list[Kernel]:
    """The kernels of one definition, without parameters where those have no form that is understood."""
    text = without_comments(text)
    lists, added = variables(text), set(re.findall(r"\bOP_ADD\s*\(\s*(\w+)", text))
    kernels: list[Kernel] = []
    for match, body in blocks(text, r"\bclass\s+(\w+)\s*(?:final\s*)?:\s*public\s+(?:ops::)?OpDef\b"):
        if added and match[1] not in added:
            continue
        if ai_cpu:
            scope = _Scope(lists, {})
            for statement in statements(body):
                scope.read(statement)
            kernels.append(Kernel(match[1], ANY, "AICPU", _resolved(scope.parameters("this"), {}), "aicpu_def"))
        else:
            kernels += _kernels(match[1], body, lists)
    return kernels


def _kernels(op: str, body: str, lists: dict[str, str]) -> Iterator[Kernel]:
    """A kernel for every ``AddConfig``, with what its configuration declares by then: later statements may declare
    other parameters on the same variable for the next SoC.
    """
    looped = _looped(body, lists)
    scope, added = _Scope(lists | variables(body), dict(_made(body, lists))), []
    for statement in statements(_without_makers(body)):
        for soc, config in _added(statement, looped):
            added.append((soc, scope.parameters(config)))
        scope.read(statement)
    base = scope.parameters("this")
    for soc, own in added:
        yield Kernel(op, soc, "AICore", _resolved(base, own), "config" if own else "base")


def _looped(body: str, lists: dict[str, str]) -> dict[str, list[str]]:
    """Variable of a loop over a list of names → the names."""
    lists = lists | variables(body)
    loops = re.findall(r"\bfor\s*\([^:;()]*?(\w+)\s*:\s*(\w+|\{[^{}]*\})\s*\)", body)
    return {name: re.findall(r'"([^"]+)"', lists.get(over, over)) for name, over in loops}


def _added(statement: str, looped: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """(SoC, configuration) of every ``AddConfig`` in a statement."""
    for function, arguments in calls(statement):
        if function == "AddConfig":
            first, _, config = arguments.partition(",")
            literal = re.fullmatch(r'\s*"([^"]+)"\s*', first)
            for soc in [literal[1]] if literal else looped.get(first.strip(), []):
                yield soc, config.strip()


#: A member function that makes a configuration and returns it.
_MAKER = r"\bOpAICoreConfig\s+(\w+)\s*\([^(){};]*\)\s*(?:const\s*)?(?=\{)"


def _made(body: str, lists: dict[str, str]) -> Iterator[tuple[str, Parameters]]:
    """Function → the parameters of the configuration that it makes and returns."""
    for match, inside in blocks(body, _MAKER):
        returned = re.search(r"\breturn\s+(\w+)\s*;", inside)
        if returned:
            scope = _Scope(lists | variables(inside), {})
            for statement in statements(inside):
                scope.read(statement)
            yield match[1], scope.parameters(returned[1])


def _without_makers(body: str) -> str:
    """Their variables may have the names of others."""
    for _, inside in blocks(body, _MAKER):
        body = body.replace(inside, "{}", 1)
    return body


@dataclass(slots=True)
class _Scope:
    """The parameters that every object (``this``, a configuration) has after the statements read so far.

    ``lists``: named lists of dtypes. ``made``: what functions that make a configuration return.
    """

    lists: dict[str, str]
    made: dict[str, Parameters]
    objects: dict[str, Parameters] = field(default_factory=dict)

    def parameters(self, name: str) -> Parameters:
        """Of an object, or of what a call like ``Make()`` returns."""
        if "(" in name:
            return dict(self.made.get(name.partition("(")[0].removeprefix("this->"), {}))
        return dict(self.objects.get(name, {}))

    def read(self, statement: str) -> None:
        """Follow one statement: a declared, assigned or copied configuration, or parameters declared on an object."""
        if declared := re.fullmatch(r"(?:ops::)?OpAICoreConfig (\w+)(?: ?\( ?(?!\")(\w+) ?\))?", statement):
            self.objects[declared[1]] = self.parameters(declared[2] or "")
        elif assigned := re.fullmatch(
            r"(?:(?:ops::)?OpAICoreConfig |auto )?(\w+) ?= ?((?:this->)?\w+(?: ?\(.*\))?)", statement
        ):
            self.objects[assigned[1]] = self.parameters(assigned[2])
        elif head := re.match(r"(\w+)\s*(?:\.|->)", statement):
            self._declare(head[1], statement)

    def _declare(self, name: str, statement: str) -> None:
        parameter: Parameter | None = None
        parameters = self.objects.setdefault(name, {})
        for function, arguments in calls(statement):
            if function in ("Input", "Output"):
                named = re.match(r'"(\w+)"', arguments)
                parameter = Parameter(named[1], "in" if function == "Input" else "out") if named else None
            elif parameter is not None:
                parameter = _changed(parameter, function, arguments, self.lists)
            if parameter is not None:
                parameters[parameter.io, parameter.name] = parameter


def _changed(parameter: Parameter, function: str, arguments: str, lists: dict[str, str]) -> Parameter:
    if function in ("DataType", "DataTypeList"):
        return replace(parameter, dtypes=dtype_list(lists.get(arguments, arguments)))
    if function == "ParamType":
        return replace(parameter, kind=_KINDS.get(arguments.rpartition("::")[2], ""))
    if function == "Follow":
        followed = re.match(r'"(\w+)"', arguments)
        return replace(parameter, follows=followed[1] if followed else "")
    return parameter


def _resolved(base: Parameters, own: Parameters) -> tuple[Parameter, ...]:
    """The common parameters, those of a configuration in their place; followers take the dtypes of what they follow."""
    merged = {**base, **own}
    by_name = {name: p for (_, name), p in reversed(merged.items())}
    ordered = sorted(merged.values(), key=lambda p: p.io != "in")
    return tuple(
        replace(p, dtypes=by_name[p.follows].dtypes) if not p.dtypes and p.follows in by_name else p for p in ordered
    )


def read_ai_cpu_json(text: str) -> list[Kernel]:
    """The kernels of one AI CPU description in JSON; none where it is not such a file."""
    try:
        document = json.loads(text)
    except ValueError:
        return []
    if not isinstance(document, dict):
        return []
    found = []
    for op, entry in document.items():
        if isinstance(entry, dict) and isinstance(entry.get("opInfo"), dict):
            parameters = [
                _from_json(key, value) for key, value in entry.items() if re.fullmatch(r"(in|out)put\d*", key)
            ]
            engine = str(entry["opInfo"].get("engine", "DNN_VM_AICPU"))
            ordered = sorted((p for p in parameters if p is not None), key=lambda p: p.io != "in")
            found.append(Kernel(op, ANY, engine, tuple(ordered), "aicpu_json"))
    return found


def _from_json(key: str, value: object) -> Parameter | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    return Parameter(value["name"], "in" if key.startswith("in") else "out", dtype_list(str(value.get("type", ""))))
