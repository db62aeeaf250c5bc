"""A model of transformers by its configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opscan.errors import LoadError
from opscan.loading import offered
from opscan.loading.inputs import Input
from opscan.loading.installed import library
from opscan.loading.interface import LoadedModel
from opscan.loading.notes import in_one_line, random_weights
from opscan.loading.reference import ConfigurationReference


def load(
    path: Path, values: dict[str, Any], reference: ConfigurationReference, inputs: tuple[Input, ...], train: bool
) -> LoadedModel:
    """The class is the first of ``architectures`` that transformers has, else that of the model type without a head.

    Raises LoadError where transformers does not know it, or where it would run code that lies beside the configuration.
    """
    transformers = library("transformers", f"hf:{path}")
    from opscan.loading.transformers_inputs import inputs_for

    if reference.trust and "auto_map" in values:
        model = _remote(transformers, path, values)
    else:
        model = _known(transformers, path, values)
    model.train(train)
    own = {} if any(spec.name is None for spec in inputs) else inputs_for(model)
    args, kwargs = offered.arguments(model, inputs, (), own, f"hf:{path.name}")
    return LoadedModel(model, args, kwargs, (random_weights(None if inputs else own),))


def _known(transformers: Any, path: Path, values: dict[str, Any]) -> Any:
    architectures = [str(name) for name in values.get("architectures") or ()]
    cls = next((c for name in architectures if (c := getattr(transformers, name, None)) is not None), None)
    configuration = _configuration(transformers, path, values, cls)
    if getattr(configuration, "use_pretrained_backbone", False):  # its weights would be downloaded
        configuration.use_pretrained_backbone = False
    try:
        return cls._from_config(configuration) if cls else transformers.AutoModel.from_config(configuration)
    except ImportError as error:
        raise LoadError(f"{path} needs a library that is missing: {in_one_line(error)}.", "Install it.") from error
    except ValueError as error:
        raise LoadError(f"transformers builds no model from {path}: {in_one_line(error)}.", _PYTHON_FILE) from error


_PYTHON_FILE = "Scan a Python file with a function build_model() that builds it."


def _configuration(transformers: Any, path: Path, values: dict[str, Any], cls: Any) -> Any:
    mapping = transformers.models.auto.configuration_auto.CONFIG_MAPPING
    kind = values.get("model_type")
    if kind in mapping:
        return mapping[kind].from_dict(values)
    if "auto_map" in values:
        raise LoadError(
            f"{path} describes a model of its own code ({kind or 'auto_map'}), which transformers does not have.",
            "Where you trust that code, which lies beside it, add --trust.",
        )
    if cls is not None and getattr(cls, "config_class", None) is not None:
        return cls.config_class.from_dict(values)
    raise LoadError(
        f"transformers {transformers.__version__} knows no model type {kind!r} ({path}).",
        "Install a newer transformers, or scan a Python file that builds the model.",
    )


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
