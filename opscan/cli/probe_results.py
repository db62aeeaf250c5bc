"""``opscan probe --list-results`` and ``--clear-results``: what earlier probes left in the user's cache."""

from __future__ import annotations

import sys


def list_results() -> int:
    """One line a file: what it holds for, and how its signatures ended."""
    from opscan.probing.results import kept_results, results_folder
    from opscan.rendering.screen import Screen
    from opscan.rendering.table import print_table
    from opscan.rendering.terminal import summary_console

    screen = Screen(summary_console(sys.stdout))
    kept = kept_results()
    if not kept:
        screen.line([(f"No results of earlier probes in {results_folder()}.", "")])
        return 0
    rows = [
        (
            file.versions.torch_npu,
            file.versions.cann,
            file.versions.soc,
            ", ".join(f"{count} {status}" for status, count in file.counts.items()) or "none that counts any more",
            str(file.damaged),
            str(file.path),
        )
        for file in kept
    ]
    print_table(screen, ("torch_npu", "CANN", "SoC", "signatures", "damaged lines", "file"), rows)
    return 0


def clear_results() -> int:
    """Delete them all."""
    from opscan.probing.results import clear_results as clear
    from opscan.probing.results import results_folder

    count = clear()
    print(f"deleted {count} file{'' if count == 1 else 's'} of results in {results_folder()}")
    return 0
