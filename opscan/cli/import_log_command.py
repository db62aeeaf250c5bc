"""``opscan import-log``: logs and profiles of real runs, as observations about operators."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from opscan import __version__
from opscan.cli.choices import language
from opscan.cli.progress import Spinner
from opscan.errors import OpscanError, UsageError
from opscan.explanation import Explanation
from opscan.importing.comparison import Comparison, compare
from opscan.importing.observations import Imported
from opscan.importing.reading import import_files
from opscan.matrix.errors_file import ErrorCodes
from opscan.rendering.interface import Lang

#: The schema number of what ``--json`` prints.
_SCHEMA = 1

CONTRADICTED, INCOMPLETE = 1, 3


@dataclass(frozen=True, slots=True)
class ImportLogArguments:
    files: tuple[str, ...]
    model_report: str | None
    json: bool
    lang: str | None


def run(arguments: ImportLogArguments) -> int:
    """Print what was found; 1 where it contradicts the report, 3 where nothing was recognised in one of several files.

    Raises UsageError where nothing was recognised in any.
    """
    lang = language(arguments.lang)
    report = Path(arguments.model_report) if arguments.model_report is not None else None
    assessment = _assessment(report) if report is not None else None
    codes = ErrorCodes.load()
    with Spinner() as spinner:
        imported = import_files([Path(file) for file in arguments.files], codes, spinner.update)
    unknown = [file.number for file in imported.files if file.kinds == ("text",)]
    if len(unknown) == len(imported.files):
        raise UsageError(
            "No line was recognised in what was given: no message of ATC, torch_npu or CANN, and no table of the "
            "profiler.",
            "Give the output of atc, of a run with torch_npu (stderr, too), files of ~/ascend/log, or "
            "op_summary_*.csv, kernel_details.csv, op_statistic_*.csv.",
        )
    explanations = _explanations(imported, lang)
    comparison = compare(imported, assessment, codes) if assessment is not None else None
    if arguments.json:
        _print_json(imported, explanations, comparison)
    else:
        from opscan.cli.import_log_text import print_imported

        print_imported(imported, explanations, comparison, lang)
    if comparison is not None and comparison.contradicted:
        return CONTRADICTED
    return INCOMPLETE if unknown else 0


def _assessment(path: Path) -> Any:
    from opscan.rendering.json import load_assessment

    try:
        return load_assessment(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"Cannot read {path}: {reason}.", "Name a report: opscan model.py --json REPORT.json"
        ) from error
    except OpscanError as error:
        raise UsageError(f"{path}: {error.message}", error.hint) from error


def _explanations(imported: Imported, lang: Lang) -> dict[str, Explanation]:
    """What each code means, as ``opscan explain`` says it."""
    from opscan.explain import explain

    named = (*(seen.code for seen in imported.codes), *(each.code for each in imported.observations))
    found = {code: explain(code, lang) for code in dict.fromkeys(named) if code}
    return {code: explanation for code, explanation in found.items() if explanation is not None}


def _print_json(imported: Imported, explanations: dict[str, Explanation], comparison: Comparison | None) -> None:
    document: dict[str, Any] = {
        "schema": _SCHEMA,
        "tool": {"version": __version__},
        "files": msgspec.to_builtins(imported.files),
        "observations": msgspec.to_builtins(imported.observations),
        "dropped": imported.dropped,
        "codes": [
            {"code": seen.code, "count": seen.count, **_explained(explanations.get(seen.code))}
            for seen in imported.codes
        ],
    }
    if comparison is not None:
        document["comparison"] = {
            "target": msgspec.to_builtins(comparison.target),
            "contradicted": comparison.contradicted,
            "results": msgspec.to_builtins(comparison.results),
            "silent": comparison.silent,
        }
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n")


def _explained(explanation: Explanation | None) -> dict[str, Any]:
    if explanation is None:
        return {"title": None, "about": None, "next": None, "rules": []}
    return {
        "title": explanation.title,
        "about": explanation.about,
        "next": explanation.next,
        "rules": [rule.code for rule in explanation.rules],
    }
