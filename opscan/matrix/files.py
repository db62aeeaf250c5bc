"""The files of the support matrix as typed values, and loading them with errors that name file and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from opscan.errors import MatrixError
from opscan.matrix.claims import ClaimCode
from opscan.matrix.data import user_matrix_dir

#: The schema number that this version of opscan reads.
SCHEMA = 1

_REINSTALL = "Install opscan again, or run `opscan matrix build` in a checkout."
_REBUILD = (
    "It is your own: build it again with `opscan matrix build --wheel`, --cann-home, --source or --from-probe, "
    "or delete it."
)


class Source(msgspec.Struct, frozen=True):
    """Where a table's facts come from."""

    table: str
    note: str = ""


class OpEntry(msgspec.Struct, frozen=True):
    """One operator in one torch_npu release; see :class:`opscan.matrix.claims.Registration`."""

    keys: tuple[str, ...] = ()
    impl: tuple[str, ...] = ()
    aclnn: tuple[str, ...] = ()
    hidden_cpu: bool = False


class RegistrationsFile(msgspec.Struct, frozen=True):
    """``basis``: read from the dispatcher of a process that loaded the wheel, or from the wheel's list of functions."""

    schema: int
    release: str
    torch: str
    op_plugin: str
    sources: tuple[Source, ...]
    ops: dict[str, OpEntry]
    basis: Literal["dispatcher", "yaml"] = "dispatcher"


class Row(msgspec.Struct, frozen=True):
    """What calls with these tensor dtypes did.

    ``dtypes``, ``results``: of tensor arguments and results, in order, joined by blanks (no results: not recorded).
    ``cann``: seen on a runtime that holds only the APIs which these CANN releases document; empty: on a complete one.
    ``kernels``: distinct launches in the order first seen. ``copies``: blocking copies between host and device.
    ``refused``: the adapter's own complaint about the dtypes; nothing was computed then.
    """

    dtypes: str = ""
    results: str = ""
    kernels: tuple[str, ...] = ()
    copies: int = 0
    refused: str = ""
    cann: tuple[str, ...] = ()


class ObservedOp(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]


class ObservedFile(msgspec.Struct, frozen=True):
    schema: int
    release: str
    soc: str
    sources: tuple[Source, ...]
    ops: dict[str, ObservedOp]


class Measurement(msgspec.Struct, frozen=True):
    """What one call did on a real NPU.

    ``key``: of the probe's signature. ``dtypes``: of its tensors in order, joined by blanks; ``rank``: dimensions of
    the first. ``call`` writes the signature out. ``fallbacks``: operators that ran on the CPU within it. ``detail``:
    what was refused, wrong or crashed, in words.
    """

    key: str
    cann: str
    status: Literal["native", "fallback", "refused", "wrong", "crashed"]
    call: str
    dtypes: str = ""
    rank: int = 0
    kernels: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()
    detail: str = ""


class MeasuredOp(msgspec.Struct, frozen=True):
    rows: tuple[Measurement, ...]


class MeasuredFile(msgspec.Struct, frozen=True):
    """What probes measured with one torch_npu release on one SoC; ``sources`` names their files."""

    schema: int
    release: str
    soc: str
    sources: tuple[Source, ...]
    ops: dict[str, MeasuredOp]


class Parameter(msgspec.Struct, frozen=True, rename={"borrowed": "from"}):
    """The dtypes that one parameter of an API accepts on the SoC.

    ``borrowed``: the release they are taken from, where the table of this release leaves them out.
    ``disputed``: dtypes that are not listed here but elsewhere, in a way that makes a "no" doubtful.
    ``corrected``: the id of the override that changed them. ``contested``: dtypes that are listed although another
    place of the same documentation excludes them. ``excluded``: those that a table lists and a note below it excludes.
    ``ranks``: numbers of dimensions, as ``0-8`` or ``2|4``.
    """

    io: str
    dtypes: tuple[str, ...] = ()
    borrowed: str = ""
    disputed: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    corrected: str = ""
    ranks: str = ""
    excluded: tuple[str, ...] = ()


class Api(msgspec.Struct, frozen=True, rename={"borrowed": "from"}):
    """One aclnn API on one SoC at one CANN release.

    ``signatures``: [kind letter, parameter name] in order, floating-point parameters left out, this release's first.
    ``ai_cpu``: dtypes that the API accepts but only the AI CPU computes; ``self:int64`` where that is so of one
    parameter alone, for an index may have the same dtype. ``ai_core_casts``: for an API that converts, the (from, to)
    pairs that the AI Core converts; the AI CPU does the others.
    ``disputed``: where the API is documented as absent on the SoC, what says otherwise.
    """

    supported: bool
    signatures: tuple[tuple[tuple[str, str], ...], ...] = ()
    params: dict[str, Parameter] = {}
    ai_cpu: tuple[str, ...] = ()
    ai_core_casts: tuple[tuple[str, str], ...] = ()
    borrowed: str = ""
    corrected: str = ""
    disputed: str = ""
    source: str = ""


class GeParameter(msgspec.Struct, frozen=True):
    """One input or output of a graph-engine operator, in the order of its definition.

    ``bound``: the dtypes come from the operator's prototype, which holds for every SoC: what is not among them is
    refused, but what is among them need not be accepted here.
    """

    name: str
    io: Literal["in", "out"]
    dtypes: tuple[str, ...] = ()
    optional: bool = False
    bound: bool = False


class GeKernel(msgspec.Struct, frozen=True, rename={"borrowed": "from"}):
    """An implementation of a graph-engine operator: ``ai_core`` is fast, ``ai_cpu`` slow, ``host_cpu`` on the host.

    ``experimental``: its definition lies in an experimental part of the operator library.
    """

    engine: Literal["ai_core", "ai_cpu", "host_cpu"]
    params: tuple[GeParameter, ...] = ()
    experimental: bool = False
    borrowed: str = ""
    source: str = ""


class GeOp(msgspec.Struct, frozen=True):
    """One graph-engine operator on one SoC at one CANN release.

    ``absent``: an exhaustive list of the SoC's operators lacks it; the source says which. An operator that is not in
    the table at all is unknown.
    """

    kernels: tuple[GeKernel, ...] = ()
    absent: bool = False
    source: str = ""


class CannFile(msgspec.Struct, frozen=True):
    """``apis``: aclnn APIs by name. ``ge``: graph-engine operators by type."""

    schema: int
    release: str
    soc: str
    sources: tuple[Source, ...]
    apis: dict[str, Api]
    ge: dict[str, GeOp] = {}


class Converter(msgspec.Struct, frozen=True):
    """What torchair does with one ATen overload in the graph route.

    ``raises``: a converter is registered, and all it does is raise. ``decomposed``: torchair replaces it by other
    operators before conversion. ``ge``: graph-engine operators that an implemented one may emit. ``declared``: per
    declared case, the dtypes of its tensors in order.
    """

    status: Literal["implemented", "raises", "decomposed"]
    ge: tuple[str, ...] = ()
    declared: tuple[tuple[str, ...], ...] = ()
    source: str = ""


class TorchairFile(msgspec.Struct, frozen=True):
    """Converters by qualified overload; an overload that is not in the table has none.

    ``automatic``: an operator of another library than torch's own then gets one, if CANN has an operator of its name.
    """

    schema: int
    release: str
    sources: tuple[Source, ...]
    ops: dict[str, Converter]
    automatic: bool = False


class OnnxOp(msgspec.Struct, frozen=True, rename={"borrowed": "from"}):
    """An ONNX operator that ATC's parser accepts: at which opsets, and what it becomes.

    ``subgraph``: it expands into several graph-engine operators; ``ge`` then names what is known of them.
    ``documented``: dtypes that documents of the offline route list for it, for no SoC in particular.
    """

    opsets: tuple[int, ...]
    ge: tuple[str, ...] = ()
    subgraph: bool = False
    borrowed: str = ""
    source: str = ""
    documented: tuple[str, ...] = ()


class OnnxFile(msgspec.Struct, frozen=True):
    """ONNX operators by ``domain::op``; ``release`` is a CANN release.

    ``later``: operators that only later releases are known to parse, so that nothing tells of this one. Any other
    operator that is not in the table has no parser.
    """

    schema: int
    release: str
    sources: tuple[Source, ...]
    ops: dict[str, OnnxOp]
    later: tuple[str, ...] = ()


class Exported(msgspec.Struct, frozen=True):
    """What an ONNX exporter made of calls of one overload.

    ``dtypes``: of the data of such calls; ``T`` stands for it in ``ops``, whose entries name an ONNX operator and the
    dtypes of its inputs: ``ai.onnx::Where[bool,T]``. No operators: constants or the inputs themselves are left.
    ``refused``: the class of what the exporter raised instead, or the newer opset that it took.
    """

    dtypes: tuple[str, ...]
    ops: tuple[str, ...] = ()
    refused: str = ""


class ExportedOp(msgspec.Struct, frozen=True):
    """One overload by torch's TorchScript exporter (``dynamo=False``) and by the one on torch.export."""

    torchscript: tuple[Exported, ...] = ()
    dynamo: tuple[Exported, ...] = ()


class ExportsFile(msgspec.Struct, frozen=True):
    """ATen overloads as torch ``release`` exports them to ONNX at ``opset``."""

    schema: int
    release: str
    opset: int
    sources: tuple[Source, ...]
    ops: dict[str, ExportedOp]


class TorchNpuRelease(msgspec.Struct, frozen=True):
    """``cann``: releases it is documented for. ``compatible``: documented as compatible (``8.5.X`` is a line).

    ``python``: versions for which there is a wheel, else documented ones. ``driver``: packages documented for it.
    ``like``: for a release that no document names, the documented one that was built from the same kernels.
    """

    torch: str
    table: bool
    cann: tuple[str, ...] = ()
    compatible: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    driver: tuple[str, ...] = ()
    like: str = ""


class CannRelease(msgspec.Struct, frozen=True):
    """``socs``: those with a table. ``nearest``: releases whose tables answer where there is none."""

    socs: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


class ReleasesFile(msgspec.Struct, frozen=True):
    """``…_order`` lists releases from the oldest to the newest."""

    schema: int
    sources: tuple[Source, ...]
    torch_npu_order: tuple[str, ...]
    cann_order: tuple[str, ...]
    torch_npu: dict[str, TorchNpuRelease]
    cann: dict[str, CannRelease]


class Soc(msgspec.Struct, frozen=True):
    title: str
    aliases: tuple[str, ...]
    warned: dict[str, str] = {}
    warned_zh: dict[str, str] = {}


class SocsFile(msgspec.Struct, frozen=True):
    """``warned`` aliases resolve with the warning given, which ``warned_zh`` has in Chinese."""

    schema: int
    sources: tuple[Source, ...]
    socs: dict[str, Soc]


class Correction(msgspec.Struct, frozen=True):
    """A reviewed correction of one API of a CANN table, applied when the table is built.

    ``supported`` replaces the documented yes or no. For each of ``parameters``: ``dtypes`` replaces the listed dtypes,
    ``add`` and ``remove`` change them; ``contested`` dtypes stay accepted, and the conflict is shown. ``signature``:
    the API's true parameters, as (kind letter, name). ``disputed``: what speaks against a documented absence. Empty
    ``cann``: every release.
    """

    id: str
    api: str
    socs: tuple[str, ...]
    evidence: str
    source: str
    date: str
    cann: tuple[str, ...] = ()
    supported: bool | None = None
    parameters: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    disputed: str = ""
    signature: tuple[tuple[str, str], ...] = ()


class Statement(msgspec.Struct, frozen=True):
    """A reviewed answer for operators, before any table is asked.

    It holds for calls of ``ops`` ("any": all) where one of the tensor dtypes is in ``dtypes`` ("any": all), on
    ``socs``, at ``cann`` and ``torch_npu`` releases (empty: every one), where the first tensor has one of ``ranks``
    dimensions (empty: any number).
    """

    id: str
    ops: tuple[str, ...]
    dtypes: tuple[str, ...]
    socs: tuple[str, ...]
    status: Literal["supported", "unsupported", "unknown"]
    evidence: str
    source: str
    date: str
    cann: tuple[str, ...] = ()
    torch_npu: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    code: ClaimCode = "ok"
    detail: str = ""
    kernels: tuple[str, ...] = ()
    host_sync: bool = False
    cpu_inside: bool = False
    ai_cpu: bool = False


class OverridesFile(msgspec.Struct, frozen=True):
    schema: int
    corrections: tuple[Correction, ...] = ()
    statements: tuple[Statement, ...] = ()


class Drop(msgspec.Struct, frozen=True):
    """Why a count of one table is lower at ``release`` than before: ``table`` as in ``cann/ascend910b apis``."""

    table: str
    release: str
    reason: str


class Unresolved(msgspec.Struct, frozen=True):
    """Kernels that are named but in no table, and why that is right."""

    kernels: tuple[str, ...]
    reason: str


class ExceptionsFile(msgspec.Struct, frozen=True):
    """What :mod:`opscan.matrix.lint` would complain about, stated with its reason."""

    schema: int
    drops: tuple[Drop, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


File = TypeVar("File", bound=msgspec.Struct)


def load(path: Path, kind: type[File]) -> File:
    """Decode one file of the matrix.

    Raises MatrixError where the file is missing, unreadable, from a newer schema, or does not fit: with file and key.
    """
    again = remedy(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise MatrixError(f"{path}: {error.strerror or error}", again) from error
    try:
        raw.decode("utf-8")  # the decoder does not look at what it skips
        schema = msgspec.json.decode(raw, type=_Header).schema
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MatrixError(f"{path}: {error}", again) from error
    if schema != SCHEMA:
        raise MatrixError(
            f"{path}: key schema is {schema}, this opscan reads {SCHEMA}",
            "Upgrade opscan." if schema > SCHEMA else again,
        )
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MatrixError(f"{path}: {_where(raw, kind)}{error}", again) from error


def remedy(path: Path) -> str:
    """What to do about a damaged file of the matrix."""
    return _REBUILD if path.is_relative_to(user_matrix_dir()) else _REINSTALL


def check_place(path: Path, **keys: str) -> None:
    """Raises MatrixError unless ``keys`` say what the last parts of ``path`` do."""
    parts = (*path.parts[:-1], path.name.removesuffix(".json"))[-len(keys) :]
    for (key, value), part in zip(keys.items(), parts, strict=True):
        if value != part:
            raise MatrixError(f"{path}: key {key} is {value!r}, but the file lies where {part!r} belongs", remedy(path))


class _Header(msgspec.Struct, frozen=True):
    schema: int


def _where(raw: bytes, kind: type[msgspec.Struct]) -> str:
    """The key of the first entry that does not fit, where the fault lies in a table (msgspec writes ``[...]``)."""
    document: dict[str, Any] = msgspec.json.decode(raw)
    hints = {field.name: field.type for field in msgspec.structs.fields(kind)}
    for table in ("ops", "apis", "torch_npu", "cann", "socs", "codes"):
        for key, entry in (document.get(table) or {}).items() if isinstance(document.get(table), dict) else ():
            try:
                msgspec.convert({key: entry}, hints[table], str_keys=True)
            except (msgspec.ValidationError, KeyError):
                return f"key {table}.{key}: "
    return ""
