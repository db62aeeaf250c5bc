"""Backward passes, recurrent modules and layouts as the real torch_npu 2.13.0 showed them on a simulated runtime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from traced_files import Scanner, Trace, Traced

from opscan.matrix.query import Matrix
from opscan.scan import release_for
from opscan.target import Target
from opscan.worker.host import Worker

PAIR = """
def build_model():
    return lambda x, y: run(x * 1, y * 1)
def run(x, y):
    return {expression}
def example_inputs():
    return tuple(torch.randn(s).requires_grad_() for s in {shapes})
"""


def counts(found: Traced, phase: str, ignoring: tuple[str, ...] = ("aten::detach",)) -> dict[str, int]:
    total: Counter[str] = Counter()
    for call in found.calls:
        if call.phase == phase and call.name not in ignoring:
            total[call.name] += call.count
    return dict(total)


def backward(trace: Trace, expression: str, *shapes: tuple[int, ...]) -> dict[str, int]:
    """Operators of the backward pass, less the two products that make the arguments no leaves."""
    found = trace(PAIR.format(expression=expression, shapes=shapes), train=True)
    assert not found.failed
    total = Counter(counts(found, "backward"))
    total["aten::mul.Tensor"] -= sum(
        c.count for c in found.calls if c.name == "aten::mul.Tensor" and c.phase == "forward"
    )
    return {name: times for name, times in total.items() if times > 0}


# --- writes to views ------------------------------------------------------------------------------------------

SLICE = {"aten::new_empty_strided": 1, "aten::clone": 1}


@pytest.mark.parametrize(
    ("expression", "strided", "zeros", "copies"),
    [
        ("(lambda z: (z[:, 1:3].zero_(), z)[1])(x + y)", 1, 0, 2),
        ("(lambda z: (z[:, 1].add_(y[:, 0]), z)[1])(x + y)", 1, 0, 2),
        ("(x + y).flatten().add_(y.flatten()).sin()", 3, 1, 3),
        ("(x + y)[:, 1:3].add_(y[:, 1:3]).sin()", 3, 1, 3),
        ("(x + y)[:, :4].add_(y).sin()", 3, 1, 3),
        ("(x + y).unsqueeze(0).transpose(1, 2).neg_().sin()", 3, 1, 3),
    ],
    ids=["part", "select", "flat", "slice", "the whole", "a chain"],
)
def test_a_view_that_is_written_to(trace: Trace, expression: str, strided: int, zeros: int, copies: int) -> None:
    found = backward(trace, expression, (2, 4), (2, 4))
    assert found["aten::as_strided"] == strided
    assert found.get("aten::new_zeros", 0) == zeros
    assert found["aten::copy_"] == copies
    assert found["aten::new_empty_strided"] == 1
    assert found["aten::clone"] == 1


def test_a_view_that_is_taken_again_is_no_call_of_the_model(trace: Trace) -> None:
    found = trace(
        PAIR.format(expression="(x + y).flatten(1).add_(y.flatten(1)).sin()", shapes=[(2, 4, 3)] * 2), train=True
    )
    assert counts(found, "forward") == {
        "aten::mul.Tensor": 2, "aten::add.Tensor": 1, "aten::view": 2, "aten::add_.Tensor": 1, "aten::sin": 1,
    }  # fmt: skip


def test_what_is_saved_for_the_backward_pass_is_no_call(trace: Trace) -> None:
    found = trace("model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Sigmoid())", "4,8", train=True)
    assert found.times("aten::detach") == 0
    assert found.times("aten::detach", "backward") == 2  # the gradients of the two parameters


def test_an_alias_that_is_no_write(trace: Trace) -> None:
    found = backward(trace, "(lambda z: z[:, 1:3] * z[:, 1:3])(x + y)", (2, 4), (2, 4))
    assert "aten::as_strided" not in found


# --- leaves ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("F.kl_div(x, y)", {"npu::kl_div_backward": 1, "npu::kl_div_target_backward": 1}),
        ("F.kl_div(x, y.detach())", {"npu::kl_div_backward": 1}),
        ("F.kl_div(x.detach(), y)", {"npu::kl_div_target_backward": 1}),
        ("F.l1_loss(x, y)", {"npu::l1_loss_backward": 2, "aten::mul.Scalar": 1}),
        ("F.l1_loss(x, y.detach())", {"npu::l1_loss_backward": 1}),
        ("F.l1_loss(x.detach(), y)", {"npu::l1_loss_backward": 1, "aten::mul.Scalar": 1}),
        (
            "F.binary_cross_entropy_with_logits(x, y)",
            {"npu::npu_binary_cross_entropy_with_logits_backward": 1},
        ),
        ("torch.cdist(x, y.detach())", {"aten::_cdist_backward": 1}),
        (
            "torch.cdist(x.detach(), y)",
            {"aten::transpose.int": 2, "aten::clone": 2, "aten::_cdist_backward": 1},
        ),
    ],
)
def test_the_backward_follows_the_gradients_that_are_asked_for(
    trace: Trace, expression: str, expected: dict[str, int]
) -> None:
    assert backward(trace, expression, (3, 4), (3, 4)) == expected


@pytest.mark.parametrize(
    ("shapes", "sums"),
    [
        (((2, 4, 3), (2, 3, 5)), 0),
        (((2, 4, 3), (1, 3, 5)), 0),
        (((2, 5, 4, 3), (2, 1, 3, 4)), 1),
        (((5, 4, 3), (2, 5, 3, 4)), 1),
        (((2, 1, 4, 3), (1, 5, 3, 4)), 2),
        (((2, 5, 4, 3), (1, 1, 3, 4)), 0),
        (((4, 3), (2, 5, 3, 4)), 0),
        (((3,), (2, 5, 3, 4)), 0),
    ],
)
def test_gradients_of_repeated_matrices_are_summed(
    trace: Trace, shapes: tuple[tuple[int, ...], ...], sums: int
) -> None:
    found = backward(trace, "x @ y", *shapes)
    assert found["aten::matmul_backward"] == 1
    assert found.get("aten::sum.dim_IntList", 0) == sums


# --- layouts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        ("F.gelu(x.permute(0, 3, 1, 2))", "torch.channels_last"),
        ("F.gelu(x)", None),
        ("F.gelu(x.permute(0, 2, 1, 3))", None),
        ("F.gelu(x.permute(0, 3, 1, 2).contiguous())", None),
    ],
)
def test_gelu_of_an_nhwc_tensor_seen_as_nchw(trace: Trace, expression: str, asked: str | None) -> None:
    found = trace(f"def build_model():\n    return lambda x: {expression}", "2,8,6,4")
    assert dict(found.only("aten::gelu").attributes).get("memory_format") == asked


@pytest.mark.parametrize(("contiguous", "asked"), [(".contiguous()", "torch.channels_last"), ("", None)])
def test_softplus_refuses_the_same_in_its_backward(trace: Trace, contiguous: str, asked: str | None) -> None:
    """Where the gradient has the format too: that of a contiguous result does."""
    source = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1))
        def forward(self, x):
            return F.softplus((x * self.scale).permute(0, 3, 1, 2)).permute(0, 2, 3, 1){contiguous}
    """
    found = trace(source.replace("{contiguous}", contiguous), "2,8,6,4", train=True)
    attributes = dict(found.only("aten::softplus_backward", "backward").attributes)
    assert attributes.get("memory_format") == asked
    assert "memory_format" not in dict(found.only("aten::softplus").attributes)


# --- recurrent modules ----------------------------------------------------------------------------------------


@pytest.fixture
def trace_at(worker: Worker, tmp_path: Path) -> Callable[[str], Trace]:
    """Traces for torch_npu 2.13.0 beside a release of CANN."""

    def choose(cann: str) -> Trace:
        scanner = Scanner(worker, release_for(Matrix.load(Target("2.13.0", cann, "ascend910b"))))
        return lambda source, *inputs, train=False: scanner(tmp_path, source, inputs, train)

    return choose


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("nn.LSTM(4, 6)", {"zeros": 2, "npu::_lstm_npu": 1}),
        ("nn.LSTM(4, 6, bias=False, bidirectional=True)", {"zeros": 2, "npu::_lstm_npu": 1}),
        ("nn.LSTM(4, 6, bias=False, num_layers=2)", {"zeros": 2, "npu::_lstm_npu": 1}),
        (
            "nn.LSTM(4, 6, bias=False)",
            {"zeros": 3, "cat": 1, "t": 1, "empty.memory_format": 1, "npu::npu_lstm": 1, "select.int": 2,
             "unsqueeze": 2},
        ),
        (
            "nn.LSTM(4, 6, bidirectional=True)",
            {
                "zeros": 3, "slice.Tensor": 8, "cat": 5, "t": 2, "add.Tensor": 2, "empty.memory_format": 2, "flip": 4,
                "npu::npu_lstm": 2, "select.int": 4, "unsqueeze": 4,
            },
        ),
        (
            "nn.LSTM(4, 6, num_layers=3, dropout=0.5)",
            {
                "zeros": 3, "slice.Tensor": 8, "cat": 7, "t": 3, "add.Tensor": 3, "empty.memory_format": 3,
                "npu::npu_lstm": 3, "select.int": 6, "unsqueeze": 6,
            },
        ),
        (
            "nn.LSTM(4, 6, num_layers=3, bidirectional=True)",
            {
                "zeros": 5, "slice.Tensor": 20, "cat": 19, "t": 6, "add.Tensor": 6, "empty.memory_format": 6,
                "flip": 12,
                "npu::npu_lstm": 6, "select.int": 12, "unsqueeze": 12,
            },
        ),
    ],
)  # fmt: skip
def test_lstm(trace: Trace, module: str, expected: dict[str, int]) -> None:
    found = trace(f"model = {module}", "5,3,4", train=True)
    assert counts(found, "forward") == {n if "::" in n else f"aten::{n}": times for n, times in expected.items()}
    assert "aten::native_dropout" not in found.names()


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("nn.GRU(4, 6)", {"zeros": 1, "unbind.int": 1, "t": 2, "npu::npu_gru": 1, "select.int": 1,
         "unsqueeze": 1, "cat": 1}),
        (
            "nn.GRU(4, 6, bias=False, batch_first=True)",
            {
                "zeros": 1, "transpose.int": 2, "unbind.int": 1, "t": 2, "fill_.Scalar": 2, "npu::npu_gru": 1,
                "select.int": 1, "unsqueeze": 1, "cat": 1,
            },
        ),
        (
            "nn.GRU(4, 6, num_layers=3, bidirectional=True, dropout=0.5)",
            {
                "zeros": 1, "unbind.int": 1, "t": 12, "npu::npu_gru": 6, "select.int": 6, "unsqueeze": 6, "flip": 6,
                "cat": 7,
            },
        ),
    ],
)  # fmt: skip
def test_gru_without_its_api(trace: Trace, module: str, expected: dict[str, int]) -> None:
    """CANN 9.1.0 has no aclnnGRU."""
    found = trace(f"model = {module}", "5,3,4", train=True)
    assert counts(found, "forward") == {n if "::" in n else f"aten::{n}": times for n, times in expected.items()}
    assert found.times("npu::npu_gru_backward", "backward") == expected["npu::npu_gru"]


@pytest.mark.parametrize("options", ["", ", num_layers=2, bidirectional=True, dropout=0.5", ", bias=False"])
def test_gru_with_its_api(trace_at: Callable[[str], Trace], options: str) -> None:
    found = trace_at("9.2.0-beta.1")(f"model = nn.GRU(4, 6{options})", "5,3,4", train=True)
    assert counts(found, "forward") == {"aten::zeros": 1, "npu::_gru_npu": 1}
    assert found.times("npu::_gru_npu_backward", "backward") == 1


PACKED = """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.{module}
        self.scale = nn.Parameter(torch.ones(1))
    def forward(self, x):
        x = x / self.scale
        out, state = self.recurrent(pack_padded_sequence(x, torch.tensor([5, 4, 2], device="cpu")))
        return {result}
"""


def test_a_packed_lstm_of_the_legacy_path(trace: Trace) -> None:
    source = PACKED.format(module="LSTM(4, 6, bidirectional=True)", result="pad_packed_sequence(out)[0]")
    found = trace(source, "5,3,4", train=True)
    forward = counts(found, "forward")
    assert forward["npu::npu_lstm_data"] == 2
    assert forward["aten::gt.Scalar"] == forward["aten::expand"] == 10  # a mask of five steps each way
    assert forward["aten::view"] == 14
    assert forward["aten::_to_copy"] == 4
    assert found.times("npu::npu_lstm_data_backward", "backward") == 2
    assert found.times("aten::copy_", "backward") == 6 + 5  # of weights and biases, and one a step of the padding


def test_a_packed_gru_is_a_cell_a_step(trace: Trace) -> None:
    source = PACKED.format(module="GRU(4, 6)", result="state")
    found = trace(source, "5,3,4", train=True)
    assert not found.failed
    assert counts(found, "forward") == {
        "aten::div.Tensor": 1, "aten::_pack_padded_sequence": 1, "aten::zeros": 1, "aten::unbind.int": 1,
        "aten::slice.Tensor": 9,
        "aten::t": 10, "aten::matmul": 10, "aten::add.Tensor": 25, "aten::unsafe_split.Tensor": 10,
        "aten::sigmoid_": 10, "aten::mul.Tensor": 5, "aten::tanh_": 5, "aten::sub.Tensor": 5, "aten::clone": 5,
        "aten::mul_.Tensor": 5, "aten::add_.Tensor": 5, "aten::cat": 2, "aten::stack": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("GRU(4, 6)", "torch_npu takes what an LSTM makes of a packed sequence"),
        ("LSTM(4, 6, num_layers=3)", "torch_npu raises for an LSTM of more than two layers on a packed sequence"),
    ],
)
def test_what_the_adapter_raises_for_ends_the_trace(trace: Trace, module: str, words: str) -> None:
    found = trace(PACKED.format(module=module, result="pad_packed_sequence(out)[0]"), "5,3,4")
    assert found.failed
    assert words in found.inventory.trace.unseen[0]
    assert "aten::_pack_padded_sequence" in found.names()


def test_a_shift_of_complex_numbers_has_no_derivative(trace: Trace) -> None:
    source = """
    def build_model():
        return torch.fft.fftshift
    def example_inputs():
        return (torch.randn(4, 4, dtype=torch.complex64, requires_grad={needed}),)
    """
    assert trace(source.replace("{needed}", "False")).names() == ["aten::view", "aten::roll"]
    found = trace(source.replace("{needed}", "True"), train=True)
    assert found.names() == ["aten::view", "aten::roll"]
    assert "no derivative for a shift of complex numbers" in found.inventory.trace.unseen[0]


def test_a_condition_reads_its_predicate_and_runs_one_branch(trace: Trace) -> None:
    expression = "torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (x,))"
    found = trace(f"def build_model():\n    return lambda x: {expression}", "4")
    assert found.names() == ["aten::sum", "aten::gt.Scalar", "aten::_local_scalar_dense", "aten::cos"]
    assert [f.rule for f in found.findings()] == ["OPS603"]


def test_one_hot_fills_two_values(trace: Trace) -> None:
    found = trace("def build_model():\n    return lambda x: F.one_hot(x, 4)", "3:int64")
    assert counts(found, "forward") == {"aten::fill_.Scalar": 2}


@pytest.mark.parametrize(
    ("window", "options", "dtype"),
    [
        ("hann", "", "int64"),
        ("hamming", ", periodic=False", "int64"),
        ("bartlett", "", "int64"),
        ("blackman", "", "float32"),
        ("hann", ", dtype=torch.float32", "float32"),
    ],
)
def test_windows_are_integers_where_no_dtype_is_named(trace: Trace, window: str, options: str, dtype: str) -> None:
    call = f"torch.{window}_window(8, device=x.device{options}) * x"
    found = trace(f"def build_model():\n    return lambda x: {call}", "8")
    assert found.only("aten::mul.Tensor").dtypes == (dtype, "float32")
