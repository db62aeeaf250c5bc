"""Results of probes as a table of the matrix: ``measured/<torch_npu>/<soc>.json``.

They come from the file of a probe, or from the user's cache of results. A simulated device measures nothing, and what
ran out of time or memory tells nothing of an operator: neither becomes a measurement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import msgspec

from opscan.errors import MatrixError, OpscanError, UsageError
from opscan.matrix.build.writing import render, write
from opscan.matrix.data import is_there
from opscan.matrix.files import SCHEMA, MeasuredFile, MeasuredOp, Measurement, Source, load
from opscan.matrix.releases import soc_of
from opscan.probing.probed import SCHEMA as PROBE_SCHEMA
from opscan.probing.probed import Probed
from opscan.probing.protocol import Outcome, Versions
from opscan.probing.results import LASTING, Result, ResultsError, read_results, results_folder
from opscan.probing.signature import Signature

#: In place of a file: all that the user's cache holds.
CACHE = "cache"

#: Characters of an error's message that a table keeps.
_DETAIL = 300

Pair = tuple[Signature, Outcome]


def build_from_probe(source: str, destination: Path) -> list[Path]:
    """Write what ``source`` measured into tables below ``destination``, beside what they hold already.

    ``source``: the file that ``opscan probe --json`` wrote, a file of the cache, or ``cache``. Raises ResultsError for
    a damaged file, with its line; UsageError where it holds no measurement.
    """
    pairs, name = _read(source)
    tables: dict[tuple[str, str], dict[str, list[Measurement]]] = defaultdict(lambda: defaultdict(list))
    for signature, outcome in pairs:
        versions = outcome.versions
        if versions is None or versions.simulated or outcome.status not in LASTING:
            continue
        table = tables[_release(versions), _soc(versions)]
        table[signature.operator].append(_measurement(signature, outcome, versions))
    if not tables:
        raise UsageError(f"{source}: {_why_empty(pairs)}", "Only what an NPU measured goes into the matrix.")
    return [
        _write(destination / "measured" / release / f"{soc}.json", release, soc, name, ops)
        for (release, soc), ops in sorted(tables.items())
    ]


def _read(source: str) -> tuple[list[Pair], str]:
    """The pairs, and what to call their source in the table."""
    if source == CACHE:
        results = [r for path in sorted(results_folder().glob("*.jsonl")) for r in read_results(path)[0]]
        return [(r.signature, r.outcome) for r in results], "earlier probes"
    path = Path(source)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ResultsError(
            f"{source}: {error.strerror or error}", "Name a file that opscan probe --json wrote."
        ) from error
    if path.suffix == ".jsonl":
        return [(r.signature, r.outcome) for r in _read_lines(path, raw)], path.name
    return _read_probe(path, raw), path.name


def _read_lines(path: Path, raw: bytes) -> list[Result]:
    """Every line must read: a table is made on purpose, with nothing left out in silence."""
    found: dict[str, Result] = {}
    for number, line in enumerate(raw.splitlines(), 1):
        if line.strip():
            try:
                result = msgspec.json.decode(line, type=Result)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise _damaged(path, number, error, "Delete the line, or probe again.") from error
            found[result.signature.key] = result
    return list(found.values())


def _read_probe(path: Path, raw: bytes) -> list[Pair]:
    hint = "Name a file that opscan probe --json wrote, or write it again."
    try:
        header = msgspec.json.decode(raw, type=_Header)
        if header.kind != "probe" or header.schema != PROBE_SCHEMA:
            what = f"kind {header.kind!r}, schema {header.schema}"
            raise ResultsError(f"{path}: it is no file of a probe that this opscan reads ({what})", hint)
        probed = msgspec.json.decode(raw, type=Probed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(path, _line_of(raw, error), error, hint) from error
    return [(op.signature, op.outcome) for op in probed.ops]


class _Header(msgspec.Struct, frozen=True):
    schema: int = 0
    kind: str = ""


class _Op(msgspec.Struct, frozen=True):
    signature: Signature
    outcome: Outcome


def _line_of(raw: bytes, error: Exception) -> int:
    """The line of a fault: where the text breaks off or is malformed, else the first operation that does not fit."""
    words = str(error).split("byte ")
    if len(words) == 2 and words[1].rstrip(")").isdigit():
        return raw[: int(words[1].rstrip(")"))].count(b"\n") + 1
    for number, line in enumerate(raw.splitlines(), 1):
        text = line.strip().rstrip(b",")
        if text.startswith(b'{"key"'):
            try:
                msgspec.json.decode(text, type=_Op)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return number
    return raw.count(b"\n") + 1 if "truncated" in str(error) else 1


def _damaged(path: Path, line: int, error: Exception, hint: str) -> ResultsError:
    return ResultsError(f"{path}: line {line}: {error}", hint)


def _release(versions: Versions) -> str:
    """Without the commit that a build of one's own appends: ``2.6.0.post5+git1a2b``."""
    return versions.torch_npu.partition("+")[0]


def _soc(versions: Versions) -> str:
    try:
        return soc_of(versions.soc)
    except UsageError as error:
        raise UsageError(
            f"the results are of {versions.soc or 'an unnamed SoC'}, which the support matrix does not know", error.hint
        ) from error


def _measurement(signature: Signature, outcome: Outcome, versions: Versions) -> Measurement:
    if outcome.status not in ("native", "fallback", "refused", "wrong", "crashed"):
        raise ValueError(outcome.status)
    return Measurement(
        signature.key,
        versions.cann or "unknown",
        outcome.status,
        str(signature),
        " ".join(signature.dtypes),
        len(signature.tensors[0].shape) if signature.tensors else 0,
        tuple(dict.fromkeys(outcome.kernels)),
        tuple(dict.fromkeys(outcome.operators)),
        "" if outcome.status == "native" else _detail(outcome),
    )


def _detail(outcome: Outcome) -> str:
    words = " ".join(outcome.message.split())[:_DETAIL]
    return f"{outcome.code}: {words}" if outcome.code and outcome.code not in words else words


def _why_empty(pairs: list[Pair]) -> str:
    if not pairs:
        return "it holds no results"
    if all(outcome.versions is not None and outcome.versions.simulated for _, outcome in pairs):
        return "its results are of a simulated device"
    return "none of its results is a measurement"


def _write(path: Path, release: str, soc: str, source: str, ops: dict[str, list[Measurement]]) -> Path:
    """Beside what the table holds already; of one signature at one CANN the newer measurement counts."""
    before = load(path, MeasuredFile) if is_there(path) else MeasuredFile(SCHEMA, release, soc, (), {})
    if (before.release, before.soc) != (release, soc):
        raise MatrixError(
            f"{path}: it is of {before.release} on {before.soc}", "Delete it, or put it where it belongs."
        )
    names = sorted({*ops, *before.ops})
    merged = {
        name: MeasuredOp(_merged(before.ops[name].rows if name in before.ops else (), ops.get(name, ())))
        for name in names
    }
    sources = sorted({*(s.table for s in before.sources), source})
    file = MeasuredFile(SCHEMA, release, soc, tuple(Source(s) for s in sources), merged)
    try:
        write(path, render(file, ("ops",)))
    except OSError as error:
        raise OpscanError(f"{path}: {error.strerror or error}", "Choose another folder with --output.") from error
    return path


def _merged(before: Iterable[Measurement], more: Iterable[Measurement]) -> tuple[Measurement, ...]:
    rows = {(row.cann, row.key): row for row in (*before, *more)}
    return tuple(rows[key] for key in sorted(rows))
