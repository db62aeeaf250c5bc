"""Models are built as their own code builds them: casts, ties, initialisers that read, values at construction."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from traced_files import Scanner, Trace


def test_half_at_construction(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 4).half()
                self.recurrent = nn.LSTM(4, 4).half()
            def forward(self, x):
                return self.recurrent(self.linear(x.half())[None])[0]
        """,
        "2,8",
    )
    assert found.complete
    assert found.only("aten::addmm").dtypes == ("float16",) * 3
    assert set(found.only("npu::_lstm_npu").dtypes) == {"float16"}
    assert found.inventory.parameters == 8 * 4 + 4 + 2 * (4 * 4 * 4) + 2 * 16


@pytest.mark.parametrize("cast", ["to(torch.bfloat16)", "bfloat16()", "to(dtype=torch.bfloat16)"])
def test_bfloat16_of_a_recurrent_module(trace: Trace, cast: str) -> None:
    found = trace(f"model = nn.LSTM(8, 4, batch_first=True).{cast}", "2,3,8:bfloat16")
    assert set(found.only("npu::_lstm_npu").dtypes) == {"bfloat16"}


def test_tied_weights_are_counted_once_and_stay_tied(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(10, 8)
                self.head = nn.Linear(8, 10, bias=False)
                self.head.weight = self.embedding.weight
                self.half()
                assert self.head.weight is self.embedding.weight
            def forward(self, ids):
                assert self.head.weight is self.embedding.weight
                return self.head(self.embedding(ids))
        """,
        "1,4:int64",
    )
    assert found.inventory.parameters == 80
    assert found.only("aten::embedding").dtypes == ("float16", "int64")


def test_initialisers_of_torch_read_no_values(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
                nn.init.trunc_normal_(self.linear.weight, std=0.02)
                nn.init.orthogonal_(self.linear.weight)
                nn.init.sparse_(self.linear.weight, 0.1)
                self.linear.weight.data.normal_(0, 1.0).clamp_(-1, 1)
                self.linear.bias.data.fill_(0)
                with torch.no_grad():
                    self.linear.weight[0] = 1
                    self.linear.weight.copy_(torch.eye(8)).mul_(2)
            def forward(self, x):
                return self.linear(x)
        """,
        "1,8",
    )
    assert found.complete
    assert found.findings() == []
    assert found.names() == ["aten::t", "aten::addmm"]


def test_an_initialiser_of_the_users_that_reads_values_goes_on(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
                with torch.no_grad():
                    if self.linear.weight.abs().max() > 1:  # <-- here
                        self.linear.weight.mul_(0.5)
            def forward(self, x):
                return self.linear(x)
        """,
        "1,8",
    )
    assert found.names() == ["aten::t", "aten::addmm"]
    assert found.finding_lines("OPS603") == {found.line()}


def test_values_computed_at_construction_are_known(trace: Trace) -> None:
    found = trace(
        """
        import math
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.rates = [rate.item() for rate in torch.linspace(0, 0.3, 4)]
                self.steps = torch.linspace(0, 1, 3).tolist()
                assert abs(self.rates[3] - 0.3) < 1e-6 and self.steps == [0.0, 0.5, 1.0]
                assert int(torch.tensor([3, 5]).prod()) == 15
                assert bool(torch.tensor([1.0, 2.0]).numpy().sum() == 3.0)
                assert torch.arange(4).cumsum(0)[-1] == 6
            def forward(self, x):
                return x * self.rates[3]
        """,
        "1,8",
    )
    assert found.complete
    assert dict(found.only("aten::mul.Tensor").attributes)["other"].startswith("0.3")


def test_a_position_table_keeps_its_dtype_and_is_no_assumption(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                table = torch.zeros(16, 8)
                position = torch.arange(16).unsqueeze(1)
                rate = torch.exp(torch.arange(0, 8, 2) * -0.5)
                table[:, 0::2] = torch.sin(position * rate)
                table[:, 1::2] = torch.cos(position * rate)
                self.register_buffer("table", table)
            def forward(self, x):
                return x + self.table[: x.size(0)]
        """,
        "4,8",
    )
    assert found.complete
    assert found.names() == ["aten::slice.Tensor", "aten::add.Tensor"]


def test_copies_of_modules_are_parameters_of_their_own(trace: Trace) -> None:
    found = trace(
        """
        import copy
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                layer = nn.Linear(8, 8)
                self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(3)])
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """,
        "4,8",
    )
    assert found.inventory.parameters == 3 * 72
    assert {c.location.module for c in found.calls if c.location} == {"layers.0", "layers.1", "layers.2"}


def test_a_model_on_meta_is_moved(trace: Trace) -> None:
    found = trace(
        """
        def build_model():
            with torch.device("meta"):
                return nn.Linear(8, 4)
        """,
        "4,8",
    )
    assert found.only("aten::addmm").outputs[0].shape == (4, 4)


@pytest.mark.parametrize("options", ["", ", map_location='cpu'", ", weights_only=True"])
def test_weights_are_loaded_from_a_file(trace: Trace, tmp_path: Path, options: str) -> None:
    torch.save({"weight": torch.ones(4, 8), "bias": torch.ones(4)}, tmp_path / "weights.pt")
    found = trace(
        f"""
        import pathlib
        model = nn.Linear(8, 4)
        model.load_state_dict(torch.load(pathlib.Path(__file__).with_name("weights.pt"){options}))
        """,
        "2,8",
    )
    assert found.complete
    assert found.names() == ["aten::t", "aten::addmm"]


def test_contents_of_parameters_may_be_replaced(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
                self.linear.weight.data = torch.eye(8)
                self.linear.weight.data = self.linear.weight.data.half().float()
                self.linear.weight.requires_grad_(False)
            def forward(self, x):
                self.linear.weight.data = self.linear.weight.data / 2
                return self.linear(x)
        """,
        "4,8",
    )
    assert found.names() == ["aten::detach", "aten::div.Tensor", "aten::t", "aten::addmm"]


def test_a_model_without_parameters_and_a_plain_function(trace: Trace) -> None:
    found = trace("def build_model():\n    return lambda x: x.relu()", "4,8")
    assert found.names() == ["aten::relu"]
    assert found.inventory.parameters == 0


def test_a_buffer_that_counts_keeps_its_value(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.tensor(0))
                self.scale = nn.Parameter(torch.tensor(2.0))
            def forward(self, x):
                self.calls += 1
                return x * self.scale if self.calls == 1 else x.exp()
        """,
        "2,8",
    )
    assert found.complete
    assert "aten::mul.Tensor" in found.names()
    assert "aten::exp" not in found.names()


def test_lazy_modules(trace: Trace) -> None:
    found = trace("model = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d())", "4,8", train=True)
    assert found.complete
    assert [s.shape for s in found.only("aten::addmm").inputs] == [(4,), (4, 8), (8, 4)]
    assert {"aten::mm", "aten::native_batch_norm_backward"} <= set(found.names("backward"))
    assert found.times("aten::uniform_") == 2  # initialised by the first call, on the device


def test_lazy_modules_in_half_precision(trace: Trace) -> None:
    found = trace("model = nn.LazyConv2d(4, 3).half()", "1,3,8,8:float16")
    assert found.only("aten::convolution").dtypes == ("float16", "float16", "float16")


def test_a_cast_to_float64_on_the_device_gives_float32(trace: Trace) -> None:
    found = trace("def build_model():\n    return lambda x: x.double().exp()", "4,8")
    assert found.only("aten::exp").dtypes == ("float32",)


def test_the_same_file_twice_is_the_same_inventory(scanner: Scanner, tmp_path: Path) -> None:
    source = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.stack = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.GELU())
        def forward(self, x):
            return self.stack(x).mean((2, 3))
    """
    first, second = (scanner(tmp_path, source, ("1,3,8,8",), train=True).inventory for _ in range(2))
    assert first == second
