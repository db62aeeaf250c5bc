"""``flex_attention`` in eager mode: what the real torch_npu lets run, and what it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from traced_files import Trace

from opscan.errors import ModelError
from opscan.tracing.flexible_attention import _lets_npus_through

SOURCE = """
from torch.nn.attention.flex_attention import flex_attention
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
    def forward(self, x):
        x = self.linear(x)
        return flex_attention(x, x, x, score_mod=lambda score, b, h, i, j: score * torch.digamma(score))
"""


def test_it_runs_operator_by_operator(trace: Trace) -> None:
    traced = trace(SOURCE, "1,2,128,16")
    assert traced.complete
    # The products of queries and keys, and of weights and values; what the user's function does to scores.
    assert {"aten::digamma", "aten::matmul", "aten::logsumexp"} <= set(traced.names())


def test_a_training_step_is_not_followed_into_it(trace: Trace) -> None:
    traced = trace(SOURCE, "1,2,128,16", train=True)
    assert not traced.complete
    assert "flex_attention" in traced.inventory.trace.unseen[0]


def test_a_release_that_is_not_known_to_let_it_through(trace_for: Callable[..., Trace]) -> None:
    with pytest.raises(ModelError, match="FlexAttention is only supported on"):
        trace_for("2.10.0")(SOURCE, "1,2,128,16")


@pytest.mark.parametrize(
    ("release", "lets"), [("2.13.0", True), ("2.14.0.post1", True), ("2.13.0rc1", False), ("2.6.0.post5", False)]
)
def test_releases(release: str, lets: bool) -> None:
    assert _lets_npus_through(release) is lets
