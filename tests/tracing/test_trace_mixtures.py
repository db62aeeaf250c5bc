"""What mixtures of experts and models of text and images ask of values: sizes of shares, places of features."""

from __future__ import annotations

import pytest
from traced_files import Trace

from opscan.errors import ModelError


def test_shares_of_experts_that_are_not_known_are_equal(trace: Trace) -> None:
    traced = trace(
        """
class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(4, 3), nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        chosen = self.gate(x).argmax(-1)
        sizes = torch.zeros(len(x), 3).to(x.device).scatter(1, chosen[:, None], 1).long().sum(0).tolist()
        parts = x[chosen.argsort()].split(sizes)
        return torch.cat([expert(part) for expert, part in zip(self.experts, parts)])
""",
        "8,4",
    )
    assert not traced.failed
    rows = [call.outputs[0].shape[0] for call in traced.calls if call.outputs and call.outputs[0].shape[1:] == (4,)]
    assert {2, 3} <= set(rows)
    assert "equal sizes" in [finding.facts.get("answer") for finding in traced.inventory.findings]


def test_a_wrong_split_is_the_models_own(trace: Trace) -> None:
    with pytest.raises(ModelError, match="split_with_sizes"):
        trace("def build_model():\n    return lambda x: x.split([1, 1])\n", "3,4")


def test_places_of_an_image_are_known_however_wide_its_features(trace: Trace) -> None:
    traced = trace(
        """
class Places(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 2048)

    def forward(self, image):
        ids = torch.tensor([[1] + [5] * 40 + [2] * 30], device=image.device)
        x = self.table(ids)
        places = (ids == 5)[..., None].expand_as(x)
        if x[places].numel() != image.numel():
            raise ValueError("features do not match")
        return x.masked_scatter(places, image)


def example_inputs():
    return torch.zeros(40, 2048)
"""
    )
    assert not traced.failed
    assert traced.only("aten::masked_scatter").outputs[0].shape == (1, 71, 2048)


def test_numbers_of_a_device_in_a_list_are_read_one_by_one(trace: Trace) -> None:
    listed = "torch.tensor([[x.sum(), 2.0], [x[0, 0], 1.0]], device=x.device)"
    traced = trace(f"def build_model():\n    return lambda x: {listed}\n", "2,2")
    assert not traced.failed
    assert traced.times("aten::_local_scalar_dense") == 2


def test_repeats_and_lengths_that_are_not_known_agree(trace: Trace) -> None:
    """A text that is spoken: each token lasts as long as a predictor says."""
    traced = trace(
        """
class Lasting(nn.Module):
    def __init__(self):
        super().__init__()
        self.durations = nn.Linear(4, 1)

    def forward(self, x):
        durations = self.durations(x)[:, 0].round().long()
        whole = torch.zeros(durations.sum().item(), 4, device=x.device)
        repeated = torch.repeat_interleave(x, durations, dim=0)
        whole[: len(repeated)] = repeated
        return whole
""",
        "7,4",
    )
    assert not traced.failed
    answers = [finding.facts.get("answer") for finding in traced.inventory.findings]
    assert answers == ["1", "1 in all"]


def test_scalar_tensors_as_an_index_are_read_one_by_one(trace: Trace) -> None:
    traced = trace(
        """
class Scattered(nn.Module):
    def forward(self, x, places):
        rows, columns = zip(*places)
        x = x.clone()
        x[rows, columns] = 0.0
        return x


def example_inputs():
    return torch.ones(4, 4), torch.tensor([[0, 1], [2, 3]])
"""
    )
    assert not traced.failed
    assert traced.times("aten::_local_scalar_dense") == 4


def test_a_grouped_product_in_float32_is_one_product_a_group(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(4, 8, 16))

            def forward(self, x):
                ends = torch.tensor([2, 4, 6, 8], dtype=torch.int32, device=x.device)
                return torch._grouped_mm(x, self.weight, offs=ends)
        """,
        "8,8",
        train=True,
    )
    forward, *backward = (call for call in found.inventory.calls if call.name == "aten::_grouped_mm")
    assert forward.outputs[0].shape == (8, 16)
    assert "aten::mm.out" in {part.name for part in forward.parts}
    assert (4, 8, 16) in {call.outputs[0].shape for call in backward}
    assert found.complete
