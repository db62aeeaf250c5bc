"""A file of ``torch.export.save``: the program's own module, called with the inputs that it was exported with.

The reader of torch unpickles where it must, resolves names of functions, and evaluates expressions and guards that the
file brings. Here it does so only where the file cannot make it run code: tensors are read as tensors alone
(``weights_only``), and names and expressions are looked at first.
"""

from __future__ import annotations

import json
import logging
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opscan.errors import LoadError
from opscan.loading import offered
from opscan.loading.inputs import Input
from opscan.loading.interface import LoadedModel
from opscan.loading.notes import described, in_one_line
from opscan.loading.reference import ExportedProgramReference
from opscan.text import Text

#: Functions that a graph of torch.export calls.
_TARGET = re.compile(r"torch\.ops\.[\w.]+|#?_?operator\.\w+|math\.\w+|torch\.sym_\w+|torch\._sym_\w+|torch\._check\w*")

#: What no expression over sizes holds: attributes, strings, private names, calls of anything but functions of sympy.
#: Names of symbols may be quoted: ``Symbol('s77', integer=True)``.
_CODE = re.compile(r"""__|["'\[\]{};\\@:]|\.\s*[A-Za-z_]|\b(lambda|import)\b|\b(?!floor\b|ceiling\b)[a-z_]\w*\s*\(""")
_QUOTED_SYMBOL = re.compile(r"'[A-Za-z]\w*'")


def load(reference: ExportedProgramReference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Raises LoadError where the file is damaged, of another torch, brings code, or cannot be trained."""
    path = Path(reference.path)
    _check(path)
    program = _program(path)
    model = _module(program)
    if train and not any(p.requires_grad for p in model.parameters()):
        raise LoadError(f"{path.name} has no parameters to train.", "Leave --train away.")
    args, kwargs = _own_inputs(program)
    own = (*args, *([kwargs] if kwargs else []))
    args, kwargs = offered.arguments(model, inputs, args, kwargs, path.name)
    return LoadedModel(model, args, kwargs, () if inputs else (_note(own),))


def _check(path: Path) -> None:
    for name, tree in _graphs(path):
        for key, value in _strings(tree):
            if key == "target" and not _TARGET.fullmatch(value):
                raise LoadError(
                    f"{path.name} calls {value[:80]!r} ({name}), which is no operator of torch.",
                    "Scan the code that builds the model.",
                )
            if key == "expr_str" and _CODE.search(_QUOTED_SYMBOL.sub("", value)):
                raise LoadError(
                    f"{path.name} holds an expression that is none over sizes: {value[:80]!r} ({name}).",
                    "Scan the code that builds the model.",
                )


def _graphs(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if ("models/" in name and name.endswith(".json")) or name.endswith("serialized_exported_program.json"):
                    yield name, json.loads(archive.read(name))
    except (zipfile.BadZipFile, ValueError, RecursionError, OSError, EOFError) as error:
        raise LoadError(f"{path.name} is damaged: {error}.", "Export the model again.") from error


def _strings(tree: Any) -> Iterator[tuple[str, str]]:
    """(key, text) of every text below a key, without recursion: the file decides how deep it is."""
    pending = [tree]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            yield from ((k, v) for k, v in found.items() if isinstance(v, str))
            pending += [v for v in found.values() if isinstance(v, (dict, list))]
        elif isinstance(found, list):
            pending += [v for v in found if isinstance(v, (dict, list))]


def _program(path: Path) -> Any:
    """Read outside of any mode that a trace runs in: weights are real, and are moved later."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    try:
        with _disable_current_modes(), _tensors_alone(), _told_once():
            return torch.export.load(str(path))
    except Exception as error:  # the reader raises whatever a file of another release leads to
        raise LoadError(
            f"torch {torch.__version__} cannot read {path.name}: {in_one_line(error)}.",
            "Export it with the torch that is installed here, or scan the code that builds the model.",
        ) from error


@contextmanager
def _tensors_alone() -> Iterator[None]:
    """``torch.load`` unpickles nothing but tensors and plain containers, whatever its caller asks for."""
    before = os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"]
        else:
            os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = before


@contextmanager
def _told_once() -> Iterator[None]:
    """torch logs a traceback beside the error that it raises."""
    log = logging.getLogger("torch.export")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


def _module(program: Any) -> Any:
    from torch.utils._python_dispatch import _disable_current_modes

    from opscan.graphs.exported import module_of_program

    with _disable_current_modes():
        return module_of_program(program)


def _own_inputs(program: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The example inputs, which the file keeps; else zeros of the shapes in its graph."""
    import torch

    if program.example_inputs is not None:
        args, kwargs = program.example_inputs
        return tuple(args), dict(kwargs)
    wanted = set(program.graph_signature.user_inputs)
    values = [n.meta["val"] for n in program.graph.nodes if n.op == "placeholder" and n.name in wanted]
    made = [
        torch.zeros([_size(s) for s in v.shape], dtype=v.dtype) if isinstance(v, torch.Tensor) else v for v in values
    ]
    return torch.utils._pytree.tree_unflatten(made, program.call_spec.in_spec)  # type: ignore[no-any-return]


def _size(size: Any) -> int:
    """A symbolic dimension by the value that it was exported with."""
    hint = getattr(getattr(size, "node", None), "hint", None)
    return int(hint if hint is not None else size)


def _note(inputs: Any) -> Text:
    shown = described(inputs)
    return Text(
        f"The inputs are those that the program was exported with: {shown}.", f"输入为导出该程序时所用的输入：{shown}。"
    )
