"""What the import of a CUDA extension gets: a module whose every name can be imported, called and derived from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NoReturn

from torch import nn

from opscan.cuda_packages import package_of
from opscan.tracing.cuda.extensions.calls import Calls, CudaExtensionError
from opscan.tracing.cuda.extensions.interface import StandIns
from opscan.tracing.patches import Patches


class Stubs:
    """The modules and names of one run, each made once: ``isinstance`` holds across the files of a model."""

    def __init__(self, calls: Calls, stand_ins: Mapping[str, StandIns]) -> None:
        self.calls = calls
        self._stand_ins = stand_ins
        self._modules: dict[str, ModuleType] = {}
        self._attributes: dict[str, Any] = {}

    def module(self, name: str) -> ModuleType:
        """The module of a dotted name, as an attribute of those around it."""
        if name not in self._modules:
            made = self._modules[name] = _Module(name, self)
            outer, _, last = name.rpartition(".")
            if outer:
                setattr(self.module(outer), last, made)
        return self._modules[name]

    def attribute(self, name: str) -> Any:
        """A stand-in where one is known, by its last name in whatever module of the package it is looked for."""
        package, short = name.partition(".")[0], name.rpartition(".")[2]
        known = self._stand_ins.get(package)
        if known is not None and known.has(short):
            name = f"{package}.{short}"
        if name not in self._attributes:
            self._attributes[name] = self._make(name, package, short, known)
        return self._attributes[name]

    def _make(self, name: str, package: str, short: str, known: StandIns | None) -> Any:
        if known is not None and short in known.plain:
            return known.plain[short]
        if known is not None and short in known.factories:
            return known.factories[short](self.calls)
        if known is not None and short in known.functions:
            return self._function(name, known.functions[short])
        if known is not None and short in known.modules:
            return self._layer(name, known.modules[short])
        return _Unknown(short, (_Extension,), {"_extension": name, "_stubs": self, "__module__": package})

    def _function(self, name: str, stand_in: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(stand_in)  # its parameters are asked for: which does this release have?
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.calls.known(name, stand_in, args, kwargs)

        return call

    def _layer(self, name: str, stand_in: type[nn.Module]) -> type[nn.Module]:
        calls = self.calls

        def forward(layer: nn.Module, *args: Any, **kwargs: Any) -> Any:
            compute = functools.partial(stand_in.forward, layer)
            return calls.known(name, compute, args, kwargs, tuple(layer.parameters()))

        return type(stand_in.__name__, (stand_in,), {"forward": forward, "__module__": name.rpartition(".")[0]})


class _Module(ModuleType):
    """A module of an extension."""

    def __init__(self, name: str, stubs: Stubs) -> None:
        super().__init__(name)
        self._stubs = stubs
        package = package_of(name)
        self.__version__ = package.version if package else "0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return self._stubs.attribute(f"{self.__name__}.{name}")


def _ends(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise CudaExtensionError(self._extension)


class _NoValue:
    """What asks for a value, which is not there."""

    __iter__ = __contains__ = __len__ = __int__ = __float__ = __index__ = __neg__ = _ends
    __lt__ = __le__ = __gt__ = __ge__ = __matmul__ = __rmatmul__ = __mod__ = __pow__ = _ends
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _ends
    __floordiv__ = __rfloordiv__ = _ends

    def __bool__(self) -> bool:
        return True


class _Unknown(_NoValue, type):
    """The class of names of which nothing is known: each can be called, as a function or to make a layer."""

    _extension: str
    _stubs: Stubs

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_") or "_extension" not in vars(cls):
            raise AttributeError(f"{cls.__name__!r} has no attribute {name!r}")
        return cls._stubs.attribute(f"{cls._extension}.{name}")

    def __getitem__(cls, item: Any) -> Any:
        return cls


class _Extension(_NoValue, nn.Module, metaclass=_Unknown):
    """What an unknown call returns: a layer, a handle, a mask. It can be passed on and asked for attributes; the trace
    ends where its value is needed. Classes of the model's own that derive from one are modules of their own.
    """

    _extension = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        if "_extension" in vars(type(self)):
            self._stubs.calls.unknown(self._extension, args, kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        self._stubs.calls.unknown(self._extension, args, kwargs)
        return self

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_") or "_extension" not in vars(type(self)):
                raise
        found = self._stubs.attribute(f"{self._extension}.{name}")
        return _of(found) if isinstance(found, _Unknown) else found

    def __getitem__(self, item: Any) -> Any:
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None: ...

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        _ends(cls)


def _of(kind: Any) -> Any:
    """An instance that no call has made."""
    made = kind.__new__(kind)
    nn.Module.__init__(made)
    return made


def patch_initialisers(patches: Patches) -> None:
    """``torch.nn.init`` leaves alone what has no values."""
    for name in dir(nn.init):
        if name.endswith("_") and not name.startswith("_"):
            patches.set(nn.init, name, _sparing(getattr(nn.init, name)))


def _sparing(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def initialise(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return tensor if isinstance(tensor, _Extension) else original(tensor, *args, **kwargs)

    return initialise
