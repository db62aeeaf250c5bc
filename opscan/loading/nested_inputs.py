"""Values and containers among the inputs of the command line.

A value is a Python literal, or a word, with ``:value`` behind it: ``2.0:value``, ``mean:value``. A list, tuple or dict
is written as in Python, with a tensor for each element, its sizes separated by ``x``: ``[3x8x8, 3x6x7:uint8]``,
``{boxes: 4x4, 'labels': 4:int64}``. Literals that are no sizes (``None``, ``True``, ``0.5``, ``'mean'``) stand for
themselves inside a container. Brackets that hold numbers alone are a shape: ``[1, 3, 8, 8]``.
"""

from __future__ import annotations

import ast
import re
import warnings

from opscan.errors import UsageError
from opscan.loading.inputs import ContainerSpec, Input, InputSpec, ValueSpec, parse_tensor

_CLOSES = {"[": "]", "(": ")", "{": "}"}
_VALUE = ":value"
_EXAMPLES = "Write --input scale=2.0:value, --input 'images=[3x224x224, 3x200x300]' or --input 'x={a: 1x8, b: 4:int64}'"

#: Nesting beyond this is no input of a model, and would exhaust the stack.
_DEEPEST = 20


def is_nested(text: str) -> bool:
    """Whether the text is a value or a container, rather than one tensor."""
    text = text.strip()
    if text.endswith(_VALUE):
        return True
    if not text.startswith(tuple(_CLOSES)):
        return False
    inner = text[1:-1]
    closed = text.endswith(_CLOSES[text[0]])
    return closed and (text[0] == "{" or bool(re.search(r"[^\d,\s]", inner)))


def parse_nested(name: str | None, text: str, option: str) -> Input:
    """A value or a container, by the name of its parameter. Raises UsageError."""
    return _Parser(option, text)(name, text, 0)


class _Parser:
    """``whole`` is the text as the user wrote it, for messages."""

    def __init__(self, option: str, whole: str) -> None:
        self._option = option
        self._whole = whole

    def __call__(self, name: str | None, text: str, depth: int) -> Input:
        text = text.strip()
        if depth > _DEEPEST:
            raise self._refused("is nested too deeply")
        if text.endswith(_VALUE):
            return self._value(name, text.removesuffix(_VALUE))
        if text[:1] in _CLOSES and text.endswith(_CLOSES[text[:1]]) and (depth == 0 or not _is_shape(text)):
            return self._container(name, text, depth)
        if depth > 0 and _is_literal(text) and not text.isdecimal() and not _is_shape(text):
            return ValueSpec(name, text)
        if text.endswith(":"):
            raise self._refused(f"names no dtype behind {text!r}")
        return parse_tensor(name, text, self._option, "[3x224x224, 4:int64]")

    def _value(self, name: str | None, text: str) -> ValueSpec:
        text = text.strip()
        literal = repr(text) if text.isidentifier() and not _is_literal(text) else text
        if not _is_literal(literal):
            raise self._refused(f"holds {text!r}, which is no Python literal")
        return ValueSpec(name, literal)

    def _container(self, name: str | None, text: str, depth: int) -> ContainerSpec:
        parts = self._split(text[1:-1], ",")
        if text[0] == "{":
            pairs = [self._pair(part) for part in parts]
            items = tuple(self(None, item, depth + 1) for _, item in pairs)
            return ContainerSpec(name, "dict", items, tuple(key for key, _ in pairs))
        items = tuple(self(None, part, depth + 1) for part in parts)
        return ContainerSpec(name, "list" if text[0] == "[" else "tuple", items)

    def _pair(self, text: str) -> tuple[str, str]:
        """A key, as a literal, and the text of its value; a bare word is a string."""
        key, *rest = self._split(text, ":")
        key = key.strip()
        if not rest:
            raise self._refused(f"holds {text.strip()!r}, which has no key")
        if key.isidentifier() and key not in ("None", "True", "False"):
            key = repr(key)
        if not _is_literal(key):
            raise self._refused(f"holds the key {key!r}, which is no Python literal")
        try:
            hash(ast.literal_eval(key))
        except TypeError:
            raise self._refused(f"holds the key {key!r}, which no dict takes") from None
        return key, ":".join(rest)

    def _split(self, text: str, separator: str) -> list[str]:
        """At the separators that stand outside brackets and quotes; nothing for what is behind the last."""
        parts, start, closing, quote = [], 0, "", ""
        for index, character in enumerate(text):
            if quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif character in _CLOSES:
                closing += _CLOSES[character]
            elif closing and character == closing[-1]:
                closing = closing[:-1]
            elif character in ")]}":
                raise self._refused(f"closes a bracket {character!r} that is not open")
            elif character == separator and not closing:
                parts.append(text[start:index])
                start = index + 1
        if closing or quote:
            raise self._refused(f"lacks {closing or quote!r}")
        return [*parts, text[start:]] if text[start:].strip() else parts

    def _refused(self, what: str) -> UsageError:
        return UsageError(f"{self._option} {self._whole!r} {what}.", _EXAMPLES)


def _is_shape(text: str) -> bool:
    return bool(re.fullmatch(r"[\[(][\d,\s]*[\])]", text))


def _is_literal(text: str) -> bool:
    """Whether Python reads it as a value; sizes are no value."""
    if not text or re.fullmatch(r"\d+", text):
        return bool(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of sizes that look like numbers: 1x2
            ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def tensors_of(spec: Input) -> tuple[InputSpec, ...]:
    """The tensors in a spec, in order."""
    if isinstance(spec, ContainerSpec):
        return tuple(tensor for item in spec.items for tensor in tensors_of(item))
    return (spec,) if isinstance(spec, InputSpec) else ()
