"""What every loader is given and returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from opscan.loading.inputs import Input
from opscan.text import Text

R = TypeVar("R", contravariant=True)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A callable with the arguments for one call of it. ``notes``: what was chosen where the reference does not say."""

    callable: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    notes: tuple[Text, ...] = ()


class Loader(Protocol[R]):
    """One kind of reference to a callable with inputs, in the process that holds torch.

    Raises LoadError where the reference does not lead to one; errors of the user's own code pass through. Inputs from
    the command line come before those that the loader would choose. It may run under a fake mode, and more than once.
    """

    def __call__(self, reference: R, inputs: tuple[Input, ...], train: bool) -> LoadedModel: ...
