"""Calls made from lines of source that a program names: who looks at the stack sees them there."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

#: A line of a source file.
Line = tuple[str, int]

#: ``call(function, args, kwargs)``.
Call = Callable[[Callable[..., Any], Any, dict[str, Any]], Any]


def plainly(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


@functools.cache
def from_lines(lines: tuple[Line, ...]) -> Call:
    """Calls a function from frames that stand at these lines, outermost first."""
    call: Call = plainly
    for file, line in reversed(lines):
        call = _through(_at(file, line), call)
    return call


def _through(outer: Call, inner: Call) -> Call:
    if inner is plainly:
        return outer
    return lambda function, args, kwargs: outer(inner, (function, args, kwargs), {})


@functools.cache
def _at(file: str, line: int) -> Call:
    # One line, so that the frame's line is the first of its code.
    def call(function, args, kwargs): return function(*args, **kwargs)  # type: ignore[no-untyped-def]  # fmt: skip

    code = call.__code__.replace(co_filename=file, co_firstlineno=line, co_name="forward")
    return FunctionType(code, {"__builtins__": builtins})
