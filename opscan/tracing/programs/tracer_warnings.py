"""Warnings of ``torch.jit.trace`` as findings: what it took for a constant, and what it may have lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from warnings import WarningMessage

from torch.jit._trace import TracerWarning

from opscan.inventory import Finding, Location
from opscan.tracing.source import SourceLocator

_CONVERTING = re.compile(r"Converting a tensor to a (Python \w+|NumPy \w+)")
_REGISTERED = re.compile(r"^([\w.]+) results are registered as constants")
_WRITING = re.compile(r"live references to the data region being modified when tracing in-place operator (\w+)")

#: What a warning begins with, and what is fixed there.
_FIXED = {"Using len": "the length of a tensor (len)", "Iterating over": "how many rows a loop over a tensor has"}


def findings_of(caught: Iterable[WarningMessage], locator: SourceLocator) -> list[Finding]:
    """One finding for each line and thing."""
    found: dict[tuple[object, ...], Finding] = {}
    for warning in caught:
        if issubclass(warning.category, TracerWarning):
            for finding in _of(warning, locator):
                found.setdefault((finding.rule, tuple(finding.facts.values()), finding.locations), finding)
    return list(found.values())


def _of(warning: WarningMessage, locator: SourceLocator) -> Iterator[Finding]:
    text = str(warning.message)
    where = locator.innermost_of([(warning.filename, warning.lineno)])
    if where is None:  # code of torch's own, whose values are those of its arguments
        return
    locations = (Location(*where),)
    if match := _CONVERTING.search(text):
        yield Finding("OPS603", {"what": f"a {match.group(1)}", "answer": "what these inputs give"}, locations)
    elif match := _REGISTERED.search(text):
        yield Finding("OPS631", {"what": f"the result of {match.group(1)}"}, locations)
    elif match := _WRITING.search(text):
        yield Finding("OPS633", {"what": f"aten::{match.group(1)}"}, locations)
    else:
        for beginning, what in _FIXED.items():
            if text.startswith(beginning):
                yield Finding("OPS632", {"what": what}, locations)
