"""The assessment as JSON, and back: the contract that other tools read, explained key by key in ``docs/json.md``."""

from __future__ import annotations

import codecs
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import msgspec

from opscan.assessment import VERDICTS, Assessment
from opscan.errors import OpscanError
from opscan.rendering.inert import inert

#: The only version of the contract there is. A new key does not need a new version; a changed meaning does.
SCHEMA = 1

_HINT = "Scan the model again with --json PATH to get a sound report."

_T = TypeVar("_T")


def render_json(assessment: Assessment) -> str:
    """Pretty-printed JSON that ends in a newline. The same assessment gives the same text."""
    try:
        data = msgspec.json.encode(assessment, order="deterministic")
    except UnicodeEncodeError:
        data = msgspec.json.encode(_storable(msgspec.to_builtins(assessment)), order="deterministic")
    return msgspec.json.format(data, indent=2).decode("utf-8") + "\n"


def load_assessment(data: bytes) -> Assessment:
    """Read what :func:`render_json` wrote. Keys that this version does not know are ignored.

    Raises OpscanError, which names the key, where the data is not a report, is damaged, or contradicts itself.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    schema = _decode(data, _Header).schema
    if schema != SCHEMA:
        raise OpscanError(
            f"The report has schema {schema}; this opscan reads schema {SCHEMA}.",
            "Render it with the version of opscan that wrote it, or scan the model again.",
        )
    assessment = _decode(data, Assessment)
    _check_summary(assessment)
    return assessment


@dataclass(frozen=True, slots=True)
class _Header:
    schema: int


def _decode(data: bytes, type_: type[_T]) -> _T:
    try:
        return msgspec.json.decode(data, type=type_)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        key = path.rstrip("`").lstrip(".") or "the top level"
        raise OpscanError(f"The report is damaged at {inert(key)}: {inert(problem)}.", _HINT) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise OpscanError(f"The report is not JSON: {inert(str(error))}.", _HINT) from error


def _check_summary(assessment: Assessment) -> None:
    """The summary decides the headline, so it must be the sum of what the report lists."""
    verdicts = Counter(op.verdict for op in assessment.ops)
    expected: dict[str, int] = {verdict: verdicts[verdict] for verdict in VERDICTS}
    expected["ops"] = len(assessment.ops)
    expected["calls"] = sum(op.count for op in assessment.ops)
    for key, found in asdict(assessment.summary).items():
        if found != expected[key]:
            raise OpscanError(
                f"The report is damaged at summary.{key}: it says {found}, but ops add up to {expected[key]}.", _HINT
            )


def _storable(value: Any) -> Any:
    """The same tree where a path that is not text, whose bytes JSON cannot hold, is written with escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value
