"""Reads what a pickle would do, without doing it: the names that it imports, and the tensors that it refers to."""

from __future__ import annotations

import io
import pickletools
from dataclasses import dataclass

#: How a file of torch.save from before torch 1.6 begins: a pickle of one number.
MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."

#: Storages by the dtype of their tensors.
_STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128", "QInt8Storage": "qint8", "QUInt8Storage": "quint8",
    "QInt32Storage": "qint32", "UntypedStorage": "other",
}  # fmt: skip

#: Modules whose names rebuild tensors and containers, and can do no harm.
_PLAIN = ("torch._utils", "torch.storage", "torch._tensor", "torch.serialization", "collections", "torch")

#: Members of any nn.Module's state.
_OF_A_MODULE = {"_parameters", "_modules"}


@dataclass(frozen=True, slots=True)
class Contents:
    """``root``: the class of the outermost object, None for a dict or another plain value. ``modules``: the classes
    that are, or may be, modules, outermost first; empty for weights. ``foreign``: names that the pickle would import
    besides torch's own. ``dtypes``: tensors by dtype.
    """

    root: str | None
    modules: tuple[str, ...]
    foreign: tuple[str, ...]
    dtypes: dict[str, int]

    @property
    def is_module(self) -> bool:
        return bool(self.modules)


def contents_of(data: bytes, legacy: bool = False) -> Contents | None:
    """What the pickle holds; None where it is damaged. ``legacy``: three pickles about the file come first."""
    reader = _Reader()
    stream = io.BytesIO(data)
    try:
        for _ in range(3 if legacy else 0):
            for _ in pickletools.genops(stream):
                pass
        for opcode, argument, _ in pickletools.genops(stream):
            reader.step(opcode.name, argument)
    except Exception:  # pickletools raises whatever a damaged argument leads to
        return None
    return reader.contents()


class _Reader:
    """Follows the opcodes as far as names and storages need it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.root: str | None = None
        self.dtypes: dict[str, int] = {}
        self._first = ""
        self._memo: dict[int, str] = {}
        self._last = ""
        self._strings: list[str] = []
        self._seen: set[str] = set()
        self._storage = ""

    def step(self, opcode: str, argument: object) -> None:
        if opcode in ("PROTO", "FRAME"):
            return
        self._first = self._first or opcode
        if opcode == "GLOBAL":
            self._name(str(argument).replace(" ", "."))
        elif opcode == "STACK_GLOBAL":
            self._name(".".join(self._strings[-2:]))
        elif opcode in ("BINPUT", "LONG_BINPUT", "PUT") and isinstance(argument, int):
            self._memo[argument] = self._last
        elif opcode == "MEMOIZE":
            self._memo[len(self._memo)] = self._last
        elif opcode in ("BINGET", "LONG_BINGET", "GET") and isinstance(argument, int):
            self._put(self._memo.get(argument, ""))
        elif opcode == "BINPERSID":
            self._tensor()
        else:
            self._put(argument if isinstance(argument, str) else "")

    def _put(self, value: str) -> None:
        """A value on the stack: a string or an imported name, else nothing of interest."""
        self._last = value
        if value:
            self._strings = [*self._strings[-1:], value]
            self._seen.add(value)
            self._storage = _STORAGES.get(value.removeprefix("torch."), self._storage)

    def _name(self, name: str) -> None:
        if not self.names and self._first not in ("EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE"):
            self.root = name
        if name not in self.names:
            self.names.append(name)
        self._put(name)

    def _tensor(self) -> None:
        if self._storage:
            self.dtypes[self._storage] = self.dtypes.get(self._storage, 0) + 1
        self._storage, self._last = "", ""

    def contents(self) -> Contents:
        has_modules = self._seen >= _OF_A_MODULE
        foreign = tuple(n for n in self.names if not _is_plain(n))
        of_torch = tuple(n for n in self.names if n.startswith("torch.nn.") and ".parameter." not in n)
        classes = [n for n in self.names if n in foreign or n in of_torch]
        modules = tuple(n for n in classes if n.rpartition(".")[2][:1].isupper()) if has_modules else ()
        return Contents(self.root, modules, foreign, self.dtypes)


def _is_plain(name: str) -> bool:
    module = name.rpartition(".")[0]
    return name.startswith("torch.") or module in _PLAIN or name in ("builtins.set", "__builtin__.set")
