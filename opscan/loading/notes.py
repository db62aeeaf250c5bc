"""What a loader chose, in words."""

from __future__ import annotations

from typing import Any

from opscan.text import Text


def random_weights(inputs: Any | None) -> Text:
    """The weights are random; ``inputs`` are those that were chosen, None where the user gave them."""
    if inputs is None:
        return Text("The weights are random.", "权重为随机值。")
    shown = described(inputs)
    return Text(
        f"The weights are random; the inputs are the model's usual ones: {shown}.",
        f"权重为随机值；输入为该模型的常用输入：{shown}。",
    )


def in_one_line(error: BaseException) -> str:
    """The error's class and the first line of what it says, without a full stop."""
    said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {said[:200]}".rstrip(".: ")


def described(inputs: Any) -> str:
    """Shapes and dtypes: ``pixel_values float32[1, 3, 224, 224]``."""
    import torch

    if isinstance(inputs, torch.Tensor):
        return f"{str(inputs.dtype).removeprefix('torch.')}{list(inputs.shape)}"
    if isinstance(inputs, dict):
        return ", ".join(f"{key} {described(value)}" for key, value in inputs.items())
    if isinstance(inputs, (list, tuple)):
        listed = ", ".join(described(item) for item in inputs)
        return f"[{listed}]" if isinstance(inputs, list) else listed
    return repr(inputs)
