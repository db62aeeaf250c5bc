"""Which class of transformers a configuration is for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any


def class_for(transformers: Any, configuration: Any, architectures: list[str]) -> Any:
    """The first of ``architectures`` that transformers has, else the one without a head, else one of those with a
    head; None where transformers has none.
    """
    named = next((c for name in architectures if (c := getattr(transformers, name, None)) is not None), None)
    return named or next(_listed(transformers, configuration), None) or next(_beside(configuration), None)


def _listed(transformers: Any, configuration: Any) -> Iterator[Any]:
    """By the tables of transformers' auto classes, that of models without a head first."""
    auto = transformers.models.auto.modeling_auto
    tables = (getattr(member, "_model_mapping", None) for name, member in vars(auto).items() if name.startswith("Auto"))
    for table in (auto.MODEL_MAPPING, *(table for table in tables if table is not None)):
        if type(configuration) in table:
            found = table[type(configuration)]
            yield found[0] if isinstance(found, (tuple, list)) else found


def _beside(configuration: Any) -> Iterator[Any]:
    """Classes that no table lists: those of the module beside the configuration's own that say they take it. A model
    with a head comes first: what is without one is a part of it.
    """
    package = type(configuration).__module__.rpartition(".configuration_")
    if not package[1]:
        return
    try:
        module = importlib.import_module(f"{package[0]}.modeling_{package[2]}")
    except ImportError:
        return
    classes = [
        member
        for member in vars(module).values()
        if isinstance(member, type)
        and getattr(member, "config_class", None) is type(configuration)
        and not member.__name__.endswith("PreTrainedModel")
    ]
    yield from sorted(classes, key=lambda found: "For" not in found.__name__)
