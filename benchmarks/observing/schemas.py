"""Overloads that no case reached, called with arguments made from their schemas.

Names and types of the parameters tell what to give: tensors of one rank and one dtype, indices, masks and scales of
dtypes of their own. Several ways are tried until one comes back. Kernels of the simulated runtime check nothing, so
what counts is only which of them the adapter launches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from observing import log
from observing.log import DERIVED, Attempt, Case
from observing.registered import find_overload, registered_overloads

SECONDS = 20

#: dtypes of the tensors that are neither indices nor masks nor scales.
MAIN = (
    torch.float16, torch.float32, torch.bfloat16, torch.float64, torch.int8, torch.int32, torch.int64, torch.uint8,
    torch.bool, torch.complex64,
)  # fmt: skip

#: Those for torch_npu's own operators, which are about floating-point numbers and what they are quantized to.
OWN = MAIN[:7]
FLOATS = MAIN[:3]
QUANTIZED = (*FLOATS, torch.int8)

#: Overloads that one process cannot call, by the start of their names.
UNREACHABLE = {
    "c10d::": "needs a process group",
    "npu_custom_dist::": "needs a process group",
    "symm_mem::": "needs memory shared by several devices",
}

_INDEX = re.compile(
    r"ind(ex|ices)|idx|ids?$|table|slot|position|group_list|_len|lens?$|target$|labels?$|counts?$|seq_?q"
)
_MASK = re.compile(r"mask|finished|routing_map|condition|flag")
_SCALE = re.compile(r"scale|rstd|invstd|mean$|softmax_(max|sum)|lse")
_VECTOR = re.compile(
    r"gamma|beta|bias|scale|offset|zero_point|mean|rstd|invstd|var$|group_list|tokens?_index|_len|counts?$"
)
_LAYOUTS = {1: "ND", 2: "ND", 3: "BSH", 4: "BNSD", 5: "BNSD"}
_WORDS = {"reduction": "mean", "reduce": "sum", "reduce_op": "sum", "activation": "gelu", "input_layout": ""}


@dataclass(frozen=True)
class World:
    """Every tensor has ``rank`` dimensions; those that are named like vectors have one where ``vectors`` holds."""

    rank: int
    vectors: bool

    def shape(self, name: str) -> tuple[int, ...]:
        rank = 1 if self.vectors and _VECTOR.search(name) else self.rank
        return (4,) * max(rank - 2, 0) + (16,) * min(rank, 2)


WORLDS = tuple(World(rank, vectors) for rank in (2, 4, 3, 1, 5) for vectors in (True, False) if rank > 1 or vectors)


@dataclass(frozen=True)
class Way:
    """dtypes of what is not a plain operand (None: as the operands), and whether optional tensors are given."""

    index: torch.dtype = torch.int64
    mask: torch.dtype | None = torch.bool
    scale: torch.dtype | None = None
    weight: torch.dtype | None = None
    optional: bool = False


WAYS = (
    Way(),
    Way(scale=torch.float32),
    Way(torch.int32),
    Way(torch.int32, scale=torch.float32),
    Way(mask=None),
    Way(torch.int32, mask=torch.uint8),
    Way(weight=torch.int8),
    Way(torch.int64, scale=torch.float32, weight=torch.int8),
    Way(optional=True),
    Way(torch.int32, scale=torch.float32, optional=True),
)


class Unmade(Exception):
    """No rule makes an argument of this type."""


def run(path: Path, pattern: str, known: set[str]) -> None:
    """Try every registered overload that neither the log nor ``known`` holds, world by world until one succeeds."""
    reached = known | {row[1] for row in log.read(path) if row[4] == "ok"}
    for name in registered_overloads():
        overload = find_overload(name)
        reason = next((why for start, why in UNREACHABLE.items() if name.startswith(start)), "")
        if overload is None:  # an implementation for which no operator was ever declared
            reason = "has no schema, nothing can call it"
        if reason:
            log.note(path, dotted(name), f"skipped: {reason}")
        elif str(overload) not in reached and re.search(pattern, name) and not _tried(name, overload, path):
            log.note(path, dotted(name), "skipped: no rule makes its arguments")


def dotted(name: str) -> str:
    """``aten::addmm`` as torch prints the overload: ``aten.addmm.default``."""
    namespace, _, rest = name.partition("::")
    return f"{namespace}.{rest}" if "." in rest else f"{namespace}.{rest}.default"


def _tried(name: str, overload: Any, path: Path) -> bool:
    """Call an overload until a world lets it come back; returns whether it was called at all."""
    start = path.stat().st_size
    for world in WORLDS:
        log.run([Case(name, lambda attempt, world=world: _try_ways(overload, world, attempt), SECONDS)], path)
        with path.open("rb") as file:
            file.seek(start)
            marks = file.read()
        if b"# end|" in marks:
            return True
    return b"# call|" in marks


def _try_ways(overload: Any, world: World, attempt: Attempt) -> None:
    """The first way that comes back for every dtype; more of them where operands have dtypes of their own."""
    own = overload.namespace != "aten"
    named = [p.name for p in overload._schema.arguments if "Tensor" in str(p.type)]
    quantized = own and any("scale" in name for name in named)
    indexed = own and any(_INDEX.search(name) and not _MASK.search(name) for name in named)
    for main in QUANTIZED if quantized else OWN if own else MAIN:
        _try_dtype(overload, world, main, attempt, several=quantized or (indexed and main in FLOATS))


def _try_dtype(overload: Any, world: World, main: torch.dtype, attempt: Attempt, *, several: bool) -> None:
    tried: set[str] = set()
    for way in WAYS:
        try:
            args, kwargs = _arguments(overload, world, main, way)
        except Exception:  # no rule for an argument, or a dtype that the SoC lacks
            return
        leaves = tree_leaves((args, kwargs))
        dtypes = " ".join(str(leaf.dtype) for leaf in leaves if isinstance(leaf, torch.Tensor))
        if dtypes not in tried and attempt.direct(DERIVED, overload, args, kwargs) and not several:
            return
        tried.add(dtypes)


def _arguments(overload: Any, world: World, main: torch.dtype, way: Way) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    parameters = overload._schema.arguments
    factory = not any("Tensor" in str(p.type) for p in parameters)
    for p in parameters:
        asked = (way.optional and "Tensor" in str(p.type)) or (factory and p.name in ("dtype", "device"))
        if p.has_default_value() and not asked:
            if not p.kwarg_only:
                args.append(p.default_value)
            continue
        value = _argument(p, world, main, way)
        if isinstance(value, list) and p.name == "out":  # a receiver for each result
            value = [_tensor("out", world, main) for _ in overload._schema.returns]
        if p.kwarg_only:
            kwargs[p.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def _argument(p: Any, world: World, main: torch.dtype, way: Way) -> Any:
    kind = str(getattr(p, "real_type", p.type))
    optional, kind = (
        kind.startswith("Optional["),
        kind.removeprefix("Optional[").removesuffix("]" * kind.startswith("Optional[")),
    )
    if "Tensor" in kind:
        return None if optional and not way.optional else _tensors(p.name, kind, world, main, way)
    if p.name == "device":
        return torch.device("npu")
    if optional and p.name != "dtype":
        return None
    return _plain(p, kind, world, main)


def _tensors(name: str, kind: str, world: World, main: torch.dtype, way: Way) -> Any:
    if kind == "List[Optional[Tensor]]":
        return [_tensor(name, World(1, True), torch.int64)]
    if kind.startswith("List["):
        return [_tensor(name, world, _dtype(name, main, way)) for _ in range(2)]
    return _tensor(name, world, _dtype(name, main, way))


def _tensor(name: str, world: World, dtype: torch.dtype) -> torch.Tensor:
    """Zeros and ones, made on the CPU: indices stay within every size."""
    shape = world.shape(name)
    return (torch.arange(torch.Size(shape).numel()).reshape(shape) % 2).to(dtype).npu()


def _dtype(name: str, main: torch.dtype, way: Way) -> torch.dtype:
    if _MASK.search(name):
        return way.mask or main
    if _INDEX.search(name):
        return way.index
    if _SCALE.search(name):
        return way.scale or main
    return (way.weight or main) if "weight" in name else main


def _plain(p: Any, kind: str, world: World, main: torch.dtype) -> Any:
    if kind == "ScalarType":
        return main
    if kind in ("int", "SymInt"):
        return _number(p.name, world)
    if kind == "bool":
        return True
    if kind in ("float", "number"):
        return 0.5 if kind == "float" or main.is_floating_point else 1
    if kind == "str":
        return _WORDS.get(p.name) or (_LAYOUTS[world.rank] if "layout" in p.name else "none")
    if kind in ("List[int]", "List[SymInt]"):
        return _numbers(p, world)
    if kind == "List[bool]":
        return [True] * (p.N or 3)
    if kind in ("List[float]", "List[number]"):
        return [1.0, 1.0]
    if kind == "Storage":
        return torch.zeros(512, dtype=main).npu().untyped_storage()
    if kind == "MemoryFormat":
        return torch.contiguous_format
    if kind == "Layout":
        return torch.strided
    raise Unmade(kind)


def _number(name: str, world: World) -> int:
    if re.search(r"dim$|axis", name):
        return -1
    if re.search(r"head|num_|_num|size|count", name):
        return 4
    return 5 if "dtype" in name else 1


def _numbers(p: Any, world: World) -> list[int]:
    """Sizes are the shape of the tensors, permutations the identity; windows have a number for each dimension."""
    if p.N:
        return [0 if "pad" in p.name else 1] * p.N
    if re.search(r"perm|dims$", p.name):
        return list(range(world.rank))
    if p.name in ("stride", "padding", "dilation", "output_padding", "kernel_size", "strides", "pads"):
        return [0 if "pad" in p.name else 1] * max(world.rank - 2, 1)
    if p.name in ("normalized_shape",):
        return [16]
    if p.name in ("dim", "axis"):
        return [0]
    if "offset" in p.name or p.name == "paddings":
        return [0] * world.rank * (2 if p.name == "paddings" else 1)
    return list(world.shape("x"))
