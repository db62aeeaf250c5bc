"""``--amp``: forward under autocast, training with scaled gradients, and chips that have no bfloat16."""

from __future__ import annotations

from collections.abc import Callable

from traced_files import Trace

MODEL = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
    def forward(self, x):
        return self.norm(self.linear(x)).relu()
"""


def test_forward_runs_under_autocast(trace: Trace) -> None:
    for amp, dtype in (("fp16", "float16"), ("bf16", "bfloat16")):
        found = trace(MODEL, "2,8", amp=amp)
        assert set(found.only("aten::addmm").dtypes) == {dtype}
        assert set(found.only("aten::native_layer_norm").dtypes) == {"float32"}
        assert found.complete
    assert set(trace(MODEL, "2,8").only("aten::addmm").dtypes) == {"float32"}


def test_training_in_float16_scales_its_gradients(trace: Trace) -> None:
    found = trace(MODEL, "2,8", train=True, amp="fp16")
    step = found.names("optimizer")
    unscale = step.index("aten::_amp_foreach_non_finite_check_and_unscale_")
    assert unscale < step.index("aten::_local_scalar_dense") < step.index("aten::_foreach_addcdiv_.ScalarList")
    assert step[-1] == "aten::_amp_update_scale_"
    assert set(found.only("aten::_foreach_sqrt", "optimizer").dtypes) == {"float32"}
    assert found.times("aten::mul.Tensor", "backward") == 2  # the loss is scaled, and its gradient
    assert found.complete
    assert found.findings() == []


def test_training_in_bfloat16_does_not(trace: Trace) -> None:
    found = trace(MODEL, "2,8", train=True, amp="bf16")
    assert not any("_amp_" in name for name in found.names("optimizer"))
    assert set(found.only("aten::mm", "backward").dtypes) == {"bfloat16"} or found.times("aten::mm", "backward") > 1


def test_gradients_are_unscaled_before_they_are_clipped(trace: Trace) -> None:
    step = trace(MODEL, "2,8", optimizer="adamw:clip_grad_norm=1.0", amp="fp16").names("optimizer")
    assert step.index("aten::_amp_foreach_non_finite_check_and_unscale_") < step.index("aten::_foreach_norm.Scalar")


def test_a_chip_without_bfloat16_switches_autocast_off(trace_for: Callable[..., Trace]) -> None:
    trace = trace_for("2.13.0", "ascend310p")
    found = trace(MODEL, "2,8", amp="bf16")
    assert set(found.only("aten::addmm").dtypes) == {"float32"}
    (finding,) = found.findings("OPS651")
    assert finding.facts == {"dtype": "bfloat16"}
    assert not trace(MODEL, "2,8", amp="fp16").findings()


def test_the_line_of_a_models_own_autocast_that_is_switched_off(trace_for: Callable[..., Trace]) -> None:
    found = trace_for("2.13.0", "ascend910")(
        """
        class M(nn.Module):
            def forward(self, x):
                with torch.autocast("npu", dtype=torch.bfloat16):  # <-- here
                    return x @ x
        """,
        "8,8",
    )
    assert found.finding_lines("OPS651") == {found.line()}
    assert set(found.only("aten::matmul").dtypes) == {"float32"}
