"""Calls of CUDA extensions: one operator each at the user's line, with stand-in results, or the end of the trace."""

from __future__ import annotations

import pytest
from traced_files import Trace

ATTENTION = """
from flash_attn import flash_attn_func
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(16, 48)
    def forward(self, x):
        q, k, v = self.project(x).view(2, 5, 3, 4, 4).unbind(2)
        y = flash_attn_func(q, k, v, causal=True)  # <-- here
        return y.cos()
"""


def test_a_call_is_one_operator(trace: Trace) -> None:
    found = trace(ATTENTION, "2,5,16")
    call = found.only("cuda_extension::flash_attn.flash_attn_func")
    assert [spec.shape for spec in call.inputs] == [(2, 5, 4, 4)] * 3
    assert [spec.shape for spec in call.outputs] == [(2, 5, 4, 4)]
    assert call.location is not None
    assert call.location.line == found.line()
    assert found.names()[-1] == "aten::cos"
    assert not {"aten::bmm", "aten::_softmax", "aten::matmul"} & set(found.names())
    assert found.complete


def test_its_derivative_is_one_too(trace: Trace) -> None:
    found = trace(ATTENTION, "2,5,16", train=True)
    call = found.only("cuda_extension::flash_attn.flash_attn_func", "backward")
    assert [spec.shape for spec in call.inputs] == [(2, 5, 4, 4)]
    assert [spec.shape for spec in call.outputs] == [(2, 5, 4, 4)] * 3
    assert call.location is not None
    assert call.location.line == found.line()
    assert "aten::_softmax_backward_data" not in found.names("backward")
    assert found.names("optimizer")


def test_a_layer_has_its_parameters_and_module(trace: Trace) -> None:
    found = trace(
        """
        from apex.normalization import FusedLayerNorm
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = FusedLayerNorm(16)
            def forward(self, x):
                return self.norm(x)
        """,
        "2,16",
        train=True,
    )
    call = found.only("cuda_extension::apex.FusedLayerNorm")
    assert [spec.shape for spec in call.inputs] == [(2, 16), (16,), (16,)]
    assert call.location is not None
    assert call.location.module == "norm"
    assert found.inventory.parameters == 32
    assert found.times("cuda_extension::apex.FusedLayerNorm", "backward") == 1


#: (imports, expression of x, shape of x, shape of the result)
KNOWN = [
    ("from flash_attn import flash_attn_qkvpacked_func as f", "f(x)", "2,5,3,4,8", (2, 5, 4, 8)),
    ("from flash_attn import flash_attn_kvpacked_func as f", "f(x[:, :, 0], x)", "2,5,2,4,8", (2, 5, 4, 8)),
    (
        "from flash_attn import flash_attn_varlen_func as f",
        "f(x, x, x, c := torch.tensor([0, 3, 7], dtype=torch.int32), c, 4, 4)",
        "7,4,8",
        (7, 4, 8),
    ),
    ("from flash_attn import flash_attn_func as f", "f(x, x, x, return_attn_probs=True)[1]", "2,5,4,8", (2, 4, 5)),
    ("from flash_attn import flash_attn_with_kvcache as f", "f(x, x, x[..., :4])", "2,5,4,8", (2, 5, 4, 4)),
    ("from xformers.ops import memory_efficient_attention as f", "f(x, x, x)", "2,5,4,8", (2, 5, 4, 8)),
    (
        "import xformers.ops as xops",
        "xops.memory_efficient_attention(x, x, x, attn_bias=xops.LowerTriangularMask())",
        "2,5,8",
        (2, 5, 8),
    ),
    (
        "from mamba_ssm.ops.selective_scan_interface import selective_scan_fn as f",
        "f(x, x, torch.ones(4, 16), x, x, return_last_state=True)[1]",
        "2,4,6",
        (2, 4, 16),
    ),
    ("from mamba_ssm import Mamba; m = Mamba(8)", "m.to(x.device)(x)", "2,6,8", (2, 6, 8)),
    (
        "from causal_conv1d import causal_conv1d_fn as f",
        "f(x, torch.ones(4, 3), activation='silu')",
        "2,4,6",
        (2, 4, 6),
    ),
    (
        "from torch_scatter import scatter as f",
        "f(x, torch.zeros(6, dtype=torch.int64), dim=0, dim_size=9)",
        "6,4",
        (9, 4),
    ),
    ("from torch_scatter import scatter_max as f", "f(x, torch.tensor([0, 1, 3]), dim=0)[0]", "3,4", (4, 4)),
    (
        "import MultiScaleDeformableAttention as MSDA",
        "MSDA.ms_deform_attn_forward(x, torch.tensor([[2, 3]]), torch.tensor([0]), "
        "torch.rand(1, 7, 2, 1, 4, 2), torch.rand(1, 7, 2, 1, 4), 64)",
        "1,6,2,8",
        (1, 7, 16),
    ),
    ("import bitsandbytes as bnb; m = bnb.nn.Linear4bit(8, 5)", "m.to(x.device)(x)", "2,8", (2, 5)),
]


@pytest.mark.parametrize(("imports", "expression", "given", "expected"), KNOWN)
def test_known_results(trace: Trace, imports: str, expression: str, given: str, expected: tuple[int, ...]) -> None:
    found = trace(
        f"""
        {imports}
        class M(nn.Module):
            def forward(self, x):
                y = {expression}
                return y.cos()
        """,
        given,
    )
    assert found.only("aten::cos").inputs[0].shape == expected
    assert sum(name.startswith("cuda_extension::") for name in found.names()) == 1
    assert not found.failed


def test_the_trace_ends_where_nothing_is_known(trace: Trace) -> None:
    found = trace(
        """
        import spconv.pytorch as spconv  # <-- import
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = spconv.SparseSequential(spconv.SubMConv3d(4, 8, 3), nn.ReLU())  # <-- build
            def forward(self, x):
                x = x.sin()
                places = torch.zeros(6, 4, dtype=torch.int32, device=x.device)
                sparse = spconv.SparseConvTensor(x, places, [4, 4, 4], 1)  # <-- here
                return self.net(sparse)
        """,
        "6,4",
    )
    assert found.failed
    assert not found.complete
    reason = found.inventory.trace.unseen[0]
    assert f"model.py:{found.line()}" in reason
    assert "spconv.pytorch.SparseConvTensor is a CUDA extension" in reason
    assert found.lines_of("cuda_extension::spconv.pytorch.SparseConvTensor") == {found.line()}
    assert "aten::sin" in found.names()
    assert found.finding_lines("OPS610") == {found.line("import"), found.line("build"), found.line("here")}


@pytest.mark.parametrize(
    "use",
    [
        "return unknown_package.run(x)",
        "return x + pynvml.nvmlDeviceGetCount()",
        "return x * int(pynvml.nvmlDeviceGetCount())",
        "return F.linear(x, pynvml.weights())",
        "return x[pynvml.nvmlDeviceGetCount() > 1]",
        "return [x for _ in pynvml.nvmlDeviceGetCount()]",
        "\n                try:\n                    return cupy.asarray(x)\n                except Exception as error:"
        "\n                    raise ValueError('of its own') from error",
    ],
)
def test_uses_of_a_value_end_it(trace: Trace, use: str) -> None:
    found = trace(
        f"""
        import cupy, pynvml, nvdiffrast.torch as unknown_package
        class M(nn.Module):
            def forward(self, x):
                x = x.sin()
                {use}
        """,
        "6,4",
    )
    assert found.failed
    assert "aten::sin" in found.names()


def test_an_error_at_import_is_an_incomplete_trace(trace: Trace) -> None:
    found = trace("import cupy\ncount = 3 + cupy.cuda.runtime.getDeviceCount()  # <-- here\nmodel = nn.ReLU()", "2,3")
    assert found.failed
    assert found.calls == ()
    assert f"model.py:{found.line()}" in found.inventory.trace.unseen[0]


def test_values_that_are_not_asked_for_do_not_end_it(trace: Trace) -> None:
    found = trace(
        """
        import pynvml, cupy
        pynvml.nvmlInit()
        @cupy.memoize(for_each_device=True)
        def load(name): ...
        class M(nn.Module):
            def forward(self, x):
                handle = pynvml.nvmlDeviceGetHandleByIndex(0)
                info = pynvml.nvmlDeviceGetMemoryInfo(handle).free
                return x.cos()
        """,
        "2,3",
    )
    assert found.names() == ["aten::cos"]
    assert found.complete


def test_a_layer_without_values_is_initialised_and_converted(trace: Trace) -> None:
    found = trace(
        """
        from spconv.pytorch import SubMConv3d
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = SubMConv3d(4, 8, 3)
                for m in self.modules():
                    if isinstance(m, SubMConv3d):
                        nn.init.kaiming_normal_(m.weight)
                        nn.init.zeros_(m.bias)
                        m.weight.data.normal_(0, 0.02)
                self.half().eval().requires_grad_(False)
                self.state_dict()
                if torch.nn.init.ones_(self.conv.weight) is None or list(self.parameters()):
                    raise ValueError
            def forward(self, x):
                with self.conv.timer:
                    return x.cos()
        """,
        "2,4",
    )
    assert found.names() == ["aten::cos"]
    assert found.complete


@pytest.mark.parametrize(
    "asked", ["0 in handle", "len(handle)", "handle.count > 1", "pynvml.LIMIT < 3", "1 in pynvml.ALL"]
)
def test_a_question_about_a_value_ends_it(trace: Trace, asked: str) -> None:
    found = trace(
        f"""
        import pynvml
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        found = {asked}  # <-- here
        model = nn.ReLU()
        """,
        "2,4",
    )
    assert found.failed
    assert f"model.py:{found.line()}" in found.inventory.trace.unseen[0]


def test_a_class_of_the_models_own_may_derive_from_one(trace: Trace) -> None:
    found = trace(
        """
        from spconv.pytorch import SparseModule
        class Block(SparseModule):
            def __init__(self, size):
                super().__init__()
                self.inner = nn.Linear(size, size)
            def forward(self, x):
                return self.inner(x)
        def build_model():
            assert isinstance(Block(3), SparseModule)
            return Block(4)
        """,
        "2,4",
    )
    assert found.names() == ["aten::t", "aten::addmm"] or "aten::addmm" in found.names()
    assert found.complete


def test_kernels_of_triton(trace: Trace) -> None:
    found = trace(
        """
        import triton
        import triton.language as tl
        @triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=4)], key=["n"])
        @triton.jit
        def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
            tl.store(out, tl.load(x) + tl.load(y))
        @triton.jit(do_not_specialize=["n"])
        def other(x, n):
            pass
        class M(nn.Module):
            def forward(self, x):
                out = torch.empty_like(x)
                assert triton.cdiv(7, 2) == 4 and triton.next_power_of_2(9) == 16
                add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, x, out, x.numel())  # <-- here
                other[(1,)](out, n=3)
                return out.cos()
        """,
        "2,3",
    )
    assert found.names()[-3:] == ["cuda_extension::triton.add_kernel", "cuda_extension::triton.other", "aten::cos"]
    call = found.only("cuda_extension::triton.add_kernel")
    assert [spec.shape for spec in call.inputs] == [(2, 3)] * 3
    assert found.lines_of(call.name) == {found.line()}
    assert found.line() in found.finding_lines("OPS611")
    assert found.complete


def test_kernels_inside_of_operators_of_the_models_own(trace: Trace) -> None:
    found = trace(
        """
        import triton
        @triton.jit
        def kernel(x, out):
            pass
        @torch.library.custom_op("opscan_extensions::wrapped", mutates_args=())
        def wrapped(x: torch.Tensor) -> torch.Tensor:
            out = torch.empty_like(x)
            torch.library.wrap_triton(kernel)[(1,)](x, out)
            return out
        @wrapped.register_fake
        def _(x):
            return torch.empty_like(x)
        class M(nn.Module):
            def forward(self, x):
                return wrapped(x).cos()
        """,
        "2,3",
    )
    assert found.names()[-1] == "aten::cos"
    assert [part.name for part in found.only("opscan_extensions::wrapped").parts] == [
        "aten::empty_like",
        "cuda_extension::triton.kernel",
    ]


@pytest.mark.parametrize(
    "load",
    [
        "load(name='kernels', sources=['kernels.cpp', 'kernels.cu'])",
        "load('kernels', ['kernels.cu'], verbose=True)",
        "load_inline('kernels', ['torch::Tensor f(torch::Tensor x);'], ['__global__ void f() {}'], functions=['f'])",
        "load_inline(name='kernels', cpp_sources='', cuda_sources='__global__ void f() {}', with_cuda=True)",
    ],
)
def test_cuda_sources_are_not_compiled(trace: Trace, load: str) -> None:
    found = trace(
        f"""
        from torch.utils.cpp_extension import load, load_inline
        kernels = {load}  # <-- load
        class M(nn.Module):
            def forward(self, x):
                return kernels.f(x.sin())  # <-- here
        """,
        "2,3",
    )
    assert found.failed
    assert found.names() == ["aten::sin", "cuda_extension::kernels.f"]
    assert found.finding_lines("OPS610") == {found.line("load"), found.line("here")}
