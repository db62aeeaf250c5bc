"""Arguments for what builds a model: ``--arg hidden=256``. No torch here."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import msgspec

from opscan.errors import LoadError, UsageError
from opscan.loading.signature import parameters_of, required


class Argument(msgspec.Struct, frozen=True):
    """A name, and its value as a Python literal."""

    name: str
    literal: str

    @property
    def value(self) -> Any:
        return ast.literal_eval(self.literal)


def parse_argument(text: str) -> Argument:
    """``hidden=256``, ``layers=[1, 2]``, ``act=relu``: a Python literal, else a word. Raises UsageError."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not name.isidentifier():
        raise UsageError(f"--arg {text!r} names no parameter.", "Write it as --arg hidden=256")
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if not value or any(c in value for c in "()[]{}'\"=,"):
            raise UsageError(
                f"--arg {text!r}: the value is no Python literal.",
                "Write numbers, strings, True, None, or lists and dicts of them: --arg 'widths=[32, 64]'",
            ) from None
        value = repr(value)
    return Argument(name, value)


def fits(factory: Callable[..., Any], arguments: tuple[Argument, ...]) -> bool:
    """Whether ``factory`` takes all the arguments and needs no others."""
    return not _unknown(factory, arguments) and not _missing(factory, arguments)


def call(factory: Callable[..., Any], arguments: tuple[Argument, ...], what: str) -> Any:
    """``factory(**arguments)``. Raises LoadError where they do not fit, naming what it takes."""
    for name in _unknown(factory, arguments):
        raise LoadError(f"--arg {name}=…: {what} has no parameter of that name.", f"It takes: {_takes(factory)}.")
    missing = _missing(factory, arguments)
    if missing:
        is_class = inspect.isclass(factory)
        otherwise = "add a function build_model() that returns it as you use it" if is_class else "give them defaults"
        raise LoadError(
            f"{what} needs {'constructor ' if is_class else ''}arguments: {', '.join(missing)}.",
            f"Give them: {as_options(factory, arguments)} — or {otherwise}.",
        )
    return factory(**{a.name: a.value for a in arguments})


def as_options(factory: Callable[..., Any], arguments: tuple[Argument, ...] = ()) -> str:
    """How to give what is missing: ``--arg width=… --arg depth=…``."""
    return " ".join(f"--arg {name}=…" for name in _missing(factory, arguments))


def refuse(arguments: tuple[Argument, ...], what: str) -> None:
    """Raises LoadError where there are any: ``what`` is built already."""
    if arguments:
        raise LoadError(
            f"--arg {arguments[0].name}=…: {what} is built already.",
            "Name a class or a function that builds the model, or leave --arg away.",
        )


def refuse_names(arguments: tuple[Argument, ...], names: tuple[str, ...], why: str) -> None:
    """Raises LoadError where one of ``names`` is given."""
    for argument in arguments:
        if argument.name in names:
            raise LoadError(f"--arg {argument.name}=…: {why}", "Leave it away: operators do not depend on the weights.")


def _unknown(factory: Callable[..., Any], arguments: tuple[Argument, ...]) -> list[str]:
    parameters = parameters_of(factory)
    if parameters is None or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return []
    return [a.name for a in arguments if a.name not in parameters]


def _missing(factory: Callable[..., Any], arguments: tuple[Argument, ...]) -> list[str]:
    given = {a.name for a in arguments}
    return [name for name in required(factory) if name not in given]


def _takes(factory: Callable[..., Any]) -> str:
    names = [
        name if p.default is inspect.Parameter.empty else f"{name}={p.default!r}"
        for name, p in (parameters_of(factory) or {}).items()
        if p.kind is not inspect.Parameter.VAR_POSITIONAL
    ]
    return ", ".join(names[:20]) or "nothing"
