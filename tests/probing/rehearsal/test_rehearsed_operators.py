"""What the real adapter does with operators, and what is said of it."""

from __future__ import annotations

import pytest

from opscan.errors import ModelError


def test_launches_have_the_names_shapes_and_formats_of_their_parameters(rehearse):
    found = rehearse("""
        def build_model():
            return nn.Conv2d(3, 4, 3)
        def example_inputs():
            return torch.randn(1, 3, 8, 8)
    """)
    (launch,) = found.only("aten::convolution").launches
    assert launch.api == "aclnnConvolution"
    tensors = {t.name: (t.dtype, t.shape, t.format) for t in launch.tensors}
    assert tensors["input"] == ("float32", (1, 3, 8, 8), "NCHW")
    assert tensors["weight"] == ("float32", (4, 3, 3, 3), "NCHW")
    assert tensors["output"] == ("float32", (1, 4, 6, 6), "NCHW")


def test_a_fallback_and_its_copies(function):
    op = function("return torch.lgamma(x)").only("aten::lgamma")
    assert (op.verdict, op.rule) == ("fallback", "OPS102")
    assert len(op.copies) >= 2
    assert [each.detail for each in op.evidence if each.kind == "observed"] == [
        "this model, on a simulated runtime: copied to the host and back"
    ]
    assert op.conflicts == ()


def test_a_registered_kernel_that_computes_on_the_cpu(function):
    op = function("""
        weight = nn.Parameter(x.clone())
        weight.grad = x
        torch.optim.Adam([weight], fused=True).step()
        return weight
    """).only("aten::_fused_adam_")
    assert (op.verdict, op.rule) == ("slow", "OPS201")
    assert op.copies


def test_a_refused_call_hides_nothing_behind_it(function):
    found = function("""
        y = x.to(torch.float8_e4m3fn).float()
        return torch.lgamma(y).cosh()
    """)
    assert "unsupported" in found.verdicts("aten::_to_copy")
    assert found.verdicts("aten::lgamma") == {"fallback"}
    assert found.verdicts("aten::cosh") == {"supported"}
    assert found.result.trace.complete


def test_an_adapter_that_returns_another_kind_of_numbers(function):
    found = function("return torch.hann_window(8, device=x.device) * 2  # <-- here")
    (finding,) = found.findings("OPS608")
    assert finding.facts == {"operator": "aten::hann_window", "expected": "float32", "dtype": "int64"}
    assert found.lines("OPS608") == {found.here}


def test_mixed_precision(rehearse):
    found = rehearse("""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
            def forward(self, x):
                with torch.autocast("cuda", dtype=torch.bfloat16):  # <-- here
                    return self.linear(x).float().softmax(-1)
        def example_inputs():
            return torch.randn(2, 8)
    """)
    assert found.only("aten::addmm").dtypes == ("bfloat16",)
    assert found.only("aten::_softmax").dtypes == ("float32",)
    assert found.lines("OPS601") == {found.here}


def test_training(rehearse):
    found = rehearse(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
                self.drop = nn.Dropout()
                self.head = nn.Linear(36, 5)
            def forward(self, x):
                return self.head(self.drop(self.body(x).flatten(1)))
        def example_inputs():
            return torch.randn(2, 3, 8, 8)
        """,
        train=True,
    )
    assert found.only("aten::convolution_backward", "backward").verdict == "supported"
    assert found.only("aten::native_dropout_backward", "backward").verdict == "supported"
    assert "aten::_foreach_addcdiv_.ScalarList" in found.names("optimizer")
    assert found.result.trace.values == "computed"
    assert found.result.trace.complete


@pytest.mark.parametrize("masked", ["is_causal=True", "attn_mask=mask", "enable_gqa=False"])
def test_attention_is_torch_npus_own_and_computed(function, masked):
    found = function(
        f"""
        q = x.repeat(1, 2, 4, 1)
        mask = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=x.device).tril()
        out = F.scaled_dot_product_attention(q, q, q, {masked})
        with torch.no_grad():
            weights = q @ q.transpose(-2, -1) / q.shape[-1] ** 0.5
            if "mask" in {masked!r} or "causal" in {masked!r}:
                weights = weights.masked_fill(~mask, float("-inf"))
            assert torch.allclose(out, weights.softmax(-1) @ q, atol=1e-5)
        return out
        """,
        "torch.randn(1, 1, 2, 16)",
    )
    assert found.only("npu::npu_fusion_attention_v3").verdict == "supported"
    assert found.result.trace.values == "computed"


def test_operators_of_torch_npu_itself_are_computed(function):
    found = function(
        """
        import torch_npu
        weight = torch.ones(8, device=x.device)
        y, _ = torch_npu.npu_rms_norm(x, weight, 1e-6)
        assert torch.allclose(y, F.rms_norm(x, (8,), weight, 1e-6), atol=1e-5)
        y = torch_npu.npu_format_cast(torch_npu.npu_swiglu(y), 29)
        return torch_npu.npu_fast_gelu(y).to(torch.float16)
        """,
        "torch.randn(4, 8)",
    )
    assert found.only("npu::npu_rms_norm").verdict == "supported"
    assert found.result.trace.values == "computed"


def test_own_operators_with_and_without_a_kernel_for_the_cpu(rehearse):
    found = rehearse("""
        library = torch.library.Library("opscan_test", "DEF")
        library.define("cpu(Tensor x) -> Tensor")
        library.impl("cpu", lambda x: x * 2, "CPU")
        library.define("shaped(Tensor x) -> Tensor")
        library.impl("shaped", torch.empty_like, "Meta")
        library.define("composed(Tensor x) -> Tensor")
        library.impl("composed", lambda x: x.sinh() * 2, "CompositeImplicitAutograd")
        class M(nn.Module):
            def forward(self, x):
                ops = torch.ops.opscan_test
                return ops.shaped(ops.composed(ops.cpu(x))).cosh()
        def example_inputs():
            return torch.ones(2)
    """)
    assert (found.only("opscan_test::cpu").verdict, found.only("opscan_test::cpu").rule) == ("fallback", "OPS102")
    assert found.only("opscan_test::shaped").verdict == "unsupported"
    assert found.only("aten::sinh").verdict == "supported"
    assert found.only("aten::cosh").verdict == "supported"
    assert found.result.trace.values == "partly"


def test_an_operator_without_any_kernel_ends_the_rehearsal_and_is_told(rehearse):
    found = rehearse("""
        library = torch.library.Library("opscan_test_none", "DEF")
        library.define("nothing(Tensor x) -> Tensor")
        class M(nn.Module):
            def forward(self, x):
                return torch.ops.opscan_test_none.nothing(x.cosh()).sinh()
        def example_inputs():
            return torch.ones(2)
    """)
    assert found.only("opscan_test_none::nothing").verdict == "unsupported"
    assert "aten::sinh" not in found.names()
    assert not found.result.trace.complete
    assert "opscan_test_none::nothing" in found.result.trace.unseen[0]


def test_generators_of_the_device(function):
    found = function("""
        generator = torch.Generator(device="cuda").manual_seed(3)
        a = torch.randn(4, generator=generator, device=x.device)
        b = torch.multinomial(x.softmax(-1), 2, generator=generator)
        assert a.abs().sum() > 0
        assert b.max() < 4
        return x.clone().uniform_(generator=generator)
    """)
    for name in ("aten::randn.generator", "aten::multinomial", "aten::uniform_"):
        assert found.verdicts(name) == {"supported"}
    assert found.result.trace.values == "computed"


def test_sparse_tensors(rehearse):
    found = rehearse("""
        class M(nn.Module):
            def forward(self, x):
                sparse = torch.sparse_coo_tensor(torch.tensor([[0, 1], [2, 0]]), torch.ones(2), (4, 4))
                return torch.sparse.mm(sparse, x)
        def example_inputs():
            return torch.randn(4, 4)
    """)
    assert found.only("aten::_sparse_addmm").verdict == "unsupported"
    assert "torch_npu does not" in found.result.trace.unseen[0]


def test_quantized_tensors(function):
    found = function("return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize()")
    dequantized = found.only("aten::dequantize.self")
    assert (dequantized.verdict, dequantized.copies) == ("supported", ())
    assert "aclnnCast" in [launch.api for launch in dequantized.launches]
    assert found.result.trace.values == "partly"


def test_checks_that_the_adapter_makes_on_values_it_did_not_compute(function):
    found = function("return torch.linalg.inv(x + 10 * torch.eye(4, device=x.device))")
    assert not found.verdicts("aten::_linalg_check_errors") & {"unsupported"}
    assert found.verdicts("aten::linalg_inv_ex") == {"fallback"}
    assert found.result.trace.complete


def test_lengths_of_packed_sequences_stay_on_the_host(rehearse):
    found = rehearse("""
        from torch.nn.utils.rnn import pack_padded_sequence
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm = nn.LSTM(4, 8, num_layers=2, bidirectional=True, batch_first=True)
            def forward(self, x):
                packed = pack_padded_sequence(x, torch.tensor([5, 2, 3]), batch_first=True, enforce_sorted=False)
                return self.lstm(packed)[0].data
        def example_inputs():
            return torch.randn(3, 5, 4)
    """)
    assert found.only("aten::_pack_padded_sequence").verdict == "supported"
    assert "npu::npu_lstm_data" in found.names()
    assert not found.findings("OPS604")


def test_flex_attention_shows_its_operators(function):
    found = function(
        """
        from torch.nn.attention.flex_attention import flex_attention
        return flex_attention(x, x, x)
        """,
        "torch.randn(1, 2, 128, 16)",
    )
    assert found.verdicts("aten::_safe_softmax") == {"supported"}
    assert found.result.trace.complete


def test_a_shape_that_fits_nowhere_is_the_models_error(function):
    with pytest.raises(ModelError, match="shapes cannot be multiplied") as raised:
        function("return x @ torch.ones(5, 4, device=x.device)")
    assert "model.py:7" in raised.value.message


def test_an_index_beyond_the_end_is_the_models_error(function):
    with pytest.raises(ModelError, match="index out of range"):
        function("return F.embedding(torch.tensor([1, 9], device=x.device), x)")
