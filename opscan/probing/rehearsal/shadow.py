"""Shadow execution: every operator also runs on the CPU, and its result is written into the device's memory.

The simulated runtime launches nothing, so that results would be whatever memory holds, and a model that asks for a
value (the boxes that a suppression keeps, the token that a loop waits for) would take a wrong turn.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten

from opscan.probing.rehearsal.device_memory import address, is_opaque, on_host
from opscan.probing.rehearsal.knowledge import Knowledge, Value, is_fresh
from opscan.probing.rehearsal.references import REFERENCES, UNREAD
from opscan.probing.rehearsal.sizes import bytes_filled, bytes_of, resident
from opscan.tracing.host import is_a_view
from opscan.tracing.signature import qualified

#: Operators on less than this many bytes are computed even where the rest is too much: lengths, positions, masks.
_SMALL = 1 << 20

#: An operator on more bytes than this is never computed: on the CPU it alone would take minutes.
_LARGEST = 4 << 30

#: From this size on, the memory that is left is looked at before every operator.
_LARGE = 64 << 20

#: The CPU may spend so many seconds on the shadow before only small operators have one.
_SECONDS = 120.0


@dataclass(slots=True)
class Expected:
    """What the CPU computed: results in order of their leaves, and what mutated arguments became.

    ``value``: what is known of them. ``written``: the arguments that the operator writes to. ``is_open``: it is still
    to be computed.
    """

    value: Value
    written: list[torch.Tensor] = field(default_factory=list)
    is_open: bool = False
    computed: bool = False
    leaves: list[Any] = field(default_factory=list)
    mutated: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    error: Exception | None = None

    def other_kind(self, out: Any) -> tuple[torch.dtype, torch.dtype] | None:
        """The dtypes of the first result, the CPU's and the device's, where one is whole numbers and the other is not,
        or complex numbers and the other is not. Widths differ by design: the device narrows float64. Further results
        may be indices, which the device keeps in forms of its own.
        """
        ours, theirs = self.leaves[:1] if self.computed else [], tree_leaves(out)[:1]
        for a, b in zip(ours, theirs, strict=False):
            if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
                other = a.is_floating_point() != b.is_floating_point() or a.is_complex() != b.is_complex()
                return (a.dtype, b.dtype) if other else None
        return None


class Shadow:
    """``memory``: bytes that this process may come to occupy. ``reason`` says, in English, why it was cut short,
    ``missing`` which operators the CPU could not compute, ``largest`` the bytes of the largest that was left out for
    its size alone. ``only_small``: nothing large is computed, for the weights
    are not known anyway. ``is_partial``: some result was not computed.
    """

    def __init__(self, knowledge: Knowledge, memory: int, seconds: float = _SECONDS) -> None:
        self.knowledge = knowledge
        self.reason = ""
        self.missing: dict[str, None] = {}
        self.largest = 0
        self.only_small = False
        self.is_partial = False
        self._memory = memory
        self._seconds = seconds
        self._spent = 0.0
        self._calls = 0

    def expect(self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Expected:
        """What will be known of the results, before anything is computed."""
        value = self.knowledge.of(_read_by(func, args, kwargs, inputs))
        if torch.Tag.nondeterministic_seeded in func.tags:
            value = max(value, Value.DATA)
        written = written_by(func, args, kwargs) if func._schema.is_mutable else []
        if is_a_view(func) or is_fresh(func):
            return Expected(value, written)
        size = max(bytes_filled(args, kwargs, inputs), sum(map(bytes_of, inputs)))
        if value is Value.UNKNOWN or self._is_too_much(size):
            return Expected(Value.UNKNOWN, written)
        return Expected(value, written, is_open=True)

    def compute(self, expected: Expected, func: Any, args: Any, kwargs: Any, made: Any) -> None:
        """Run ``func`` on the CPU and leave its arguments as they are. Where it writes to them, this comes before the
        device's own run; otherwise behind it, with what the device has ``made``: that tells how much is to be computed.
        """
        if not expected.is_open:
            return
        expected.is_open = False
        if self._is_too_much(sum(bytes_of(t) for t in tree_leaves(made) if isinstance(t, torch.Tensor))):
            expected.value = Value.UNKNOWN
            return
        began = time.monotonic()
        try:
            self._run(func, args, kwargs, expected)
        except RecursionError:
            raise
        except Exception as error:  # no CPU kernel, or the call is wrong on any device
            expected.error = error
        self._spent += time.monotonic() - began
        if not expected.computed:
            self.missing.setdefault(qualified(func))

    def _run(self, func: Any, args: Any, kwargs: Any, expected: Expected) -> None:
        written = set(map(id, expected.written))

        def given(tensor: torch.Tensor) -> torch.Tensor:
            host = on_host(tensor)
            if id(tensor) not in written:
                return host
            changed = host.clone()
            expected.mutated.append((tensor, changed))
            return changed

        reference = REFERENCES.get(qualified(func))
        arguments, options = tree_map_only(torch.Tensor, given, (args, _on_cpu(kwargs)))
        # A generator of the device's draws no numbers on the CPU.
        arguments, options = tree_map_only(torch._C.Generator, lambda generator: None, (arguments, options))
        if reference is None:
            expected.leaves = tree_leaves(func(*arguments, **options))
        else:
            names = (parameter.name for parameter in func._schema.arguments)
            results = reference({**dict(zip(names, arguments, strict=False)), **options})
            if results is None:
                return
            expected.leaves = list(results)
        expected.computed = True

    def settle(self, func: Any, out: Any, expected: Expected, read_back: bool = False) -> Any:
        """Write what was computed into the memory of the results. Those whose shape depends on data are replaced: also
        those of a call in which values of the device were ``read_back``.
        """
        leaves, spec = tree_flatten(out)
        if not expected.computed:
            self._leave(func, [*leaves, *expected.written])
            return out
        changed = [pair for pair in expected.mutated if pair[0].shape == pair[1].shape]
        for tensor, value in changed:
            on_host(tensor).copy_(value)
        written = {address(tensor) for tensor, _ in expected.mutated} - {0}
        may_resize = read_back or torch.Tag.dynamic_output_shape in func.tags
        values = [*expected.leaves, *([None] * len(leaves))]
        settled = [self._settled(leaf, v, written, may_resize) for leaf, v in zip(leaves, values, strict=False)]
        self.knowledge.learn([tensor for tensor, _ in expected.mutated], expected.value)
        for leaf, known in settled:
            if isinstance(leaf, torch.Tensor) and address(leaf) not in written:
                self.knowledge.learn([leaf], expected.value if known else Value.UNKNOWN)
        return tree_unflatten([leaf for leaf, _ in settled], spec)

    def _settled(self, leaf: Any, value: Any, written: set[int], may_resize: bool) -> tuple[Any, bool]:
        """One result, and whether its contents are known: the device's tensor with what was computed, or the number
        that the CPU found. A result that the device holds in another form stays as it is.
        """
        if value is None or leaf is None:
            return leaf, True
        if not isinstance(leaf, torch.Tensor) or not isinstance(value, torch.Tensor):
            return (leaf, False) if isinstance(leaf, torch.Tensor) else (value, True)
        if address(leaf) in written or leaf.device.type == "meta":
            return leaf, True
        if is_opaque(leaf) or is_opaque(value):
            return leaf, False
        if leaf.shape != value.shape:
            if not may_resize:
                return leaf, False
            leaf = torch.empty(value.shape, dtype=leaf.dtype, device=leaf.device)
        if leaf.dtype != value.dtype and not leaf.dtype.is_floating_point and not _fits(value, leaf.dtype):
            return leaf, False
        on_host(leaf).copy_(value)
        return leaf, True

    def _leave(self, func: Any, leaves: list[Any]) -> None:
        """Nothing was computed: what the results hold is not known, but for views and fresh memory."""
        if is_a_view(func):
            return
        fresh = is_fresh(func)
        tensors = [t for t in leaves if isinstance(t, torch.Tensor)]
        self.knowledge.learn(tensors, Value.CONSTANT if fresh else Value.UNKNOWN)
        self.is_partial |= not fresh and bool(tensors)

    def _is_too_much(self, size: int) -> bool:
        self._calls += 1
        if not self.reason:
            if self._spent > self._seconds:
                self.reason = f"computing values took more than {self._seconds:.0f} seconds"
            elif (self._calls % 16 == 0 or size > _LARGE) and resident() + size > self._memory:
                self.reason = f"computing values would take more than {self._memory >> 20} MB of memory"
        if size > _LARGEST:
            self.largest = max(self.largest, size)
        return size > _LARGEST or (size > _SMALL and (bool(self.reason) or self.only_small))


def _fits(value: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether an integer type holds every value: the device's indices may be a mask of its own."""
    if dtype is torch.bool or value.is_floating_point() or value.is_complex() or value.numel() == 0:
        return True
    span = torch.iinfo(dtype)
    return bool(value.min() >= span.min and value.max() <= span.max)


def _read_by(func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensor arguments from which the CPU computes."""
    unread = UNREAD.get(qualified(func))
    if unread is None:
        return inputs
    given = [*zip((p.name for p in func._schema.arguments), args, strict=False), *kwargs.items()]
    return [value for name, value in given if name not in unread and isinstance(value, torch.Tensor)]


def written_by(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The tensor arguments that an operator writes to."""
    found: list[torch.Tensor] = []
    parameters = func._schema.arguments
    given = [*zip(parameters, args, strict=False), *((p, kwargs[p.name]) for p in parameters if p.name in kwargs)]
    for parameter, value in given:
        if parameter.alias_info is not None and parameter.alias_info.is_write:
            found += [t for t in tree_leaves(value) if isinstance(t, torch.Tensor)]
    return found


def _on_cpu(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments for the CPU: its device, and no pinned memory."""
    changed = dict(kwargs)
    if changed.get("device") is not None:
        changed["device"] = "cpu"
    changed.pop("pin_memory", None)
    return changed
