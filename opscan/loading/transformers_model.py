"""A model of transformers by its configuration."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from opscan.errors import LoadError
from opscan.loading import offered
from opscan.loading.inputs import Input, build
from opscan.loading.installed import library
from opscan.loading.interface import LoadedModel
from opscan.loading.notes import in_one_line, random_weights
from opscan.loading.reference import ConfigurationReference
from opscan.loading.signature import parameters_of, required
from opscan.loading.transformers_class import class_for
from opscan.loading.transformers_offline import timm_names_known, without_cuda_kernels
from opscan.text import Text


def load(
    path: Path, values: dict[str, Any], reference: ConfigurationReference, inputs: tuple[Input, ...], train: bool
) -> LoadedModel:
    """The class is the first of ``architectures`` that transformers has, else that of the model type without a head,
    else one with a head.

    Raises LoadError where transformers does not know it or cannot build it, or where it would run code that lies
    beside the configuration.
    """
    transformers = library("transformers", f"hf:{path}")
    from opscan.loading.transformers_inputs import inputs_for
    from opscan.loading.transformers_texts import opened_tokens

    if reference.trust and "auto_map" in values:
        model, notes = _remote(transformers, path, values), list[Text]()
    else:
        model, notes = _known(transformers, path, values)
    model.train(train)
    notes += opened_tokens(model.config)
    positional, named = build(inputs)
    own, left_out = ({}, ()) if positional else inputs_for(model, named)
    missing = [name for name in required(model.forward) if name not in own]
    if missing and not inputs:
        raise LoadError(
            f"The inputs of {type(model).__name__} are not known: it takes {', '.join(missing)}.",
            "Give them: " + " ".join(f"--input {name}=1x16" for name in missing),
        )
    args, kwargs = offered.arguments(model, inputs, (), own, f"hf:{path.name}")
    return LoadedModel(model, args, kwargs, (random_weights(None if inputs else own), *notes, *left_out))


def _known(transformers: Any, path: Path, values: dict[str, Any]) -> tuple[Any, list[Text]]:
    """The model, and what of its configuration was changed."""
    configuration = _configuration(transformers, path, values)
    notes = without_cuda_kernels(configuration)
    if getattr(configuration, "use_pretrained_backbone", False):  # its weights would be downloaded
        configuration.use_pretrained_backbone = False
    cls = class_for(transformers, configuration, _architectures(values))
    if cls is None:
        raise LoadError(
            f"transformers {transformers.__version__} has no model of type {configuration.model_type!r} ({path}).",
            "It may configure a tokenizer or a part of another model: scan that model's configuration.",
        )
    if not _has_forward(cls):
        parts = ", ".join(name for name, value in vars(configuration).items() if hasattr(value, "model_type"))
        raise LoadError(
            f"{cls.__name__} ({path}) has no forward: its parts run one after another in generate().",
            f"Scan its parts one by one, each with a configuration of its own: {parts or 'see its documentation'}.",
        )
    try:
        with timm_names_known(transformers):
            return cls._from_config(configuration), notes
    except ImportError as error:
        raise LoadError(f"{path} needs a library that is missing: {in_one_line(error)}.", "Install it.") from error
    except _REFUSALS as error:
        raise _refused(path, error) from error


#: What transformers raises where numbers of a configuration are missing, or do not fit each other.
_REFUSALS = (ValueError, TypeError, AttributeError, KeyError, AssertionError, ZeroDivisionError, OSError)

#: How models of models ask for the configurations of theirs.
_ASKS_FOR_PARTS = re.compile(r"sub-?config|both .*encoder.* and .*decoder|has to be initialized with|can not be `?None")

_PYTHON_FILE = "Scan a Python file with a function build_model() that builds it."


def _refused(path: Path, error: BaseException) -> LoadError:
    said = in_one_line(error)
    if isinstance(error, OSError):
        return LoadError(
            f"{path} leaves a part of the model to a hub, from which it would be downloaded: {said}.",
            "A scan downloads nothing: write that part's configuration into this one.",
        )
    if _ASKS_FOR_PARTS.search(str(error)):
        return LoadError(
            f"{path} needs configurations of the model's parts: {said}.",
            "Write them into it, as the config.json of a trained model has them.",
        )
    return LoadError(
        f"transformers builds no model from {path}: {said}.",
        f"The configuration may lack a number, or a configuration of a part of the model. {_PYTHON_FILE}",
    )


def _architectures(values: dict[str, Any]) -> list[str]:
    return [str(name) for name in values.get("architectures") or ()]


def _has_forward(cls: Any) -> bool:
    import torch

    return cls.forward is not torch.nn.Module.forward


def _configuration(transformers: Any, path: Path, values: dict[str, Any]) -> Any:
    mapping = transformers.models.auto.configuration_auto.CONFIG_MAPPING
    kind = values.get("model_type")
    named = next((c for n in _architectures(values) if (c := getattr(transformers, n, None)) is not None), None)
    # The mapping loads a class when it is indexed; its get() does not.
    cls = mapping[kind] if kind in mapping else None  # noqa: SIM401
    if cls is None and "auto_map" in values:
        raise LoadError(
            f"{path} describes a model of its own code ({kind or 'auto_map'}), which transformers does not have.",
            "Where you trust that code, which lies beside it, add --trust.",
        )
    cls = cls or getattr(named, "config_class", None)
    if cls is None:
        raise LoadError(
            f"transformers {transformers.__version__} knows no model type {kind!r} ({path}).",
            "Install a newer transformers, or scan a Python file that builds the model.",
        )
    if "architecture" in (parameters_of(cls) or ()):  # of timm's: from_dict takes a missing number for None
        values = {"num_classes": values.get("num_labels", 2), **values}
    try:
        with timm_names_known(transformers):
            return cls.from_dict(values)
    except _REFUSALS as error:
        raise _refused(path, error) from error


def _remote(transformers: Any, path: Path, values: dict[str, Any]) -> Any:
    """By the code beside the configuration: the user trusts it."""
    folder = str(path.parent)
    configuration = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=True, local_files_only=True)
    for name, value in values.items():
        if name not in ("auto_map", "architectures", "model_type"):
            setattr(configuration, name, value)
    named = next((name for name in values["auto_map"] if name.startswith("AutoModel")), None)
    if named is None or not hasattr(transformers, named):
        raise LoadError(f"{path} names no model class in its auto_map.", _PYTHON_FILE)
    return getattr(transformers, named).from_config(configuration, trust_remote_code=True)
