"""Whether a model runs without the tracer: run as a script, in a process of its own, with a model as JSON in its
argument. It is built as a scan builds it, with the same inputs, and called once: on the CPU, or on the meta
device where it has very many parameters. Prints ``cpu``, ``meta`` or why it does not run.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import msgspec

from opscan.loading.inputs import InputSpec
from opscan.loading.preparation import Preparation
from sweeping.records import Model

#: Parameters that are allocated, and set to random numbers, at most.
_MOST = 400_000_000


def main() -> None:
    model = msgspec.json.decode(sys.argv[1], type=Model)
    answers, sys.stdout = sys.stdout, sys.stderr
    print(_run(model), file=answers)


def _run(model: Model) -> str:
    import torch

    preparation = Preparation(
        model.reference, (InputSpec(None, model.shape, "float32"),) if model.shape else (), train=False
    )
    device = "meta" if _size(preparation) > _MOST else "cpu"
    try:
        with torch.device(device), torch.no_grad():
            called, args, kwargs = preparation.build()
            called(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return device


def _size(preparation: Preparation) -> int:
    """Parameters of the model; 0 where it cannot be built without memory."""
    import torch

    try:
        with torch.device("meta"):
            called, _, _ = preparation.build()
    except Exception:
        return 0
    return sum(p.numel() for p in called.parameters()) if isinstance(called, torch.nn.Module) else 0


if __name__ == "__main__":
    main()
