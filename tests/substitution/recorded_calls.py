"""Hand-built calls, as a trace would record them."""

from __future__ import annotations

from typing import Any

from opscan.inventory import Dim, OpCall, Phase, TensorSpec
from opscan.substitution.interface import Code


def spec(dtype: str, *shape: Dim) -> TensorSpec:
    return TensorSpec(dtype, shape)


def call(
    name: str,
    inputs: dict[str, TensorSpec],
    outputs: tuple[TensorSpec, ...] = (),
    phase: Phase = "forward",
    **attributes: Any,
) -> OpCall:
    """A call whose tensors fill the parameters that ``inputs`` names; attributes are given as values."""
    return OpCall(
        name=name,
        phase=phase,
        inputs=tuple(inputs.values()),
        outputs=outputs,
        attributes=tuple((key, repr(value)) for key, value in attributes.items()),
        parameters=tuple(inputs),
    )


def run(source: str, /, **variables: Any) -> Any:
    """What a user gets who pastes ``source``."""
    import torch

    scope: dict[str, Any] = {"torch": torch, **variables}
    exec(source, scope)
    return scope["out"]


def assert_runs_alike(code: Code, /, **variables: Any) -> None:
    """The code shown as ``after`` gives what the code shown as ``before`` gives, within float32."""
    import torch

    before, after = run(code.before, **variables), run(code.after, **variables)
    torch.testing.assert_close(after, before, rtol=1.3e-6, atol=1e-5, check_dtype=False, equal_nan=True)
