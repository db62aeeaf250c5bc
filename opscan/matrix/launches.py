"""Reading what the simulated runtime logged for one operator call.

A launch is written ``aclnnAddmm[T:float32 T:float32 S:int64 v 0]``: the arguments of the kernel's ``GetWorkspaceSize``
call in order, without floating-point values (they travel in registers the log does not see). ``T`` tensor, ``L`` tensor
list, ``S`` scalar, ``I B F Z`` arrays of int, bool, float, scalar, ``v`` a plain value, ``0`` null or zero. The other
words of the log are copies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from opscan.inventory import KernelArgument, KernelLaunch

#: A copy to or from the host for which the caller waits (``aclrtMemcpy``), and an asynchronous one to the host.
COPY_WORDS = frozenset({"copy", "D2H"})

_LAUNCH = re.compile(r"((?:GE )?\w+)\[([^\]]*)\]")

#: Graph-engine operators of the legacy path are named with this prefix.
LEGACY = "GE "


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a kernel: its kind letter, and dtypes where it holds tensors or a scalar.

    ``ranks``: the numbers of dimensions of its tensors, in the same order; empty where they are not known.
    """

    kind: str
    dtypes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.kind}:{','.join(self.dtypes)}" if self.dtypes else self.kind


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch: the aclnn API, or ``GE`` and the graph-engine operator of the legacy path.

    The legacy path writes dtypes only (``GE Cast[int64 > float32]``, inputs before outputs, ``null`` for an input left
    out): its arguments are the inputs, of kind ``T``, its ``results`` the dtypes of the outputs.
    """

    api: str
    arguments: tuple[Argument, ...]
    results: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.api}[{' '.join(map(str, self.arguments))}]"


def parse_launch(text: str) -> Launch | None:
    """The launch that ``text`` writes; None for a copy or anything else that is no launch."""
    match = _LAUNCH.fullmatch(text)
    if match is None:
        return None
    if match[1].startswith(LEGACY):
        inputs, _, outputs = match[2].partition(">")
        arguments = (Argument("0") if word == "null" else Argument("T", (word,)) for word in inputs.split())
        return Launch(match[1], tuple(arguments), tuple(outputs.split()))
    return Launch(match[1], tuple(_argument(word) for word in match[2].split()))


def _argument(word: str) -> Argument:
    kind, _, dtypes = word.partition(":")
    return Argument(kind, tuple(dtypes.split(",")) if dtypes else ())


def of_observed(launch: KernelLaunch) -> Launch:
    """A launch that was seen with its shapes, as one to judge."""
    return Launch(
        launch.api,
        tuple(_of_argument(argument) for argument in launch.arguments),
        tuple(spec.dtype for spec in launch.results),
    )


def _of_argument(argument: KernelArgument) -> Argument:
    dtypes = tuple(spec.dtype for spec in argument.tensors)
    ranks = tuple(len(spec.shape) for spec in argument.tensors) if argument.kind in ("T", "L") else ()
    return Argument(argument.kind, dtypes, ranks)


def split_events(text: str) -> tuple[str, ...]:
    """The events of one logged call: ``"aclnnMin[…] ; copy"`` → ``("aclnnMin[…]", "copy")``."""
    return tuple(event for event in text.split(" ; ") if event)
