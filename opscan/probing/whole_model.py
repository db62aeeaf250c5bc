"""The worker's part in comparing a whole model: loads the user's file, and answers with a report or an error."""

from __future__ import annotations

import traceback

import msgspec

from opscan.errors import OpscanError
from opscan.loading.preparation import Preparation
from opscan.probing.device import Device
from opscan.probing.layers.comparing import compare_layers
from opscan.probing.protocol import Compare, Compared, Failed
from opscan.tracing.interface import Recipe


def compare_model(device: Device, request: Compare) -> Compared | Failed:
    """Does not raise; the process may die or hang in it."""
    prepared = Preparation(request.reference, request.inputs, request.train)
    recipe = Recipe(prepared.build, prepared.root)
    try:
        report = compare_layers(recipe, device.name, request.train, request.seed, on_device=device.prepare)
        device.synchronize()
    except OpscanError as error:
        return Failed(request.ticket, type(error).__name__, error.message, error.hint, traceback.format_exc())
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:2000]
        hint = (
            f"Does it run on the CPU? opscan probe {request.reference} without --layers tries its operators one by one."
        )
        return Failed(
            request.ticket,
            "ModelError",
            f"The model does not run on {device.name}: {said}",
            hint,
            traceback.format_exc(),
        )
    return Compared(request.ticket, msgspec.Raw(msgspec.json.encode(report)))
