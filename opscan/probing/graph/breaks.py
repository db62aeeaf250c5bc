"""Where dynamo leaves the graph: what it could not capture runs in eager mode, between two graphs or in place of one.

dynamo tells a structured log of each break: the text names the user's lines and the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from opscan.probing.graph.nodes import frames
from opscan.tracing.patches import Patches
from opscan.tracing.source import SourceLocator

_ARTIFACT = "dynamo_graph_break_reason"

#: What dynamo writes before the reason itself, and where it explains it.
_TITLE = "Graph Break Reason:"
_LEADS_ON = re.compile(r"(when attempting to trace|encountered:|cannot properly resume)", re.I)
_EXPLANATION = re.compile(r"^\s*Explanation:\s*(.+)$", re.M)
_SENTENCE = re.compile(r"\.\s+(?=[A-Z])|\.$")
_ERROR = re.compile(r"^[\w.]*(?:Error|Unsupported|Exception): (.+)$", re.M)
_CODE = re.compile(r"Graph break in user code at (?P<file>.+):(?P<line>\d+)")
_WHOLE_FUNCTION = re.compile(r"fall(?:ing)? back to eager|kipping the (?:rest of the )?function")


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """``place``: (file to show, line), None where no line of the user's or a library's is known. ``whole``: the whole
    function runs in eager mode.
    """

    reason: str
    place: tuple[str, int] | None
    whole: bool = False


class GraphBreaks:
    """Every break of one model, the first of several reports of a line."""

    def __init__(self, locator: SourceLocator) -> None:
        self._locator = locator
        self._found: dict[tuple[str, int] | str, GraphBreak] = {}

    def __iter__(self) -> Iterator[GraphBreak]:
        return iter(self._found.values())

    @contextmanager
    def following(self) -> Iterator[None]:
        patches = Patches()
        try:
            log: Any = torch._logging
            patches.set(log, "trace_structured", self._listen(log.trace_structured))
            yield
        finally:
            patches.undo()

    def _listen(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def trace_structured(name: str, metadata_fn: Callable[[], Any] = dict, *args: Any, **kwargs: Any) -> Any:
            if name == "artifact" and metadata_fn().get("name") == _ARTIFACT:
                self._note(str(kwargs["payload_fn"]()))
            return original(name, metadata_fn, *args, **kwargs)

        return trace_structured

    def _note(self, text: str) -> None:
        told = text.partition("Traceback (most recent call last)")[0]
        stack = list(frames(told))
        if not stack and (code := _CODE.search(told)) is not None:
            stack = [(code["file"], int(code["line"]))]
        place = self._locator.innermost_of(stack)
        found = GraphBreak(_reason(text), place, _WHOLE_FUNCTION.search(told) is not None)
        self._found.setdefault(place or found.reason, found)


def _reason(text: str) -> str:
    """One line of readable length: the kind of break, and the first sentence of dynamo's explanation."""
    told = text.partition(_TITLE)[2] or "".join(_ERROR.findall(text)[-1:]) or text
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    kind = next((line for line in lines if not _LEADS_ON.search(line)), lines[0] if lines else "no reason given")
    explained = _EXPLANATION.search(told)
    parts = [kind, *([explained[1]] if explained else [])]
    return ": ".join(_SENTENCE.split(part.strip())[0] for part in parts)[:300]
