"""``opscan doctor``: what is installed, whether it fits together, and what has changed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from opscan.cli.choices import language
from opscan.cli.doctor_text import print_changes, print_checks
from opscan.cli.progress import Spinner
from opscan.doctor.checks.interface import Check
from opscan.doctor.facts import Facts
from opscan.doctor.inspection import here, inspect
from opscan.doctor.judge import judge
from opscan.doctor.snapshot import Change, commands_back, compare, read_snapshot, write_snapshot
from opscan.errors import UsageError
from opscan.rendering.interface import Lang
from opscan.rendering.write import STDOUT, check_writable

#: The schema number of what ``--json`` prints.
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class DoctorArguments:
    lang: str | None
    json: bool
    snapshot: str | None
    compare: str | None


def run(arguments: DoctorArguments) -> int:
    """Print what was found; 1 where a part does not fit, or with ``--compare`` where anything differs, else 0."""
    lang = language(arguments.lang)
    if arguments.snapshot == STDOUT:
        raise UsageError("--snapshot -: a snapshot is a file.", "--json prints the same facts on stdout.")
    before = read_snapshot(Path(arguments.compare)) if arguments.compare is not None else None
    if arguments.snapshot is not None:
        check_writable(arguments.snapshot)
    with Spinner() as spinner:
        facts = inspect(here(), spinner.update)
    changes = compare(before, facts) if before is not None else None
    checks = judge(facts)
    if arguments.snapshot is not None:
        write_snapshot(arguments.snapshot, facts)
    if arguments.json:
        _print_json(facts, checks, changes, lang)
    elif before is not None and changes is not None:
        print_changes(before.taken, changes, lang)
    else:
        print_checks(checks, lang)
    if changes is not None:
        return 1 if changes else 0
    return 1 if any(check.status == "problem" for check in checks) else 0


def _print_json(facts: Facts, checks: tuple[Check, ...], changes: tuple[Change, ...] | None, lang: Lang) -> None:
    document: dict[str, Any] = {
        "schema": _SCHEMA,
        "passed": not any(check.status == "problem" for check in checks),
        "checks": [
            {
                "subject": check.subject,
                "status": check.status,
                "says": check.says.in_(lang),
                "next": check.next.in_(lang) if check.next else None,
            }
            for check in checks
        ],
        "facts": msgspec.to_builtins(facts),
    }
    if changes is not None:
        document["changes"] = [
            {
                "subject": change.subject,
                "before": change.before or None,
                "now": change.now or None,
                "commands": change.commands,
                "advice": change.advice.in_(lang) if change.advice else None,
            }
            for change in changes
        ]
        document["commands"] = commands_back(changes)
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n")
