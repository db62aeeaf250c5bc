"""What of a model is run, on the real adapter: optimizers, gradient scaling, autocast."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rehearsed_files import Rehearsed

MODEL = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
    def forward(self, x):
        return self.norm(self.linear(x)).relu()

def build_model():
    return M()

def example_inputs():
    return (torch.randn(2, 8),)
"""


def test_scaled_gradients(rehearse: Callable[..., Rehearsed]) -> None:
    found = rehearse(MODEL, optimizer="adamw:clip_grad_norm=1.0", amp="fp16")
    assert found.only("aten::addmm").dtypes == ("float16",)
    assert found.verdicts("aten::_amp_foreach_non_finite_check_and_unscale_", "optimizer") == {"slow"}
    assert found.verdicts("aten::_amp_update_scale_", "optimizer") == {"supported"}
    assert found.verdicts("aten::_foreach_norm.Scalar", "optimizer") == {"supported"}
    assert found.result.trace.complete
    assert not found.findings("OPS603")
    assert not found.findings("OPS606")


@pytest.mark.parametrize("optimizer", ["sgd:momentum=0.9", "adafactor", "lbfgs:max_iter=2", "adamw:fused=true"])
def test_steps(rehearse: Callable[..., Rehearsed], optimizer: str) -> None:
    found = rehearse(MODEL, optimizer=optimizer)
    assert found.names("optimizer")
    assert not found.findings("OPS603")
    assert not found.findings("OPS606")


def test_an_optimizer_that_does_not_take_the_gradients(rehearse: Callable[..., Rehearsed]) -> None:
    found = rehearse(MODEL, optimizer="sparseadam")
    assert "SparseAdam does not take these gradients" in found.result.trace.unseen[0]


def test_packed_weights_run_on_the_host(rehearse: Callable[..., Rehearsed]) -> None:
    found = rehearse(
        """
        def build_model():
            return torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 4)), {nn.Linear})

        def example_inputs():
            return (torch.randn(2, 8),)
        """
    )
    assert found.verdicts("quantized::linear_dynamic") == {"fallback"}
    assert found.findings("OPS652")


def test_quantized_tensors_on_the_adapter(rehearse: Callable[..., Rehearsed]) -> None:
    found = rehearse(
        """
        class M(nn.Module):
            def forward(self, x):
                q = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
                return q.dequantize() + q.int_repr(), torch.relu(q)  # <-- here

        def build_model():
            return M()

        def example_inputs():
            return (torch.randn(2, 8),)
        """
    )
    assert found.verdicts("aten::dequantize.self") == {"supported"}
    assert found.verdicts("aten::int_repr") == {"supported"}
    assert found.verdicts("aten::relu") == {"unsupported"}
    assert not found.result.trace.complete
