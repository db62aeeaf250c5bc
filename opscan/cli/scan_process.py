"""The program of one scan of a batch: ``opscan scan`` with the arguments given, for as long as the batch lives."""

from __future__ import annotations

import os
import sys


def _import_path() -> None:
    """A script's own folder leads the path; the package's parent belongs there instead, and last, in case it is not
    installed.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.realpath(p or ".") != here]
    sys.path.append(os.path.dirname(os.path.dirname(here)))


if __name__ == "__main__":
    _import_path()
    from opscan.child_process import die_with_the_parent

    die_with_the_parent()
    from opscan.cli.main import main

    main()
