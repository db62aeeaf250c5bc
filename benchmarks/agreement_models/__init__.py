"""The models that agreement is measured on: random weights, small configurations, many families.

``names()`` lists them as ``library/model``; ``build(name, train)`` makes one, with inputs of a small but usual size.
``modules()`` lists single modules and functions of torch besides, as ``torch/name``.
"""

from __future__ import annotations

from torchvision_schemas import declare

from agreement_models import of_timm, of_torch, of_torchvision, of_transformers, torchvision_kernels
from agreement_models.interface import Built

_LIBRARIES = {"torchvision": of_torchvision, "timm": of_timm, "transformers": of_transformers}
_MODULES = {"torch": of_torch}


def names() -> tuple[str, ...]:
    return tuple(f"{library}/{name}" for library, module in _LIBRARIES.items() for name in module.NAMES)


def modules() -> tuple[str, ...]:
    return tuple(f"torch/{name}" for name in of_torch.NAMES)


def build(name: str, train: bool) -> Built:
    """A model in training or evaluation mode with its inputs, on the CPU (or fake, under a fake mode)."""
    declare()
    torchvision_kernels.install()
    library, _, short = name.partition("/")
    return (_LIBRARIES | _MODULES)[library].build(short, train)


def import_libraries() -> None:
    """Everything that building a model imports, ahead of it: for processes that build many."""
    declare()
    torchvision_kernels.install()
    for module in _LIBRARIES.values():
        module.import_library()
