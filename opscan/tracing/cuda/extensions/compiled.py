"""CUDA sources that a model compiles at run time: they are not compiled, and calls of them end the trace.

C++ without CUDA is left to the compiler: it runs on the host, and calls operators that the trace sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils import cpp_extension

from opscan.tracing.cuda.extensions.calls import Calls
from opscan.tracing.cuda.extensions.stubs import Stubs
from opscan.tracing.patches import Patches


def patch_compilation(patches: Patches, calls: Calls, stubs: Stubs) -> None:
    """``torch.utils.cpp_extension.load`` and ``load_inline``."""
    for name, second in (("load", ""), ("load_inline", "cuda_sources")):
        patches.set(cpp_extension, name, _compiling(getattr(cpp_extension, name), second, calls, stubs))


def _compiling(original: Callable[..., Any], second: str, calls: Calls, stubs: Stubs) -> Callable[..., Any]:
    """``second``: the parameter behind the sources, where it holds sources too."""

    def compile_(name: str, *args: Any, **kwargs: Any) -> Any:
        sources = [kwargs.get("sources"), *args[:1], kwargs.get("cuda_sources"), *(args[1:2] if second else ())]
        if not kwargs.get("with_cuda") and not _is_cuda(sources[:2], sources[2:]):
            return original(name, *args, **kwargs)
        calls.found(name)
        return stubs.module(name)

    return compile_


def _is_cuda(files: list[Any], texts: list[Any]) -> bool:
    named = [str(file) for given in files for file in ([given] if isinstance(given, str) else given or ())]
    return any(texts) or any(file.endswith((".cu", ".cuh")) for file in named)
