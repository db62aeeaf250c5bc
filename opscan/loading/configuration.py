"""``hf:FOLDER`` or ``hf:config.json``: a configuration of transformers or diffusers, with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from opscan.errors import LoadError
from opscan.loading.inputs import Input
from opscan.loading.interface import LoadedModel
from opscan.loading.reference import ConfigurationReference


def load(reference: ConfigurationReference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """``--arg`` changes values of the configuration. Raises LoadError where it is none, or needs code of its own."""
    path = Path(reference.path)
    values = _values(path)
    if path.name == "model_index.json" or ("_diffusers_version" in values and "_class_name" not in values):
        raise _pipeline(path, values)
    for argument in reference.arguments:
        values[argument.name] = argument.value
    if "_class_name" in values:
        from opscan.loading import diffusers_model

        return diffusers_model.load(path, values, inputs, train)
    from opscan.loading import transformers_model

    return transformers_model.load(path, values, reference, inputs, train)


def _values(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise LoadError(f"{path} is no configuration: {error}.", "It is a JSON file, config.json as a rule.") from error
    if not isinstance(values, dict):
        raise LoadError(f"{path} holds {type(values).__name__}, and no configuration.", "It is a JSON object.")
    return values


def _pipeline(path: Path, values: dict[str, Any]) -> LoadError:
    parts = [name for name in values if (path.parent / name / "config.json").is_file()]
    listed = " or ".join(f"hf:{path.parent / name}" for name in parts[:6])
    return LoadError(
        f"{path} describes a pipeline of several models.", f"Scan them one by one: {listed or 'the folder of each'}"
    )
