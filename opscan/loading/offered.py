"""Arguments for models that bring their own inputs: what the command line gives comes before them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from opscan.errors import LoadError
from opscan.loading import inputs
from opscan.loading.inputs import Input
from opscan.loading.signature import parameters_of


def arguments(
    model: Callable[..., Any], given: tuple[Input, ...], args: Sequence[Any], kwargs: dict[str, Any], what: str
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """``args`` and ``kwargs`` where nothing is given. Given positional inputs replace them all; named ones replace or
    join those of ``kwargs``.

    Raises LoadError where the result does not fit the model's signature.
    """
    forward = getattr(model, "forward", model)
    parameters = parameters_of(forward)
    positional, keyword = inputs.build(given)
    if positional:
        args, kwargs = positional, {}
    if keyword and args:
        names = list(parameters or ())
        args = [keyword.pop(name, value) for name, value in zip(names, args, strict=False)]
    arguments = {**kwargs, **keyword}
    if parameters is not None:
        try:
            inspect.signature(forward).bind(*args, **arguments)
        except TypeError as error:
            raise LoadError(
                f"The inputs do not fit {what}: {error}.", f"It takes: {', '.join(parameters) or 'nothing'}."
            ) from error
    return tuple(args), arguments
