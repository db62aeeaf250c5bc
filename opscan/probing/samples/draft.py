"""Arguments in the making: the tensors drawn so far, which a rule may replace by others that fit together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Generator, Tensor

from opscan.inventory import TensorSpec
from opscan.probing.samples.binding import Bound
from opscan.probing.samples.interface import Unsampled
from opscan.probing.samples.kinds import Kind, draw_tensor, dtype_of


@dataclass
class Draft:
    """``tensors`` holds what the operator will be given, by parameter; ``ties`` as in ``Sample``."""

    bound: Bound
    generator: Generator
    tensors: dict[str, Any] = field(default_factory=dict)
    ties: bool = False

    def has(self, name: str) -> bool:
        return name in self.bound.tensors

    def spec(self, name: str) -> TensorSpec:
        """The spec of a parameter that takes one tensor. Raises Unsampled where none was recorded."""
        spec = self.bound.tensors.get(name)
        if not isinstance(spec, TensorSpec):
            raise Unsampled(f"no tensor was recorded for {name}")
        return spec

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(int(size) for size in self.spec(name).shape)

    def tensor(self, name: str) -> Tensor:
        """Raises Unsampled where there is none."""
        tensor = self.tensors.get(name)
        if not isinstance(tensor, Tensor):
            raise Unsampled(f"no tensor was recorded for {name}")
        return tensor

    def other(self, name: str, default: Any = None) -> Any:
        """An argument that is no tensor; else the schema's default; else ``default``."""
        if name in self.bound.others:
            return self.bound.others[name]
        for parameter in self.bound.operator._schema.arguments:
            if parameter.name == name and parameter.has_default_value():
                return parameter.default_value
        return default

    def draw(self, name: str, kind: Kind) -> None:
        """Draw a tensor again, of another kind."""
        if self.has(name):
            self.tensors[name] = draw_tensor(self.spec(name), kind, self.generator)

    def put(self, name: str, tensor: Tensor) -> None:
        """Give a tensor that was worked out, in the dtype recorded. Raises Unsampled where its shape is another."""
        if not self.has(name):
            return
        spec = self.spec(name)
        if tuple(tensor.shape) != self.shape(name):
            raise Unsampled(
                f"{name} was recorded with shape {list(spec.shape)}, and {list(tensor.shape)} fits the call"
            )
        self.tensors[name] = tensor.to(dtype_of(spec)).contiguous()

    def below(self, name: str, high: int) -> None:
        """Whole numbers in [0, ``high``)."""
        if self.has(name):
            shape = self.shape(name)
            if high <= 0 and torch.Size(shape).numel():
                raise Unsampled(f"{name} indexes a dimension of size zero")
            values = torch.randint(0, max(high, 1), shape, generator=self.generator)
            self.tensors[name] = values.to(dtype_of(self.spec(name)))

    def different(self, name: str, high: int) -> bool:
        """Whole numbers in [0, ``high``) that differ from each other; false, and repeated ones, where they cannot."""
        shape = self.shape(name)
        count = torch.Size(shape).numel()
        if count > high:
            self.below(name, high)
            return False
        order = torch.randperm(high, generator=self.generator)[:count]
        self.tensors[name] = order.reshape(shape).to(dtype_of(self.spec(name)))
        return True

    def permutations(self, shape: tuple[int, ...], high: int, dim: int) -> Tensor:
        """Along ``dim``, different whole numbers in [0, ``high``): ``shape[dim]`` is at most ``high``."""
        wide = list(shape)
        wide[dim] = high
        return torch.rand(wide, generator=self.generator).argsort(dim).narrow(dim, 0, shape[dim])


#: Replaces what was drawn for parameters that depend on each other. Raises Unsampled.
Fill = Callable[[Draft], None]
