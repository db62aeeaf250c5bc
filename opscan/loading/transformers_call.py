"""The call that inputs are made for: what a model's ``forward`` takes, and what was made for it so far."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opscan.loading.signature import parameters_of, required
from opscan.loading.transformers_numbers import configured
from opscan.text import Text


@dataclass(slots=True)
class Call:
    """``made`` grows: a maker asks with ``get`` for what it depends on, and that is made first.

    ``kind`` is the configuration's model type. ``wanted`` are the parameters that the call will have.
    """

    model: Any
    makers: Mapping[str, Callable[[Call], Any]]
    wanted: tuple[str, ...]
    configuration: Any = field(init=False)
    kind: str = field(init=False)
    parameters: tuple[str, ...] = field(init=False)
    required: tuple[str, ...] = field(init=False)
    made: dict[str, Any] = field(default_factory=dict)
    notes: list[Text] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.configuration = self.model.config
        self.kind = str(getattr(self.configuration, "model_type", ""))
        self.parameters = tuple(parameters_of(self.model.forward) or ())
        self.required = tuple(required(self.model.forward))

    def get(self, name: str) -> Any:
        """The input of this name; None where the call has none, or nobody knows how to make it."""
        if name not in self.made and name in self.wanted and name in self.makers:
            self.made[name] = None  # a maker that asks for itself gets nothing
            self.made[name] = self.makers[name](self)
        return self.made.get(name)

    def takes(self, name: str) -> bool:
        return name in self.parameters

    def leave_out(self, names: Iterable[str], why: str) -> None:
        """Do without these inputs, and say so."""
        listed = ", ".join(name for name in names if self.made.get(name) is not None)
        self.made.update(dict.fromkeys(names))
        self.notes.append(Text(f"The call goes without {listed}: {why}.", f"调用中省略 {listed}：{why}。"))

    def arguments(self) -> dict[str, Any]:
        """All inputs, in the order of the parameters."""
        for name in self.wanted:
            self.get(name)
        return {name: self.made[name] for name in self.parameters if self.made.get(name) is not None}

    def of_the_same_name(self, function: Callable[..., Any]) -> dict[str, Any] | None:
        """Inputs for another method of the model, whose parameters are called like those of ``forward``; None where
        one that it requires is not there."""
        found: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            value = self.get(name)
            if value is not None:
                found[name] = value
            elif parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                own = configured(self.configuration, name)  # vision_feature_layer and its like
                if own is None:
                    return None
                found[name] = own
        return found
