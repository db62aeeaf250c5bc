"""CUDA extensions in a rehearsal: the stand-in's values, and where a rehearsal ends."""

from __future__ import annotations

from collections.abc import Callable

from rehearsed_files import Rehearsed

Rehearse = Callable[..., Rehearsed]

ATTENTION = """
from flash_attn import flash_attn_func
class M(nn.Module):
    def forward(self, x):
        y = flash_attn_func(x, x, x)  # <-- here
        if y.sum() > 0:
            return y.cos()
        return y.sin()
def example_inputs():
    return (torch.ones(1, 4, 2, 8),)
"""


def test_a_call_is_one_operator_and_has_values(rehearse: Rehearse) -> None:
    found = rehearse(ATTENTION)
    op = found.only("cuda_extension::flash_attn.flash_attn_func")
    assert (op.verdict, op.rule) == ("unsupported", "OPS114")
    assert op.launches == ()
    assert "aten::cos" in found.names()
    assert "aten::_softmax" not in found.names()
    assert found.here in found.lines("OPS610")


def test_a_rehearsal_ends_where_nothing_is_known(rehearse: Rehearse) -> None:
    found = rehearse(
        """
        import nvdiffrast.torch as dr
        class M(nn.Module):
            def forward(self, x):
                return dr.antialias(x.sin())  # <-- here
        def example_inputs():
            return (torch.ones(2, 3),)
        """
    )
    assert "aten::sin" in found.names()
    assert not found.result.trace.complete
    assert f"model.py:{found.here}" in found.result.trace.unseen[0]
    assert not found.result.trace.attempts[-1].ok


def test_an_optional_package_that_the_model_needs(rehearse: Rehearse) -> None:
    found = rehearse(
        """
        try:
            from causal_conv1d import causal_conv1d_fn
        except ImportError:
            causal_conv1d_fn = None
        class M(nn.Module):
            def forward(self, x):
                return causal_conv1d_fn(x, torch.ones(3, 2, device=x.device))
        def example_inputs():
            return (torch.ones(1, 3, 4),)
        """
    )
    assert found.verdicts("cuda_extension::causal_conv1d.causal_conv1d_fn") == {"unsupported"}
