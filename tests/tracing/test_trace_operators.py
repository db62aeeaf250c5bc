"""Operators as the adapter dispatches them: decompositions, fused kernels, parts, operators of the user's own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from traced_files import Trace, Traced


def forward(trace: Trace, expression: str, *inputs: str, setup: str = "") -> Traced:
    source = (
        f"{setup}\ndef build_model():\n    return lambda *args: run(*args)\ndef run(x, *more):\n    return {expression}"
    )
    return trace(source, *(inputs or ("4,8",)))


# --- decomposition by registration ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "shape", "expected"),
    [
        ("F.linear(x, x)", "4,8", ["aten::t", "aten::matmul"]),
        ("x @ x.T", "4,8", ["aten::permute", "aten::matmul"]),
        ("F.softmax(x, -1)", "4,8", ["aten::_softmax"]),
        ("F.softmax(x, -1, dtype=torch.float16)", "4,8", ["npu::_npu_dtype_cast", "aten::_softmax"]),
        ("F.log_softmax(x, -1)", "4,8", ["aten::_log_softmax"]),
        ("F.adaptive_avg_pool2d(x, 1)", "1,3,8,8", ["aten::mean.dim"]),
        ("F.adaptive_avg_pool2d(x, 2)", "1,3,8,8", ["aten::_adaptive_avg_pool2d"]),
        ("F.layer_norm(x, (8,))", "4,8", ["aten::native_layer_norm"]),
        ("F.dropout(x, 0.5, True)", "4,8", ["aten::native_dropout"]),
        ("F.dropout(x, 0.5, False)", "4,8", []),
        ("F.conv2d(x, x)", "1,3,8,8", ["aten::convolution"]),
        ("F.interpolate(x, scale_factor=2)", "1,3,8,8", ["aten::upsample_nearest2d"]),
        ("x.flatten(1)", "4,8", []),
        ("x.reshape(8, 4)", "4,8", ["aten::view"]),
        ("x.t().reshape(4, 8)", "4,8", ["aten::t", "aten::clone", "aten::_unsafe_view"]),
        ("torch.stack([x, x])", "4,8", ["aten::stack"]),
        ("torch.einsum('ij,kj->ik', x, x).shape[0] * x", "4,8", None),
        ("x.repeat_interleave(2, 0)", "4,8", ["aten::repeat_interleave.self_int"]),
        ("torch._weight_norm(x, x[:, :1])", "4,8", None),
    ],
)
def test_what_an_expression_becomes(trace: Trace, expression: str, shape: str, expected: list[str] | None) -> None:
    found = forward(trace, expression, shape)
    assert found.complete
    if expected is not None:
        assert found.names() == expected


def test_weight_norm_is_a_norm_and_a_product(trace: Trace) -> None:
    found = trace("model = nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 4, 3))", "1,3,8,8")
    assert "aten::_weight_norm_interface" not in found.names()
    assert {"aten::norm.ScalarOpt_dim", "aten::div.Tensor", "aten::mul.Tensor"} <= set(found.names())


@pytest.mark.parametrize("wrap", ["spectral_norm", "orthogonal"])
def test_parametrizations(trace: Trace, wrap: str) -> None:
    found = trace(f"model = nn.utils.parametrizations.{wrap}(nn.Linear(8, 8))", "2,8")
    assert found.names()[-1] == "aten::addmm"
    assert not found.failed


def test_old_spectral_norm(trace: Trace) -> None:
    found = trace("model = nn.utils.spectral_norm(nn.Linear(8, 8))", "2,8")
    assert "aten::addmm" in found.names()


# --- attention ------------------------------------------------------------------------------------------------

QKV = ("1,2,4,8", "1,2,4,8", "1,2,4,8")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", ["npu::npu_fusion_attention_v3"]),
        (", is_causal=True", ["aten::ones", "aten::triu", "npu::npu_fusion_attention_v3"]),
        (", scale=0.5, dropout_p=0.1", ["npu::npu_fusion_attention_v3"]),
    ],
)
def test_attention_is_one_kernel(trace: Trace, options: str, expected: list[str]) -> None:
    found = forward(trace, f"F.scaled_dot_product_attention(x, *more{options})", *QKV)
    assert found.names() == expected


def test_attention_inverts_a_boolean_mask(trace: Trace) -> None:
    found = forward(trace, "F.scaled_dot_product_attention(x, *more[:2], attn_mask=more[2])", *QKV, "4,4:bool")
    assert found.names() == ["aten::logical_not", "npu::npu_fusion_attention_v3"]


@pytest.mark.parametrize(
    ("dtype", "size", "fused"),
    [
        ("float32", 6, False), ("float32", 512, True), ("float32", 516, False),
        ("float16", 6, True), ("bfloat16", 3, True), ("float16", 513, False),
    ],
)  # fmt: skip
def test_the_kernel_takes_some_sizes_of_heads(trace: Trace, dtype: str, size: int, fused: bool) -> None:
    found = forward(trace, "F.scaled_dot_product_attention(x, *more)", *[f"1,2,4,{size}:{dtype}"] * 3)
    assert ("npu::npu_fusion_attention_v3" in found.names()) is fused


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_attention_with_a_float_mask_or_in_float64_is_computed_by_parts(trace: Trace, dtype: str) -> None:
    inputs = [f"{shape}:{dtype}" for shape in QKV]
    mask = [f"4,4:{dtype}"] if dtype == "float32" else []
    call = "F.scaled_dot_product_attention(x, *more[:2], attn_mask=more[2] if len(more) > 2 else None)"
    found = forward(trace, call, *inputs, *mask)
    assert found.times("aten::matmul") == 2
    assert "npu::npu_fusion_attention_v3" not in found.names()


def test_attention_of_an_older_release(trace_for: Callable[[str], Trace]) -> None:
    found = forward(trace_for("2.6.0.post5"), "F.scaled_dot_product_attention(x, *more)", *QKV)
    assert found.names() == ["npu::npu_fusion_attention"]


@pytest.mark.parametrize("options", ["", ", need_weights=False"])
def test_multi_head_attention_takes_torchs_fast_path(trace: Trace, options: str) -> None:
    found = trace(
        f"""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
            def forward(self, x):
                return self.attention(x, x, x{options})[0]
        """,
        "2,4,8",
    )
    assert found.names() == ["aten::_native_multi_head_attention"]


def test_the_encoder_layer_takes_torchs_fast_path(trace: Trace) -> None:
    found = trace("model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)", "2,4,8")
    assert found.times("aten::_transformer_encoder_layer_fwd") == 2


def test_multi_head_attention_in_training_has_no_fast_path(trace: Trace) -> None:
    found = trace("model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)", "2,4,8", train=True)
    assert "npu::npu_fusion_attention_v3" in found.names()
    assert "npu::npu_fusion_attention_grad_v3" in found.names("backward")


@pytest.mark.parametrize("how", ["@torch.inference_mode()", "@torch.inference_mode", "@torch.no_grad()"])
def test_inference_mode_hides_nothing(trace: Trace, how: str) -> None:
    found = trace(
        f"""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
            {how}
            def forward(self, x):
                q = self.linear(x)
                return F.scaled_dot_product_attention(q, q, q).softmax(-1)
        """,
        "1,2,4,8",
    )
    assert found.names() == [
        "aten::view", "aten::t", "aten::addmm", "npu::npu_fusion_attention_v3", "aten::_softmax",
    ]  # fmt: skip


# --- mixed precision ------------------------------------------------------------------------------------------


def test_autocast_casts_weights_once(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
            def forward(self, x):
                with torch.autocast("npu", dtype=torch.float16):
                    y = self.linear(self.linear(x))
                return y
        """,
        "2,8",
    )
    assert found.times("aten::_to_copy") == 3  # input, weight, bias; the second call takes what is there
    assert {c.dtypes for c in found.calls if c.name == "aten::addmm"} == {("float16",) * 3}
    assert found.complete


@pytest.mark.parametrize(
    ("expression", "operator", "dtype"),
    [
        ("x @ x.t()", "aten::matmul", "float16"),
        ("F.layer_norm(x.half(), (8,))", "aten::native_layer_norm", "float32"),
        ("x.half().exp()", "aten::exp", "float32"),
        ("x.half().sum()", "aten::sum", "float16"),  # asked for a float32 result instead
        ("x.half() + x.half()", "aten::add.Tensor", "float16"),
        ("torch.addcmul(x, x.half(), x.half())", "aten::addcmul", "float32"),
        ("F.softmax(x.half(), -1)", "aten::_softmax", "float32"),
        ("F.mse_loss(x.half(), x.half())", "aten::mse_loss", "float32"),
        ("F.interpolate(x.half()[None, None], scale_factor=2)", "aten::upsample_nearest2d", "float16"),
        ("x.new_ones(4, 8, dtype=torch.float64).t() @ x.to(x.device, torch.float64)", "aten::matmul", "float64"),
    ],
)
def test_autocast_policies(trace: Trace, expression: str, operator: str, dtype: str) -> None:
    source = f"def build_model():\n    return run\n@torch.autocast('npu')\ndef run(x):\n    return {expression}"
    found = trace(source, "4,8")
    assert found.only(operator).dtypes[0] == dtype
    if operator == "aten::sum":
        assert found.only(operator).outputs[0].dtype == "float32"


def test_autocast_can_be_turned_off_inside(trace: Trace) -> None:
    found = trace(
        """
        def build_model():
            return run
        def run(x):
            with torch.autocast("npu", dtype=torch.bfloat16):
                with torch.autocast("npu", enabled=False):
                    y = x @ x.t()
                return y @ y
        """,
        "8,8",
    )
    assert [c.dtypes[0] for c in found.calls if c.name == "aten::matmul"] == ["float32", "bfloat16"]


# --- recurrent modules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "kernel", "times"),
    [
        ("nn.LSTM(8, 4)", "npu::_lstm_npu", 1),
        ("nn.LSTM(8, 4, batch_first=True)", "npu::_lstm_npu", 1),
        ("nn.LSTM(8, 4, num_layers=2)", "npu::npu_lstm", 2),
        ("nn.LSTM(8, 8, num_layers=2)", "npu::npu_lstm", 2),
        ("nn.LSTM(8, 4, bidirectional=True)", "npu::npu_lstm", 2),
        ("nn.LSTM(8, 8, num_layers=2, bidirectional=True, dropout=0.1)", "npu::npu_lstm", 4),
        ("nn.LSTM(8, 4, bias=False)", "npu::npu_lstm", 1),
        ("nn.GRU(8, 4)", "npu::npu_gru", 1),
        ("nn.GRU(8, 4, num_layers=2)", "npu::npu_gru", 2),
        ("nn.GRU(8, 8, num_layers=2, bidirectional=True)", "npu::npu_gru", 4),
        ("nn.GRU(8, 4, bias=False, batch_first=True)", "npu::npu_gru", 1),
        ("nn.RNN(8, 4)", "aten::tanh", 5),
    ],
)
def test_recurrent_modules(trace: Trace, module: str, kernel: str, times: int) -> None:
    found = trace(
        f"""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.recurrent = {module}
            def forward(self, x):
                module = self.recurrent
                out, state = module(x)
                directions = 2 if module.bidirectional else 1
                assert out.shape == (5, 2, module.hidden_size * directions), out.shape
                batch = 5 if module.batch_first else 2
                for final in state if isinstance(state, tuple) else [state]:
                    assert final.shape == (module.num_layers * directions, batch, module.hidden_size), final.shape
                return out
        """,
        "5,2,8",
    )
    assert found.times(kernel) == times
    assert found.complete


@pytest.mark.parametrize(
    ("cell", "operators"),
    [
        ("nn.LSTMCell(8, 4)", {"npu::npu_lstm_cell"}),
        ("nn.GRUCell(8, 4)", {"aten::matmul", "aten::unsafe_split.Tensor", "aten::sigmoid_", "aten::tanh_"}),
        ("nn.RNNCell(8, 4)", {"aten::addmm", "aten::tanh"}),
    ],
)
def test_cells(trace: Trace, cell: str, operators: set[str]) -> None:
    found = trace(f"model = {cell}", "2,8")
    assert operators <= set(found.names())
    assert "aten::_thnn_fused_gru_cell" not in found.names()
    assert not found.failed


def test_a_recurrent_module_of_an_older_release(trace_for: Callable[[str], Trace]) -> None:
    found = trace_for("2.6.0.post5")("model = nn.LSTM(8, 4, num_layers=2, bidirectional=True)", "5,2,8")
    assert found.times("npu::npu_lstm") == 4


PACKED = """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(8, 4, batch_first=True, bidirectional={bidirectional})
    def forward(self, x, lengths=None):
        lengths = torch.tensor([5, 3], device="cpu") if lengths is None else lengths
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.recurrent(packed)
        out, lengths = pad_packed_sequence(out, batch_first=True)
        assert out.shape == (2, 5, {width})
        return out
"""


@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_of_known_lengths(trace: Trace, bidirectional: bool) -> None:
    source = PACKED.format(bidirectional=bidirectional, width=8 if bidirectional else 4)
    found = trace(source, "2,5,8")
    kernel = "npu::npu_lstm_data" if bidirectional else "npu::_lstm_npu"
    assert kernel in found.names()
    assert found.complete


@pytest.mark.parametrize("inputs", [("2,5,8", "2:int64"), ()])
def test_packed_sequences_of_lengths_that_are_data(trace: Trace, inputs: tuple[str, ...]) -> None:
    example = "def example_inputs(): return torch.rand(2, 5, 8), torch.tensor([5, 3])"
    found = trace(PACKED.format(bidirectional=False, width=4) + ("" if inputs else example), *inputs)
    assert "npu::_lstm_npu" in found.names()
    assert not found.complete
    assert not found.failed


def test_a_packed_gru_ends_the_trace_with_what_was_found(trace: Trace) -> None:
    source = PACKED.format(bidirectional=False, width=4).replace("LSTM", "GRU")
    found = trace(source, "2,5,8")
    assert "aten::_pack_padded_sequence" in found.names()
    assert found.failed


# --- parts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "operator", "parts"),
    [
        ("torch.logcumsumexp(x, 0)", "aten::logcumsumexp", ["aten::_logcumsumexp"]),
        ("x.masked_scatter(x > 0, x)", "aten::masked_scatter", ["aten::clone", "aten::masked_scatter_"]),
        ("torch.rand_like(x)", "aten::rand_like", ["aten::empty_like", "aten::uniform_"]),
        ("x.new_zeros(3)", "aten::new_zeros", ["aten::empty.memory_format", "aten::zero_"]),
    ],
)
def test_composite_kernels_show_their_parts(trace: Trace, expression: str, operator: str, parts: list[str]) -> None:
    found = forward(trace, expression)
    assert [part.name for part in found.only(operator).parts] == parts


def test_a_composition_with_a_cpu_kernel_beside_it_shows_its_parts(trace: Trace) -> None:
    found = forward(trace, "F.pixel_shuffle(x, 2)", "1,4,8,8").only("aten::pixel_shuffle")
    assert {"aten::permute", "aten::view"} <= {part.name for part in found.parts}


def test_parts_of_parts(trace: Trace) -> None:
    parts = [part.name for part in forward(trace, "torch.cummax(x, 0)[0]").only("aten::cummax").parts]
    assert "aten::_cummax_helper" in parts
    assert "aten::cummax.out" not in parts


def test_native_operators_have_no_parts(trace: Trace) -> None:
    assert forward(trace, "x.relu()").only("aten::relu").parts == ()


# --- views and in-place operators -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "operator", "shape"),
    [
        ("x.clone().transpose_(0, 1).relu()", "aten::transpose_", (8, 4)),
        ("x.clone().t_().relu()", "aten::t_", (8, 4)),
        ("x.clone().unsqueeze_(1).relu()", "aten::unsqueeze_", (4, 1, 8)),
        ("x[:1].clone()[None].squeeze_(0).relu()", "aten::squeeze_.dim", (1, 8)),
    ],
)
def test_a_view_in_place_changes_its_tensor_once(
    trace: Trace, expression: str, operator: str, shape: tuple[int, ...]
) -> None:
    found = forward(trace, expression)
    assert found.only(operator).is_view
    assert found.only(operator).parts == ()
    assert found.only("aten::relu").outputs[0].shape == shape


def test_in_place_operators_on_views(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                x = x.clone()
                x[:, 0] = 0
                x[0].add_(1)
                x.view(-1)[::2].mul_(2)
                x[x > 0] = 1
                x[:, [1, 2]] = 3
                x[torch.arange(2, device=x.device), 0] += 1
                x.data = x.data * 2
                return x
        """,
        "4,8",
    )
    assert found.complete
    assert {"aten::copy_", "aten::add_.Tensor", "aten::mul_.Tensor", "aten::index_put_"} <= set(found.names())
    assert all(c.is_view for c in found.calls if c.name in ("aten::select.int", "aten::slice.Tensor", "aten::view"))
    assert not any(c.is_view for c in found.calls if c.name.endswith("_") or c.name == "aten::clone")


def test_masks_written_to_do_not_depend_on_data(trace: Trace) -> None:
    found = forward(trace, "x.masked_fill(x > 0, 0.0) + torch.where(x > 0, x, 0.0)")
    assert found.complete
    assert found.findings() == []


# --- complex and sparse tensors -------------------------------------------------------------------------------


def test_complex_numbers(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                spectrum = torch.fft.rfft(x)
                pairs = torch.view_as_complex(x.reshape(4, 4, 2))
                turned = pairs * torch.polar(torch.ones_like(x[:, :4]), x[:, :4])
                return torch.fft.irfft(spectrum), torch.view_as_real(turned), spectrum.abs()
        """,
        "4,8",
    )
    assert found.only("aten::mul.Tensor").dtypes == ("complex64", "complex64")
    assert found.only("aten::_fft_r2c").outputs[0].dtype == "complex64"
    assert found.complete


def test_sparse_tensors_say_so(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                index = torch.tensor([[0, 1], [1, 2]], device=x.device)
                matrix = torch.sparse_coo_tensor(index, torch.ones(2, device=x.device), (4, 4), device=x.device)
                return torch.sparse.mm(matrix, x)
        """,
        "4,8",
    )
    assert not found.failed
    product = found.only("aten::_sparse_addmm")
    assert dict(product.attributes)["layout"] == "torch.sparse_coo"
    assert dict(product.parts[0].attributes)["layout"] == "torch.sparse_coo"


def test_a_tensor_that_an_operator_makes_sparse_stays_sparse(trace: Trace) -> None:
    found = forward(trace, "torch.sparse.mm(x.to_sparse(), x.t())")
    assert not found.failed
    assert dict(found.only("aten::_sparse_addmm").attributes)["layout"] == "torch.sparse_coo"


def test_a_layout_that_cannot_be_held_ends_the_trace(trace: Trace) -> None:
    found = forward(trace, "torch.sparse.mm(x.to_sparse_csr(), x.t())")
    assert found.failed
    assert "torch.sparse_csr" in found.inventory.trace.unseen[0]
    assert "aten::_to_sparse_csr" in found.names()


# --- operators of the user's own ------------------------------------------------------------------------------

DEFINED = """
@torch.library.custom_op("{name}::double", mutates_args=(){devices})
def double(x: torch.Tensor) -> torch.Tensor:
    return x.clone() * 2
"""


def test_a_custom_operator_with_a_cpu_kernel_alone(trace: Trace) -> None:
    setup = DEFINED.format(name="cpualone", devices=", device_types='cpu'")
    found = forward(trace, "double(x).sin()", setup=setup)
    assert found.names() == ["cpualone::double", "aten::sin"]
    assert [f.rule for f in found.findings()] == ["OPS605"]
    assert found.only("cpualone::double").outputs[0].shape == (4, 8)
    assert "CPU" in found.inventory.host_kernels["cpualone::double"]
    assert "PrivateUse1" not in found.inventory.host_kernels["cpualone::double"]


def test_a_custom_operator_with_a_shape_function(trace: Trace) -> None:
    setup = DEFINED.format(name="faked", devices=", device_types='cpu'")
    setup += "@double.register_fake\ndef _(x): return torch.empty_like(x)\n"
    found = forward(trace, "double(x).sin()", setup=setup)
    assert found.names() == ["faked::double", "aten::sin"]
    assert found.findings() == []


def test_a_custom_operator_in_python_has_parts(trace: Trace) -> None:
    found = forward(trace, "double(x).sin()", setup=DEFINED.format(name="anywhere", devices=""))
    assert [part.name for part in found.only("anywhere::double").parts] == ["aten::clone", "aten::mul.Tensor"]


CUDA_ONLY = """
library = torch.library.Library("{name}", "DEF")
library.define("op(Tensor x) -> Tensor")
library.impl("op", lambda x: x, "CUDA")
"""


def test_a_cuda_operator_with_a_shape_function_goes_on(trace: Trace) -> None:
    setup = CUDA_ONLY.format(name="cudashape") + 'library.impl("op", torch.empty_like, "Meta")\n'
    found = forward(trace, "torch.ops.cudashape.op(x).sin()", setup=setup)
    assert found.names() == ["cudashape::op", "aten::sin"]
    assert set(found.inventory.host_kernels["cudashape::op"]) == {"CUDA", "Meta"}


def test_a_cuda_operator_without_one_is_where_the_trace_ends(trace: Trace) -> None:
    setup = CUDA_ONLY.format(name="cudaalone")
    found = forward(trace, "torch.ops.cudaalone.op(x.cos()).sin()", setup=setup)
    assert found.names() == ["aten::cos", "cudaalone::op"]
    assert found.failed
    assert "cudaalone::op" in (found.inventory.trace.attempts[0].reason or "")
    assert found.inventory.host_kernels["cudaalone::op"] == ("CUDA",)


def test_an_operator_of_torch_for_cuda_only(trace: Trace) -> None:
    call = "torch.ops.aten._scaled_dot_product_efficient_attention(x, x, x, None, False)[0]"
    found = forward(trace, call, "1,2,4,8")
    assert found.names() == ["aten::_scaled_dot_product_efficient_attention"]


# --- scripted, compiled, transformed --------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["torch.jit.script", "torch.compile", "torch.compile(mode='max-autotune')"])
def test_scripted_and_compiled_code_is_seen(trace: Trace, how: str) -> None:
    found = trace(
        f"""
        @{how}
        def gate(x):
            return x.sigmoid() * 2  # <-- here
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.compile(nn.Linear(8, 4))
                self.linear.compile()
            def forward(self, x):
                return gate(self.linear(x))
        """,
        "2,8",
    )
    assert found.names() == ["aten::t", "aten::addmm", "aten::sigmoid", "aten::mul.Tensor"]
    assert found.lines_of("aten::sigmoid") == {found.line()}
    assert found.only("aten::addmm").location is not None
    assert found.only("aten::addmm").location.module == "linear"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "built", ["torch.jit.script(N())", "torch.jit.trace(N(), torch.ones(2, 8))", "torch.compile(N())"]
)
def test_a_scripted_or_compiled_model(trace: Trace, built: str) -> None:
    found = trace(
        f"""
        class N(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 4)
            def forward(self, x):
                return self.linear(x)
        model = {built}
        """,
        "2,8",
    )
    assert found.names() == ["aten::t", "aten::addmm"]


@pytest.mark.parametrize(
    ("expression", "operators"),
    [
        ("torch.vmap(lambda row: row.sin() * 2)(x)", {"aten::sin", "aten::mul.Tensor"}),
        ("torch.func.grad(lambda v: (v ** 2).sum())(x)", {"aten::pow.Tensor_Scalar", "aten::sum", "aten::mul.Tensor"}),
        ("torch.func.jacrev(lambda v: v.sin())(x[0])", {"aten::sin", "aten::cos"}),
        ("torch.func.functional_call(nn.Linear(8, 8), {'weight': x[:1].expand(8, 8)}, (x,))", {"aten::addmm"}),
    ],
)
def test_function_transforms(trace: Trace, expression: str, operators: set[str]) -> None:
    found = forward(trace, expression)
    assert operators <= set(found.names())
    assert not found.failed


# --- modules and lines ----------------------------------------------------------------------------------------


def test_modules_and_lines(trace: Trace) -> None:
    found = trace(
        """
        def helper(x):
            return x.exp()  # <-- helper
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.LayerNorm(8)
            def forward(self, x):
                return helper(self.norm(x))  # <-- block
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleDict({"a": Block(), "b": Block()})
                self.again = self.blocks["a"]
            def forward(self, x):
                for block in self.blocks.values():
                    x = block(x)
                return self.again(x).cos()  # <-- root
        model = M()
        """,
        "4,8",
    )
    where = [(c.name, c.location.line, c.location.module, c.count) for c in found.calls if c.location]
    assert where == [
        ("aten::native_layer_norm", found.line("block"), "blocks.a.norm", 2),
        ("aten::exp", found.line("helper"), "blocks.a", 2),
        ("aten::native_layer_norm", found.line("block"), "blocks.b.norm", 1),
        ("aten::exp", found.line("helper"), "blocks.b", 1),
        ("aten::cos", found.line("root"), "", 1),
    ]


def test_a_very_deep_recursion(trace: Trace) -> None:
    found = trace(
        """
        def deeper(n, x):
            return x if n == 0 else deeper(n - 1, x + 1)  # <-- here
        def build_model():
            return lambda x: deeper(300, x)
        """,
        "1,8",
    )
    assert found.times("aten::add.Tensor") == 300
    assert found.lines_of("aten::add.Tensor") == {found.line()}


def test_calls_carry_parameters_and_attributes(trace: Trace) -> None:
    found = forward(trace, "torch.cat([x, x], 1)[:, more[0]].sum(1, keepdim=True)", "4,8", "3:int64")
    cat, index, total = (found.only(n) for n in ("aten::cat", "aten::index.Tensor", "aten::sum.dim_IntList"))
    assert cat.parameters == ("tensors[0]", "tensors[1]")
    assert dict(cat.attributes)["dim"] == "1"
    assert index.parameters == ("self", "indices[1]")
    assert index.outputs[0].shape == (4, 3)
    assert dict(total.attributes)["keepdim"] == "True"


def test_a_padding_mask_of_a_transformer_encoder_makes_a_nested_tensor(trace: Trace) -> None:
    """On the real torch_npu 2.13.0 the operator behind it raises: there is no kernel for nested tensors."""
    source = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)
        def forward(self, x):
            return self.encoder(x, src_key_padding_mask=torch.zeros(x.shape[:2], dtype=torch.bool, device=x.device))
    """
    found = trace(source, "1,4,8")
    assert "aten::_nested_tensor_from_mask" in found.names()
    assert "aten::_transformer_encoder_layer_fwd" in found.names()
    assert not found.inventory.trace.complete


def test_a_shift_of_complex_numbers_rolls_integers(trace: Trace) -> None:
    found = trace("def build_model():\n    return lambda x: torch.fft.fftshift(torch.fft.fft2(x)).abs()", "1,3,8,8")
    assert found.only("aten::roll").dtypes == ("int64",)
    assert trace("def build_model():\n    return lambda x: torch.fft.fftshift(x)", "4,8").only("aten::roll").dtypes == (
        "float32",
    )
