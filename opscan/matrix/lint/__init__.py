"""Checks of the whole matrix: the form of each file, and that the files agree with each other.

One file a check; each yields problems. What is known and accepted is stated, with its reason, in
``support_matrix/exceptions.json``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from opscan.matrix.data import find_table
from opscan.matrix.files import ExceptionsFile, load
from opscan.matrix.lint import betas, contradictions, counts, forms, kernels, releases
from opscan.matrix.lint.problem import Problem

_CHECKS: dict[str, Callable[[tuple[Path, ...], ExceptionsFile], Iterator[Problem]]] = {
    "releases and SoCs": releases.check,
    "kernels": kernels.check,
    "contradictions": contradictions.check,
    "counts": counts.check,
    "betas": betas.check,
}


def lint(roots: tuple[Path, ...], progress: Callable[[str], None] = lambda _: None) -> tuple[Problem, ...]:
    """Every problem of the matrix below ``roots``; the checks between files run only where each file fits its form."""
    progress("forms")
    own = (replace(p, file=str(root / p.file)) for root in roots[:-1] for p in forms.check(root))
    problems = (*own, *forms.check(roots[-1]))
    if problems:
        return problems
    path = find_table(roots, "exceptions.json")
    stated = load(path, ExceptionsFile) if path else ExceptionsFile(1)
    found: list[Problem] = []
    for name, check in _CHECKS.items():
        progress(name)
        found += check(roots, stated)
    return tuple(found)
