"""Exporting every operator of torch.testing's database, and some calls as models make them."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import torch
from torch.testing._internal.common_methods_invocations import op_db

from exporting import typical
from exporting.call import Call, dispatched, qualified, traced
from exporting.export import export, share_tables

#: The dtypes that the dynamo exporter is asked about: it takes ten times as long as the other.
DYNAMO = frozenset({"float32", "float16", "int64"})

_FLOATING = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
_OTHERS = (torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool, torch.complex64)

#: Dtype → how many samples of an operator.
SAMPLES = dict.fromkeys((*_FLOATING, *_OTHERS), 1) | {torch.float32: 3}


def sweep(log: Path, start: int, only: str, exporters: tuple[str, ...]) -> None:
    """Operators from number ``start`` on, appended to ``log`` as they come."""
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    share_tables()
    seen: set[tuple[str, ...]] = set()
    with log.open("a", encoding="utf-8") as file:
        for number, (name, calls) in enumerate(_cases()):
            if number >= start and re.search(only, name):
                _note(file, {"begin": number})
                for call in calls:
                    for row in _rows(call, exporters, seen):
                        _note(file, {"row": row})
    os._exit(0)


def _cases() -> Iterator[tuple[str, Iterator[Call]]]:
    yield from ((info.name, _calls(info)) for info in op_db)
    yield "typical", typical.calls()


def _note(file: TextIO, record: dict[str, Any]) -> None:
    file.write(json.dumps(record) + "\n")
    file.flush()


def _calls(info: Any) -> Iterator[Call]:
    for dtype, count in SAMPLES.items():
        if dtype not in info.supported_dtypes("cpu"):
            continue
        try:
            samples = list(islice(info.sample_inputs("cpu", dtype, requires_grad=False), count))
        except Exception:
            continue
        for sample in samples:
            yield Call(info.op, (sample.input, *sample.args), dict(sample.kwargs))


def _rows(call: Call, exporters: tuple[str, ...], seen: set[tuple[str, ...]]) -> Iterator[list[str]]:
    """What one call tells of the overload it dispatches to and of the one that TorchScript sees, where it is one."""
    try:
        calls = dispatched(call)
    except Exception:
        return
    bottom = {qualified(function._schema) for function, _, _ in calls}
    names = sorted({*(bottom if len(bottom) == 1 else ()), *filter(None, (traced(call),))})
    if names:
        for exporter in _asked(call, exporters):
            opset, outcome, found = export(call, exporter)
            for name in names:
                yield [name, exporter, opset, call.dtypes, outcome, found]
    if len(bottom) > 1:
        yield from _parts(calls, exporters, seen)


def _asked(call: Call, exporters: tuple[str, ...]) -> tuple[str, ...]:
    usual = DYNAMO & set(call.dtypes.split()) or not call.tensors
    return tuple(exporter for exporter in exporters if exporter != "dynamo" or usual)


def _parts(calls: list[Any], exporters: tuple[str, ...], seen: set[tuple[str, ...]]) -> Iterator[list[str]]:
    """The overloads of a composite call, each by itself, once for the same dtypes and arguments' kinds."""
    for function, args, kwargs in calls:
        call, name = Call(function, args, kwargs), qualified(function._schema)
        key = (name, call.dtypes, str(call.spec))
        if key in seen or not call.tensors:
            continue
        seen.add(key)
        for exporter in _asked(call, exporters):
            opset, outcome, found = export(call, exporter)
            if outcome == "ok" or exporter == "dynamo":
                yield [name, exporter, opset, call.dtypes, outcome, found]
