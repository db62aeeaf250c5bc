"""``opscan matrix build``: rebuild a checkout from its sources, or add tables of the user's own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from opscan.cli.progress import Spinner
from opscan.errors import UsageError


@dataclass(frozen=True, slots=True)
class BuildArguments:
    """The options of a build, as typed."""

    wheel: str | None
    add: bool
    cann_home: Path | None
    source: Path | None
    cann: str | None
    from_probe: str | None
    output: Path | None
    check: bool


def build(arguments: BuildArguments) -> int:
    """0 where all files are written, or were as their sources yield them; 1 where a check found a difference."""
    asked = [arguments.wheel, arguments.cann_home, arguments.source, arguments.from_probe]
    if sum(a is not None for a in asked) > 1:
        raise UsageError(
            "--wheel, --cann-home, --source and --from-probe each build tables of their own", "Give one at a time."
        )
    if arguments.output is not None and arguments.from_probe is None:
        raise UsageError("--output says where the table of --from-probe goes", "Leave out --output.")
    if any(a is not None for a in asked):
        if arguments.check:
            raise UsageError("--check compares a checkout with its sources", "Leave out --check.")
        if arguments.add and arguments.wheel is None:
            raise UsageError("--add adds a wheel to the sources of a checkout", "Leave out --add, or give --wheel.")
        return _own_tables(arguments)
    if arguments.add:
        raise UsageError("--add needs a wheel to add", "Add --wheel RELEASE.")
    return _checkout(arguments.check)


def _own_tables(arguments: BuildArguments) -> int:
    from opscan.matrix.data import user_matrix_dir

    destination = _checkout_root() if arguments.add else user_matrix_dir()
    if arguments.wheel is not None:
        from opscan.matrix.build.wheel_build import build_wheel

        written = build_wheel(arguments.wheel, destination, _say)
    elif arguments.cann_home is not None:
        from opscan.matrix.build.cann_home import build_cann_home

        written = build_cann_home(arguments.cann_home, destination, _say, arguments.cann)
    elif arguments.from_probe is not None:
        from opscan.probing.measurements import build_from_probe

        written = build_from_probe(arguments.from_probe, arguments.output or destination)
    else:
        from opscan.matrix.build.source_tree import build_source

        assert arguments.source is not None
        if arguments.cann is None:
            raise UsageError("--source does not tell its CANN release", "Add --cann RELEASE, as in --cann 9.1.0.")
        written = build_source(arguments.source, arguments.cann, destination, _say)
    for path in written:
        print(f"wrote {path}")
    return 0


def _say(message: str) -> None:
    """What was read, and what was left out and why: worth keeping, so a line each."""
    from opscan.rendering.inert import inert

    print(inert(message), file=sys.stderr)


def _checkout_root() -> Path:
    """``support_matrix/`` with its raw tables. Raises UsageError where they are not there."""
    from opscan.matrix.data import support_matrix_dir

    root = support_matrix_dir()
    if not (root / "sources").is_dir():
        raise UsageError(
            "The support matrix is built from support_matrix/sources/, which an installed opscan does not carry.",
            "Run this in a checkout, installed with pip install -e ., or add tables of your own: "
            "--wheel, --cann-home or --source.",
        )
    return root


def _checkout(check_only: bool) -> int:
    from opscan.matrix.build import build_all, check

    root = _checkout_root()
    with Spinner() as spinner:
        spinner.update("reading raw tables")
        if check_only:
            differing = check(root)
            for path in differing:
                print(f"differs from its sources: {path}")
            return 1 if differing else 0
        written = build_all(root)
    for path in written:
        print(f"wrote {path}")
    return 0
