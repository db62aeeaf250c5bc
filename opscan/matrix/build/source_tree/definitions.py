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


@dataclass(slots=True)
class _Config:
    """What one configuration object declares."""

    parameters: dict[tuple[str, str], Parameter] = field(default_factory=dict)


def read_definition(text: str, *, ai_cpu: bool = False) -> list[Kernel]:
    """The kernels of one definition, without parameters where those have no form that is understood."""
    text = without_comments(text)
    lists, added = variables(text), set(re.findall(r"\bOP_ADD\s*\(\s*(\w+)", text))
    kernels: list[Kernel] = []
    for match, body in blocks(text, r"\bclass\s+(\w+)\s*(?:final\s*)?:\s*public\s+(?:ops::)?OpDef\b"):
        if added and match[1] not in added:
            continue
        if ai_cpu:
            base = _read_scope(body, lists).get("this", _Config())
            kernels.append(Kernel(match[1], ANY, "AICPU", _resolved(base, None), "aicpu_def"))
        else:
            kernels += _kernels(match[1], body, lists)
    return kernels


def _kernels(op: str, body: str, lists: dict[str, str]) -> Iterator[Kernel]:
    made = dict(_made(body, lists))
    lists = {**lists, **variables(body)}
    objects = _read_scope(body, lists)
    for name, maker in re.findall(r"\b(\w+)\s*=\s*(?:this->)?(\w+)\s*\(", body):
        if maker in made and name not in made:
            objects[name] = made[maker]
    base = objects.get("this", _Config())
    for soc, config in _added(body, lists):
        own = made.get(config.partition("(")[0].removeprefix("this->")) or objects.get(config)
        if own is not None and own.parameters:
            yield Kernel(op, soc, "AICore", _resolved(base, own), "config")
        else:
            yield Kernel(op, soc, "AICore", _resolved(base, None), "base")


def _added(body: str, lists: dict[str, str]) -> Iterator[tuple[str, str]]:
    """(SoC, configuration) of every ``AddConfig``, in loops over a list of names too."""
    looped = {}
    for name, over in re.findall(r"\bfor\s*\([^:;()]*?(\w+)\s*:\s*(\w+|\{[^{}]*\})\s*\)", body):
        looped[name] = re.findall(r'"([^"]+)"', lists.get(over, over))
    for statement in statements(body):
        for function, arguments in calls(statement):
            if function == "AddConfig":
                first, _, config = arguments.partition(",")
                literal = re.fullmatch(r'\s*"([^"]+)"\s*', first)
                for soc in [literal[1]] if literal else looped.get(first.strip(), []):
                    yield soc, config.strip()


def _made(body: str, lists: dict[str, str]) -> Iterator[tuple[str, _Config]]:
    """Function → the configuration that it makes and returns."""
    for match, inside in blocks(body, r"\bOpAICoreConfig\s+(\w+)\s*\([^(){};]*\)\s*(?:const\s*)?(?=\{)"):
        returned = re.search(r"\breturn\s+(\w+)\s*;", inside)
        config = _read_scope(inside, {**lists, **variables(inside)}).get(returned[1]) if returned else None
        if config is not None:
            yield match[1], config


def _read_scope(body: str, lists: dict[str, str]) -> dict[str, _Config]:
    """Object (``this``, a configuration) → the parameters declared on it."""
    found: dict[str, _Config] = {}
    for statement in statements(body):
        head = re.match(r"(?:OpAICoreConfig\s+)?(\w+)\s*(?:\.|->)", statement)
        if head is None:
            continue
        parameter: Parameter | None = None
        config = found.setdefault(head[1], _Config())
        for function, arguments in calls(statement):
            if function in ("Input", "Output"):
                name = re.match(r'"(\w+)"', arguments)
                parameter = Parameter(name[1], "in" if function == "Input" else "out") if name else None
            elif parameter is not None:
                parameter = _changed(parameter, function, arguments, lists)
            if parameter is not None:
                config.parameters[parameter.io, parameter.name] = parameter
    return found


def _changed(parameter: Parameter, function: str, arguments: str, lists: dict[str, str]) -> Parameter:
    if function in ("DataType", "DataTypeList"):
        return replace(parameter, dtypes=dtype_list(lists.get(arguments, arguments)))
    if function == "ParamType":
        return replace(parameter, kind=_KINDS.get(arguments.rpartition("::")[2], ""))
    if function == "Follow":
        followed = re.match(r'"(\w+)"', arguments)
        return replace(parameter, follows=followed[1] if followed else "")
    return parameter


def _resolved(base: _Config, own: _Config | None) -> tuple[Parameter, ...]:
    """The common parameters, those of a configuration in their place; followers take the dtypes of what they follow."""
    merged = {**base.parameters, **(own.parameters if own else {})}
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
