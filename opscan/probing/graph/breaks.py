"""Where dynamo leaves the graph: what it could not capture runs in eager mode, between two graphs or in place of one.

dynamo tells a structured log of each break: the text names the user's lines and the reason.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo.convert_frame

from opscan.probing.graph.places import frames
from opscan.tracing.patches import Patches
from opscan.tracing.source import SourceLocator

#: Set where the command line has ``--debug``.
_DEBUG = "OPSCAN_DEBUG"

_ARTIFACT = "dynamo_graph_break_reason"

#: What dynamo writes before the reason itself, and where it explains it.
_TITLE = re.compile(r"^(?:Graph Break )?Reason:", re.M)
_LEADS_ON = re.compile(r"(when attempting to trace|encountered:|cannot properly resume)", re.I)
_EXPLANATION = re.compile(r"^\s*Explanation:\s*(.+)$", re.M)
_SENTENCE = re.compile(r"\.\s+(?=[A-Z])|\.$")
_ERROR = re.compile(r"^[\w.]*(?:Error|Unsupported|Exception): (.+)$", re.M)
_CODE = re.compile(r"Graph break in user code at (?P<file>.+):(?P<line>\d+)")
_FUNCTION = re.compile(r"\((?P<file>[^()\n]+) line (?P<line>\d+)\)")
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
    """Every break of one model, the first of several reports of a line. ``told``: whether this torch tells of them."""

    def __init__(self, locator: SourceLocator) -> None:
        self.told = False
        self._locator = locator
        self._found: dict[tuple[str, int] | str, GraphBreak] = {}

    def __iter__(self) -> Iterator[GraphBreak]:
        return iter(self._found.values())

    def __bool__(self) -> bool:
        return bool(self._found)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Listen to dynamo. What it would write itself is left to the findings."""
        log: Any = torch._logging
        patches = Patches()
        try:
            if hasattr(log, "trace_structured"):
                self.told = True
                patches.set(log, "trace_structured", self._listen(log.trace_structured))
            with _quiet(), _asked_for(torch._dynamo.convert_frame):
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
        if not stack and (code := _CODE.search(told) or _FUNCTION.search(told)) is not None:
            stack = [(code["file"], int(code["line"]))]
        place = self._locator.innermost_of(stack)
        found = GraphBreak(_reason(text), place, _WHOLE_FUNCTION.search(told) is not None)
        self._found.setdefault(place or found.reason, found)


def _reason(text: str) -> str:
    """One line of readable length: the kind of break, and the first sentence of dynamo's explanation."""
    parts = _TITLE.split(text, maxsplit=1)
    told = parts[1] if len(parts) > 1 else "".join(_ERROR.findall(text)[-1:]) or text
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    kind = next((line for line in lines if not _LEADS_ON.search(line)), lines[0] if lines else "no reason given")
    explained = _EXPLANATION.search(told)
    sentences = [kind, *([explained[1]] if explained else [])]
    return ": ".join(_SENTENCE.split(sentence.strip())[0] for sentence in sentences)[:300]


#: What dynamo quotes of the error that it met while it looked for a shape.
_QUOTED = re.compile(r"got (\w+)\((['\"])(.*?)(?:\\n|\2\))", re.S)


def own_words(error: BaseException) -> str:
    """What made torch.compile raise, without dynamo's account of it."""
    text = str(error)
    if (quoted := _QUOTED.search(text)) is not None:
        return f"{quoted[1]}: {quoted[3].strip()[:300].rstrip('.')}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    while len(lines) > 1 and lines[0].startswith(("Failed running", "Dynamo failed to run")):
        lines.pop(0)
    return f"{type(error).__name__}: {lines[0][:300].rstrip('.')}" if lines else type(error).__name__


@contextmanager
def _asked_for(module: Any) -> Iterator[None]:
    """dynamo tells of a function that it leaves to eager mode only where its log of graph breaks is turned on."""
    log: logging.Logger | None = getattr(module, "graph_break_log", None)
    if log is None:
        yield
        return
    level, propagate = log.level, log.propagate
    log.setLevel(logging.DEBUG)
    log.propagate = False
    silent = logging.NullHandler()
    log.addHandler(silent)
    try:
        yield
    finally:
        log.removeHandler(silent)
        log.setLevel(level)
        log.propagate = propagate


@contextmanager
def _quiet() -> Iterator[None]:
    """dynamo warns on its own account: of breaks, of what it cannot trace, of functions that it compiles again and
    again. The findings say it with the user's line. ``--debug`` leaves it on stderr; what the model itself warns of
    stays there in any case.
    """
    if os.environ.get(_DEBUG):
        yield
        return
    log = logging.getLogger("torch._dynamo")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"torch\._dynamo\b")
            yield
    finally:
        log.setLevel(level)
