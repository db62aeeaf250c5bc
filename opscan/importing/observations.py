"""What a log says about operators, and nothing else of it. Frozen, without any I/O.

The field names are the keys of ``opscan import-log --json`` (``docs/import-log.md``): extend, never rename.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

#: ``fallback``: torch_npu left the operator to the CPU. ``no_parser``: ATC does not know the ONNX operator.
#: ``no_kernel``: no kernel for the operator or for its arguments. ``refused``: a kernel's API failed. ``ai_cpu``: ran
#: on the AI CPU. ``ran``: ran elsewhere on the device.
Kind = Literal["fallback", "no_parser", "no_kernel", "refused", "ai_cpu", "ran"]

#: From worst to best, as they are listed.
KINDS: tuple[Kind, ...] = ("no_parser", "no_kernel", "refused", "fallback", "ai_cpu", "ran")

#: Kinds of files. ``text``: nothing in it was recognised.
FileKind = Literal["atc", "torch_npu", "cann", "op_summary", "op_statistic", "text"]

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """What observations are counted by. ``operator``: ``aten::add.out``, ``ai.onnx::GridSample``, or a type of the
    graph engine. ``kernel``: an aclnn API. ``dtypes``: of the inputs, by torch's names. ``unit``: what it ran on, as
    the profiler calls it. ``code``: the error code of a refusal.
    """

    kind: Kind
    operator: str = ""
    kernel: str = ""
    dtypes: tuple[str, ...] = ()
    unit: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """``count``: how often it was said or ran. ``microseconds``: on the device, all together; None where the file does
    not say. ``shapes``: inputs of the longest run. ``files``: numbers of the files, from 1.
    """

    kind: Kind
    operator: str
    kernel: str
    dtypes: tuple[str, ...]
    unit: str
    code: str
    count: int
    microseconds: float | None = None
    shapes: tuple[Shape, ...] = ()
    files: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file by its number on the command line: neither its name nor its folder is repeated. ``kinds``: what was
    recognised in it. ``damaged``: rows of a table that could not be read.
    """

    number: int
    kinds: tuple[FileKind, ...]
    lines: int
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class CodeSeen:
    """An error code, as the documents spell it, and how many lines name it."""

    code: str
    count: int


@dataclass(frozen=True, slots=True)
class Imported:
    """All that was found. ``dropped``: observations beyond the number that is kept apart."""

    files: tuple[FileRead, ...]
    observations: tuple[Observation, ...] = ()
    codes: tuple[CodeSeen, ...] = field(default=())
    dropped: int = 0
