"""torchair without its compiled core: what its Python needs of the core while it converts, and nothing that runs.

The core (``torchair/core/*.so``) talks to CANN's graph engine. While a graph is converted, torchair asks it two things:
whether CANN's operators take what a converter uses of them, and how an operator is defined that a converter names.
The first is left to the support matrix; the second is answered from the prototypes that the wheel carries.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from packaging.version import Version

from opscan.errors import OpscanError
from opscan.probing.graph.prototypes import Prototypes

#: Where the compiled modules lie below ``torch_npu/dynamo``, and the name that torchair imports them by.
_CORE = "torchair.core"


def import_torchair() -> Any:
    """The torchair of the torch_npu that is installed here, over an inert core.

    Raises OpscanError where the wheel has none, or where a package that torchair needs is missing.
    """
    import torch_npu

    folder = Path(torch_npu.__file__).parent / "dynamo"
    core = folder / "torchair" / "core"
    if not core.is_dir():
        raise OpscanError(
            f"torch_npu {torch_npu.__version__} in {folder.parent} has no torchair.",
            "Choose a torch_npu release with torchair, or rehearse the eager route.",
        )
    prototypes = Prototypes(folder / "torchair" / "_ge_concrete_graph" / "auto_generated_ge_raw_ops.py")
    for library in sorted(core.glob("*.so")):
        name = library.name.partition(".")[0]
        sys.modules.setdefault(f"{_CORE}.{name}", _InertModule(f"{_CORE}.{name}", prototypes))
    _provide_versions()
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        import torch_npu.dynamo  # puts a lazy torchair among the modules

        importlib.import_module("torchair._ge_concrete_graph.fx2ge_converter")
        return importlib.import_module("torchair")
    except ImportError as error:
        missing = getattr(error, "name", None) or str(error).splitlines()[0]
        raise OpscanError(
            f"torchair of torch_npu {torch_npu.__version__} cannot be imported: {missing} is missing.",
            f"Install it into {sys.prefix} (torchair needs protobuf, which torch_npu does not ask for).",
        ) from error


def _provide_versions() -> None:
    """Releases up to 2.6 ask ``pkg_resources`` for versions, which is no part of setuptools any more."""
    try:
        importlib.import_module("pkg_resources")
    except ImportError:
        stand_in = ModuleType("pkg_resources")
        stand_in.get_distribution = importlib.metadata.distribution  # type: ignore[attr-defined]
        stand_in.parse_version = Version  # type: ignore[attr-defined]
        sys.modules["pkg_resources"] = stand_in


class _InertModule(ModuleType):
    """A compiled module that does nothing: any name can be called, read and subclassed."""

    def __init__(self, name: str, prototypes: Prototypes) -> None:
        super().__init__(name)
        self.TorchNpuGraphBase = _InertGraph
        self.check_cann_compat = lambda *wanted: ""
        self.get_registered_ir_def = prototypes.definition

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Inert()


class _Inert:
    """A value that may be called and asked for anything."""

    def __call__(self, *args: object, **kwargs: object) -> _Inert:
        return self

    def __getattr__(self, name: str) -> _Inert:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Inert()


class _InertGraph:
    """The base class of torchair's executor."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def load(self, *args: object, **kwargs: object) -> None:
        pass

    def compile(self, *args: object, **kwargs: object) -> None:
        pass
