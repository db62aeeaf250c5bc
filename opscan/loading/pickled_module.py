"""A module that ``torch.save`` pickled whole, unpickled because the user trusts it (``--trust``)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from opscan.errors import LoadError
from opscan.loading import offered
from opscan.loading.inputs import Input
from opscan.loading.interface import LoadedModel
from opscan.loading.notes import in_one_line
from opscan.loading.reference import PickledModuleReference
from opscan.loading.signature import required

#: Where checkpoints keep their module.
_USUAL_KEYS = ("model", "module", "ema", "net", "network")


def load(reference: PickledModuleReference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Its classes are imported from the file's folder, the working directory, or what is installed.

    Raises LoadError where they cannot be, or where the file holds no module.
    """
    path = Path(reference.path)
    sys.path[:0] = [p for p in (str(path.parent), os.getcwd()) if p not in sys.path]
    model = _module_in(_unpickled(path), path)
    model.float().train(train)
    missing = required(model.forward)
    if missing and not inputs:
        options = " ".join(f"--input {n}=1x128:int64" for n in missing)
        raise LoadError(
            f"The module in {path.name} takes inputs ({', '.join(missing)}), and none are given.",
            f"Give their shapes: {'--input-shape 1,3,224,224' if len(missing) == 1 else options}",
        )
    args, kwargs = offered.arguments(model, inputs, (), {}, path.name)
    return LoadedModel(model, args, kwargs)


def _unpickled(path: Path) -> Any:
    """Outside of any mode that a trace runs in: its weights are real, and are moved later."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    try:
        with _disable_current_modes():
            return torch.load(path, map_location="cpu", weights_only=False)
    except ModuleNotFoundError as error:
        raise LoadError(
            f"{path.name} holds an object of {error.name!r}, which cannot be imported here.",
            "Start opscan in the folder of the model's code, or install it beside opscan.",
        ) from error
    except Exception as error:  # unpickling runs whatever the file says
        raise LoadError(
            f"{path.name} cannot be unpickled: {in_one_line(error)}.",
            "Start opscan in the folder of the model's code, with the releases it was saved with.",
        ) from error


def _module_in(found: Any, path: Path) -> Any:
    """The object itself, or the module in a checkpoint that holds several things."""
    import torch

    if isinstance(found, torch.nn.Module):
        return found
    held = {k: v for k, v in found.items() if isinstance(v, torch.nn.Module)} if isinstance(found, dict) else {}
    key = next((k for k in _USUAL_KEYS if k in held), next(iter(held), None))
    if key is None:
        raise LoadError(f"{path.name} holds {type(found).__name__}, and no module.", "Give the model class as well.")
    return held[key]
