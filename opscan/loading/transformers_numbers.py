"""Numbers of a configuration of transformers, which may stand in it or in one of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: How parts are called that configure one modality.
TEXT = ("text", "decoder", "language", "llm", "thinker", "semantic", "encoder")
VISION = ("vision", "image", "backbone", "vit", "thinker", "vq", "encoder")
SOUND = ("audio", "speech", "encoder", "thinker", "acoustic", "decoder")


class Numbers:
    """Of a configuration first, then of its parts: those called like one of ``words``, in the order of the words."""

    def __init__(self, configuration: Any, words: tuple[str, ...] = TEXT + VISION + SOUND) -> None:
        self._places = [configuration]
        for word in words:
            self._places += [part for name, part in _parts(configuration) if word in name and part not in self._places]

    def get(self, *names: str) -> Any:
        """The first number, or list of numbers, under one of these names; None where there is none."""
        for place in self._places:
            for name in names:
                value = getattr(place, name, None)
                if isinstance(value, (int, float, list, tuple)) and not isinstance(value, bool) and value:
                    return value
        return None

    def integer(self, otherwise: int, *names: str) -> int:
        """Of a list its first number."""
        value = self.get(*names)
        value = value[0] if isinstance(value, (list, tuple)) else value
        return int(value) if isinstance(value, (int, float)) else otherwise

    def pair(self, otherwise: int, *names: str) -> tuple[int, int]:
        """Height and width, of two numbers or one."""
        value = self.get(*names) or otherwise
        if isinstance(value, (list, tuple)):
            return int(value[-2 if len(value) > 1 else -1]), int(value[-1])
        return int(value), int(value)


def configured(configuration: Any, name: str) -> Any:
    """Whatever the configuration, or else one of its parts, has under this name; None where none has it."""
    places = (configuration, *(part for _, part in _parts(configuration)))
    return next((value for place in places if (value := getattr(place, name, None)) is not None), None)


def special_tokens(configuration: Any) -> dict[str, int]:
    """Every token of its own meaning, by the name of its number (``pad_token_id``, ``image_token_index``)."""
    found: dict[str, int] = {}
    for place in (configuration, *(part for _, part in _parts(configuration))):
        for name, value in vars(place).items():
            if name.endswith(("token_id", "token_index")) and isinstance(value, int) and not isinstance(value, bool):
                found.setdefault(name, value)
    return found


def _parts(configuration: Any) -> Iterator[tuple[str, Any]]:
    """Configurations inside, by their names, those of parts after the parts."""
    direct = [
        (name, value)
        for name, value in vars(configuration).items()
        if hasattr(value, "model_type") and hasattr(value, "to_dict")
    ]
    yield from direct
    for name, part in direct:
        yield from ((f"{name}.{inner}", value) for inner, value in _parts(part))
