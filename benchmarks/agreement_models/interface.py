"""What building a model yields."""

from __future__ import annotations

from typing import Any, NamedTuple


class Built(NamedTuple):
    """A model, and the positional and keyword arguments of one call."""

    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
