"""Writes down what a model imports and calls of CUDA extensions, and makes their calls opaque: one operator each,
forward and backward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from opscan.cuda_packages import LIBRARY, facts_of, package_of
from opscan.tracing.recording import RecordingMode
from opscan.tracing.source import SourceLocator


class CudaExtensionError(NotImplementedError):
    """The trace ends here: what the extension returns is not known."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is a CUDA extension that is not installed, and what it returns is not known here.")
        self.name_of_extension = name


def ends_at_extension(error: BaseException | None) -> bool:
    """Whether a trace ended at an extension, even if code of the model's own turned the error into another."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, CudaExtensionError):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


@dataclass(frozen=True, slots=True)
class Calls:
    """Reports to the recorder of one run."""

    recorder: RecordingMode
    locator: SourceLocator

    @property
    def running(self) -> bool:
        return self.recorder.running

    def found(self, name: str, frame: FrameType | None = None) -> None:
        """``name`` is imported or called at the user's line."""
        package = package_of(name)
        rule = "OPS611" if package is not None and package.port else "OPS610"
        self.recorder.finding(rule, facts_of(name), self.locator.locate(frame))

    def known(
        self, name: str, stand_in: Callable[..., Any], args: Any, kwargs: Any, parameters: tuple[torch.Tensor, ...] = ()
    ) -> Any:
        """A call whose result is that of ``stand_in``; ``parameters`` are tensors that it uses besides."""
        self.found(name)
        leaves, structure = tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

        def compute(*given: torch.Tensor) -> Any:
            tensor = iter(given)
            filled = [next(tensor) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            inner_args, inner_kwargs = tree_unflatten(filled, structure)
            with self.recorder.paused():
                out = stand_in(*inner_args, **inner_kwargs)
            self.called(name, [*tensors, *parameters], _tensors(out))
            return out

        everything = (*tensors, *parameters)
        if torch.is_grad_enabled() and any(t.requires_grad for t in everything):
            return _differentiable(self, name, compute, len(tensors), everything)
        return compute(*tensors)

    def called(self, name: str, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """One call among the operators."""
        self.recorder.emit(LIBRARY + name, inputs, outputs)

    def launched(self, name: str, args: Any, kwargs: Any) -> None:
        """A kernel that changes its arguments in place."""
        self.found(name)
        self.called(name, _tensors((args, kwargs)), [])

    def unknown(self, name: str, args: Any, kwargs: Any) -> None:
        """A call whose result is not known. Raises CudaExtensionError where it is given tensors while the model runs:
        others make handles, masks, layers that may never be asked for a value.
        """
        self.found(name)
        tensors = _tensors((args, kwargs))
        if self.running and tensors:
            self.called(name, tensors, [])
            raise CudaExtensionError(name)


def _tensors(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def _differentiable(
    calls: Calls, name: str, compute: Callable[..., Any], given: int, tensors: tuple[torch.Tensor, ...]
) -> Any:
    """The call as one node of autograd; its derivative is one operator too, and zero."""
    structure: Any = None
    leaves: list[Any] = []

    class Opaque(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: torch.Tensor) -> Any:
            nonlocal structure, leaves
            ctx.save_for_backward(*inputs)
            leaves, structure = tree_flatten(compute(*inputs[:given]))
            results = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
            ctx.mark_non_differentiable(*(t for t in results if not t.is_floating_point()))
            return results

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            with calls.recorder.paused():
                of_inputs = tuple(
                    torch.zeros_like(t) if needed else None
                    for t, needed in zip(ctx.saved_tensors, ctx.needs_input_grad)
                )
            calls.called(name, _tensors(gradients), _tensors(of_inputs))
            return of_inputs

    results = iter(Opaque.apply(*tensors))  # type: ignore[no-untyped-call]
    return tree_unflatten([next(results) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], structure)
