"""Small models through the tracer of the graph route that needs no torch_npu."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from traced_files import Scanner, Trace, Traced, release_of

from opscan.worker.host import Engine, Worker


@pytest.fixture(scope="module")
def scanner_of_graphs() -> Iterator[Scanner]:
    with Worker(Engine(tracer="captured-graph")) as running:
        yield Scanner(running, release_of("2.13.0"))


@pytest.fixture
def capture(scanner_of_graphs: Scanner, tmp_path: Path) -> Trace:
    def run(source: str, *inputs: str, train: bool = False, **options: str) -> Traced:
        return scanner_of_graphs(tmp_path, source, inputs, train, **options)

    return run


def test_a_model_as_torchair_is_given_it(capture: Trace) -> None:
    found = capture(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 8, 3)
                self.norm = nn.BatchNorm2d(8)
                self.head = nn.Linear(8, 4)

            def forward(self, x):
                x = F.relu(self.norm(self.conv(x)), inplace=True)  # <-- block
                x = F.adaptive_avg_pool2d(x, 1).view(x.shape[0], -1)  # <-- pool
                return self.head(F.dropout(x, 0.5, training=self.training))  # <-- head

        model = Net().eval()
        """,
        "2,3,16,16",
    )
    assert found.complete
    assert found.inventory.parameters == 276
    assert [(c.name, c.count) for c in found.calls] == [
        ("aten::convolution", 1),
        ("aten::_native_batch_norm_legit_no_training", 1),
        ("aten::relu", 1),  # in place in the model, functional in a graph
        ("aten::mean.dim", 1),  # as the adapter composes it
        ("aten::reshape", 1),  # of a view
        ("aten::t", 1),
        ("aten::addmm", 1),
    ]
    convolution = found.only("aten::convolution")
    assert convolution.parameters == ("input", "weight", "bias")
    assert [spec.shape for spec in convolution.inputs] == [(2, 3, 16, 16), (8, 3, 3, 3), (8,)]
    assert convolution.outputs[0].shape == (2, 8, 14, 14)
    assert ("transposed", "False") in convolution.attributes
    assert convolution.location is not None
    assert (convolution.location.line, convolution.location.module) == (found.line("block"), "conv")
    assert found.lines_of("aten::mean.dim") == {found.line("pool")}
    assert found.lines_of("aten::addmm") == {found.line("head")}


def test_writing_in_place_becomes_functional(capture: Trace) -> None:
    found = capture(
        """
        def model(x):
            y = x * 2
            y[:, 0] = 1.0
            y.add_(x)
            a, b = y.split(2, dim=1)
            return a.t() @ b
        """,
        "3,4",
    )
    names = found.names()
    assert not [name for name in names if name.partition(".")[0].endswith("_")]
    assert {"aten::select_scatter", "aten::add.Tensor", "aten::split.Tensor", "aten::matmul"} <= set(names)


def test_attention_is_the_adapter_s_own_operator(capture: Trace) -> None:
    found = capture(
        """
        def model(q):
            return F.scaled_dot_product_attention(q, q, q, is_causal=True)  # <-- here
        """,
        "1,2,8,16",
    )
    assert found.names() == ["aten::ones", "aten::triu", "npu::npu_fusion_attention_v3"]
    call = found.only("npu::npu_fusion_attention_v3")
    assert len(call.inputs) == 4
    assert call.outputs[0].shape == (1, 2, 8, 16)
    assert found.lines_of(call.name) == {found.line()}


def test_a_custom_operator_is_a_node(capture: Trace) -> None:
    found = capture(
        """
        @torch.library.custom_op("mine::double", mutates_args=())
        def double(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @double.register_fake
        def _(x):
            return torch.empty_like(x)

        def model(x):
            return double(x) + 1
        """,
        "2,3",
    )
    assert found.names() == ["mine::double", "aten::add.Tensor"]
    assert found.only("mine::double").inputs[0].shape == (2, 3)


def test_where_a_value_is_asked_for_the_graph_is_left(capture: Trace) -> None:
    found = capture(
        """
        def model(x):
            y = torch.relu(x)
            if y.sum() > 0:  # <-- here
                return torch.tanh(y)
            return torch.sin(y)
        """,
        "2,3",
    )
    assert not found.complete
    assert found.finding_lines("OPS607") == {found.line()}
    assert f"model.py:{found.line()}" in found.inventory.trace.unseen[0]
    assert found.names() == ["aten::relu", "aten::sum", "aten::gt.Scalar", "aten::sin"]


def test_what_runs_between_two_graphs_is_told_and_not_listed(capture: Trace) -> None:
    found = capture(
        """
        def model(x):
            return x.nonzero().float() * 2  # <-- here
        """,
        "2,3",
    )
    assert "aten::nonzero" not in found.names()
    assert "aten::mul.Tensor" in found.names()
    assert found.finding_lines("OPS607") == {found.line()}
    assert "there run aten::nonzero" in found.inventory.trace.unseen[0]


def test_recurrent_modules_are_outside(capture: Trace) -> None:
    found = capture(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm = nn.LSTM(4, 8, batch_first=True)
                self.head = nn.Linear(8, 2)

            def forward(self, x):
                out, _ = self.lstm(x)  # <-- here
                return self.head(out[:, -1])

        model = Net().eval()
        """,
        "2,5,4",
    )
    assert "aten::addmm" in found.names()
    assert not [name for name in found.names() if "lstm" in name]
    assert found.finding_lines("OPS607") == {found.line()}


def test_a_backward_pass_is_a_graph_of_its_own(capture: Trace) -> None:
    found = capture(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.one = nn.Linear(4, 8)
                self.two = nn.Linear(8, 2)

            def forward(self, x):
                x = torch.relu(self.one(x))  # <-- relu
                return self.two(x).sum()

        model = Net()
        """,
        "3,4",
        train=True,
    )
    backward = found.names("backward")
    assert {"aten::threshold_backward", "aten::mm"} <= set(backward)
    assert found.lines_of("aten::threshold_backward", "backward") == {found.line("relu")}
    assert "optimizer" in found.inventory.trace.unseen[0]


def test_what_modules_cache_is_made_in_the_graph(capture: Trace) -> None:
    found = capture(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cache = {}
                self.scale = nn.Parameter(torch.ones(4))

            def forward(self, x):
                if "scale" not in self.cache:
                    self.cache["scale"] = torch.exp(self.scale)
                return x * self.cache["scale"]

        model = Net().eval()
        """,
        "2,4",
    )
    assert found.names() == ["aten::exp", "aten::mul.Tensor"]


def test_a_model_larger_than_memory(capture: Trace) -> None:
    found = capture(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(1 << 17, 1 << 17, bias=False) for _ in range(8))

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        model = Net().eval()
        """,
        "1,131072",
    )
    assert found.inventory.parameters == 8 << 34
    assert found.times("aten::matmul") + found.times("aten::mm") == 8


def test_where_there_is_no_graph_the_operators_of_eager_mode_stand_in(capture: Trace) -> None:
    found = capture(
        """
        class Odd(torch.Tensor):
            pass

        def model(x):
            values = x.relu().untyped_storage().data_ptr()  # <-- here
            return x.relu()
        """,
        "2,3",
    )
    trace = found.inventory.trace
    assert (trace.tracer, trace.complete) == ("dispatch", False)
    last = trace.attempts[-1]
    assert (last.tracer, last.ok) == ("captured-graph", False)
    assert last.reason is not None
    assert f"model.py:{found.line()}" in last.reason
    assert trace.unseen[0].startswith("The graph: ")
    assert found.names() == ["aten::relu"]


def test_an_assumption_that_leads_to_an_error_is_reversed(capture: Trace) -> None:
    found = capture(
        """
        def model(x):
            if int(x.argmax()) == 1:
                raise ValueError("the second is no class")
            return x * 2
        """,
        "4",
    )
    assert found.names() == ["aten::argmax", "aten::mul.Tensor"]


def test_a_backward_pass_through_several_results(capture: Trace) -> None:
    found = capture(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, x):
                mixed, _ = self.attention(x, x, x, need_weights=False)
                return {"mixed": mixed, "both": mixed.transpose(1, 2)}

        model = Net()
        """,
        "2,4,8",
        train=True,
    )
    assert "npu::npu_fusion_attention_v3" in found.names()
    assert "npu::npu_fusion_attention_grad_v3" in found.names("backward")


def test_half_precision_by_autocast(capture: Trace) -> None:
    found = capture(
        """
        model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8)).eval()
        """,
        "2,4",
        amp="fp16",
    )
    assert found.only("aten::addmm").dtypes == ("float16",) * 3
    assert "aten::_to_copy" in found.names()
