"""Matrices of a few entries, written by hand into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from opscan.matrix import Matrix
from opscan.matrix.build.writing import render, write
from opscan.matrix.files import (
    SCHEMA,
    Api,
    CannFile,
    CannRelease,
    Converter,
    ExceptionsFile,
    GeKernel,
    GeOp,
    GeParameter,
    ObservedFile,
    ObservedOp,
    OnnxFile,
    OnnxOp,
    OpEntry,
    OverridesFile,
    Parameter,
    RegistrationsFile,
    ReleasesFile,
    Row,
    Soc,
    SocsFile,
    Source,
    Statement,
    TorchairFile,
    TorchNpuRelease,
)
from opscan.target import Target

SOCS = ("ascend310p", "ascend910", "ascend910b")

#: Key → the table of a file whose entries are written a line each.
_TABLES = ("ops", "apis", "ge", "torch_npu", "cann", "socs")


def native(*aclnn: str, keys: tuple[str, ...] = ("PrivateUse1", "CPU"), hidden_cpu: bool = False) -> OpEntry:
    """An operator that torch_npu registers, and the kernels that it reaches."""
    return OpEntry(keys, ("op_api",), aclnn, hidden_cpu)


CPU_ONLY = OpEntry(("CPU", "CUDA"))
COMPOSITE = OpEntry(("CompositeImplicitAutograd",))


def adapter(release: str, ops: Mapping[str, OpEntry], op_plugin: str = "26.0") -> RegistrationsFile:
    torch = release.partition(".post")[0]
    return RegistrationsFile(SCHEMA, release, torch, op_plugin, (Source("dispatch"),), dict(ops))


def row(dtypes: str, *kernels: str, results: str = "", copies: int = 0, cann: tuple[str, ...] = ()) -> Row:
    return Row(dtypes, results or dtypes.split(" ")[0], kernels, copies, cann=cann)


def observed(release: str, ops: Mapping[str, tuple[Row, ...]], soc: str = "ascend910b") -> ObservedFile:
    return ObservedFile(SCHEMA, release, soc, (), {name: ObservedOp(rows) for name, rows in ops.items()})


def api(*dtypes: str, **more: tuple[str, ...]) -> Api:
    """An aclnn API with an input ``self`` and a result ``out`` of ``dtypes``, and ``more`` inputs."""
    inputs = {"self": Parameter("in", dtypes), **{name: Parameter("in", listed) for name, listed in more.items()}}
    signature = tuple(("T", name) for name in (*inputs, "out"))
    return Api(True, (signature,), {**inputs, "out": Parameter("out", dtypes)}, source="repo page.md @0123")


ABSENT = Api(False, source="repo page.md @0123")


def ge(*dtypes: str, engine: str = "ai_core", **changes: object) -> GeOp:
    """A graph-engine operator with one kernel."""
    return GeOp((ge_kernel(*dtypes, engine=engine, **changes),))


def ge_kernel(*dtypes: str, engine: str = "ai_core", **changes: object) -> GeKernel:
    params = (GeParameter("x", "in", dtypes), GeParameter("y", "out", dtypes))
    return GeKernel(engine, params, source="op-info", **changes)  # type: ignore[arg-type]


def cann(
    release: str, apis: Mapping[str, Api], ops: Mapping[str, GeOp] | None = None, soc: str = "ascend910b"
) -> CannFile:
    return CannFile(SCHEMA, release, soc, (Source("pages"),), dict(apis), dict(ops or {}))


def torchair(release: str, ops: Mapping[str, Converter]) -> TorchairFile:
    return TorchairFile(SCHEMA, release, (), dict(ops))


def onnx(release: str, ops: Mapping[str, OnnxOp]) -> OnnxFile:
    return OnnxFile(SCHEMA, release, (), dict(ops))


def statement(ident: str, status: str, **changes: object) -> Statement:
    """About every operator on complex64 on ascend910b."""
    about: dict[str, Any] = {"ops": ("any",), "dtypes": ("complex64",), "socs": ("ascend910b",), **changes}
    return Statement(ident, status=status, evidence="seen", source="page @0", date="2026-01-01", **about)  # type: ignore[arg-type]


def releases(*files: msgspec.Struct, nearest: Mapping[str, tuple[str, ...]] | None = None) -> ReleasesFile:
    """The releases of ``files``, in the order in which they are first named; ``nearest`` adds some without a table."""
    adapters = {f.release: TorchNpuRelease(f.torch, True) for f in files if isinstance(f, RegistrationsFile)}
    socs: dict[str, list[str]] = {}
    for file in files:
        if isinstance(file, CannFile):
            socs.setdefault(file.release, []).append(file.soc)
    entries = {release: CannRelease(tuple(found)) for release, found in socs.items()}
    entries |= {release: CannRelease(nearest=near) for release, near in (nearest or {}).items()}
    return ReleasesFile(SCHEMA, (), tuple(adapters), tuple(entries), adapters, entries)


def write_matrix(root: Path, *files: msgspec.Struct) -> Path:
    """Write ``files`` to their places below ``root``; the lists of releases and SoCs too, unless they are given."""
    if not any(isinstance(file, ReleasesFile) for file in files):
        files = (*files, releases(*files))
    if not any(isinstance(file, SocsFile) for file in files):
        files = (*files, SocsFile(SCHEMA, (), {soc: Soc(soc, (soc.title(),)) for soc in SOCS}))
    for file in files:
        tables = tuple(key for key in _TABLES if hasattr(file, key))
        content = render(file, tables) if tables else msgspec.json.encode(_lean(file))
        write(root / place_of(file), content)
    return root


def _lean(value: Any) -> Any:
    """Plain values, without the defaults: as people write a file."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        return {f.encode_name: _lean(getattr(value, f.name)) for f in fields if getattr(value, f.name) != f.default}
    return [_lean(item) for item in value] if isinstance(value, tuple) else value


def place_of(file: msgspec.Struct) -> str:
    """Where a file belongs below ``support_matrix/``."""
    if isinstance(file, ObservedFile):
        return f"observed/{file.release}/{file.soc}.json"
    if isinstance(file, CannFile):
        return f"cann/{file.release}/{file.soc}.json"
    folders = {RegistrationsFile: "torch_npu", TorchairFile: "torchair", OnnxFile: "onnx"}
    for kind, folder in folders.items():
        if isinstance(file, kind):
            return f"{folder}/{file.release}.json"
    names = {
        ReleasesFile: "releases.json",
        SocsFile: "socs.json",
        OverridesFile: "overrides/all.json",
        ExceptionsFile: "exceptions.json",
    }
    return names[type(file)]


def open_matrix(
    root: Path, *files: msgspec.Struct, torch_npu: str = "2.13.0", cann: str = "9.1.0", soc: str = "ascend910b"
) -> Matrix:
    """A matrix of ``files``, written below ``root`` and opened for a target."""
    return Matrix.load(Target(torch_npu, cann, soc), write_matrix(root, *files))
