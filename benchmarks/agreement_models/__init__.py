"""The models that agreement is measured on: random weights, small configurations, many families.

``names()`` lists them as ``library/model``; ``build(name, train)`` makes one, with inputs of a small but usual size.
"""

from __future__ import annotations

from torchvision_schemas import declare

from agreement_models import of_timm, of_torchvision, of_transformers, torchvision_kernels
from agreement_models.interface import Built

_LIBRARIES = {"torchvision": of_torchvision, "timm": of_timm, "transformers": of_transformers}


def names() -> tuple[str, ...]:
    return tuple(f"{library}/{name}" for library, module in _LIBRARIES.items() for name in module.NAMES)


def build(name: str, train: bool) -> Built:
    """A model in training or evaluation mode with its inputs, on the CPU (or fake, under a fake mode)."""
    declare()
    torchvision_kernels.install()
    library, _, short = name.partition("/")
    return _LIBRARIES[library].build(short, train)


def import_libraries() -> None:
    """Everything that building a model imports, ahead of it: for processes that build many."""
    declare()
    torchvision_kernels.install()
    for module in _LIBRARIES.values():
        module.import_library()
