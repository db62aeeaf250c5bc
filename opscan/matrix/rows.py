"""Finding the observed rows that tell of a call, by the dtypes of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from opscan.matrix.files import Row
from opscan.matrix.launches import LEGACY

Dtypes = tuple[str, ...]


def collapse(dtypes: Iterable[str]) -> Dtypes:
    """Without consecutive repeats: a list of another length or an optional bias does not change the kernels' dtypes."""
    return tuple(dtype for dtype, _ in groupby(dtypes))


#: From the closest to the loosest way in which an observed call can stand for another one.
_LEVELS: tuple[Callable[[Dtypes], object], ...] = (tuple, collapse, frozenset)


def match_rows(rows: tuple[Row, ...], dtypes: Dtypes, results: Dtypes = ()) -> tuple[Row, ...]:
    """The rows at the closest level at which any match: equal dtypes, equal without repeats, the same set.

    An operator that was only ever seen without tensor arguments is matched by its results.
    """
    if dtypes and rows and not any(row.dtypes for row in rows):
        dtypes, results = (), results or dtypes
    for level in _LEVELS:
        found = tuple(row for row in rows if level(tuple(row.dtypes.split())) == level(dtypes))
        if found:
            return _with_results(found, results)
    return ()


def _with_results(rows: tuple[Row, ...], results: Dtypes) -> tuple[Row, ...]:
    """Of rows that match the arguments, those that match the results; rows without recorded results match weakly.

    A caller may know fewer results than were recorded (undefined tensors), or more: one set must hold the other. Of
    several results the first is the data: indices and masks beside it have another dtype on some chips.
    """
    if not results:
        return rows
    same = tuple(row for row in rows if row.results and _nested(frozenset(row.results.split()), frozenset(results)))
    if same:
        return same
    blank = tuple(row for row in rows if not row.results)
    touched = tuple(row for row in blank if set(results) <= _tensor_dtypes(row))
    silent = tuple(row for row in blank if not row.kernels or row.refused)
    return (
        touched or silent or tuple(row for row in rows if len(results) > 1 and row.results.split()[:1] == [results[0]])
    )


def _nested(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _tensor_dtypes(row: Row) -> set[str]:
    """The dtypes in a row's launches: ``T:`` and ``L:`` words, and every word of a launch of the legacy path."""
    found: set[str] = set()
    for kernel in row.kernels:
        words = kernel.rpartition("[")[2].rstrip("]").split()
        if kernel.startswith(LEGACY):
            found |= {word for word in words if word not in (">", "null")}
        else:
            found |= {dtype for word in words if word[:2] in ("T:", "L:") for dtype in word[2:].split(",")}
    return found
