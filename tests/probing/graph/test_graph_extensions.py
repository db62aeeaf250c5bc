"""CUDA extensions in the graph route: their calls are listed beside what the graphs hold."""

from __future__ import annotations

from collections.abc import Callable

from opscan.inventory import Inventory


def test_a_call_lies_between_two_graphs(rehearse: Callable[..., Inventory]) -> None:
    found = rehearse(
        """
        import torch
        from flash_attn import flash_attn_func
        class M(torch.nn.Module):
            def forward(self, x):
                y = flash_attn_func(x.sin(), x, x)
                return y.cos()
        def build_model():
            return M()
        def example_inputs():
            return (torch.ones(1, 4, 2, 8),)
        """
    )
    names = [call.name for call in found.calls]
    assert {"aten::sin", "aten::cos", "cuda_extension::flash_attn.flash_attn_func"} == set(names)
    assert {finding.rule for finding in found.findings} == {"OPS610"}


def test_the_route_ends_where_nothing_is_known(rehearse: Callable[..., Inventory]) -> None:
    found = rehearse(
        """
        import torch
        import nvdiffrast.torch as dr
        class M(torch.nn.Module):
            def forward(self, x):
                return dr.antialias(x.sin())
        def build_model():
            return M()
        def example_inputs():
            return (torch.ones(2, 3),)
        """
    )
    assert "aten::sin" in [call.name for call in found.calls]
    assert "cuda_extension::nvdiffrast.torch.antialias" in [call.name for call in found.calls]
    assert not found.trace.attempts[-1].ok
    assert "OPS609" not in {finding.rule for finding in found.findings}
