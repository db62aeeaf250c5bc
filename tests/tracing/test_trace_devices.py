"""CUDA by any name is redirected and reported at its line; forgotten devices and CPU tensors are findings."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from traced_files import Scanner, Trace

#: Each names CUDA once; the trace has to go on behind it.
IN_FORWARD = [
    "y = torch.arange(8, device='cuda')",
    "y = torch.arange(8, device='cuda:0')",
    "y = torch.arange(8, device=torch.device('cuda'))",
    "y = torch.zeros(8, device=torch.device('cuda', 1))",
    "y = torch.rand(8, device='cuda')",
    "y = torch.tensor([1.0] * 8, device='cuda')",
    "y = torch.as_tensor([1.0] * 8, device='cuda')",
    "y = x.cuda()",
    "y = x.cuda(0, non_blocking=True)",
    "y = x.to('cuda')",
    "y = x.to('cuda:1', torch.float16)",
    "y = x.to(device='cuda')",
    "y = x.to(torch.device('cuda'), non_blocking=True)",
    "y = x.type('torch.cuda.HalfTensor')",
    "y = torch.cuda.FloatTensor(8)",
    "y = x.new_zeros((1, 8), device='cuda')",
    "y = x.new_full((8,), 1.0, device='cuda')",
    "y = x.new_tensor([1.0] * 8, device='cuda')",
    "y = torch.zeros_like(x, device='cuda')",
    "y = torch.randn_like(x, device='cuda')",
    "y = 1 if torch.cuda.is_available() else None",
    "y = torch.cuda.device_count()",
    "y = torch.cuda.get_device_properties(0).total_memory",
    "y = torch.cuda.get_device_capability()[0]",
    "y = 1; torch.cuda.synchronize()",
    "y = 1; torch.cuda.empty_cache()",
    "y = 1; torch.cuda.manual_seed_all(0)",
    "y = 1; torch.cuda.nvtx.range_push('a')",
    "y = 1; torch.Generator(device='cuda')",
    "y = 1; torch.cuda.amp.GradScaler()",
    "y = 1; torch.amp.GradScaler('cuda')",
    "y = 1; torch.cuda.Stream()",
    "y = 1; torch.cuda.current_stream().synchronize()",
    "y = 1; torch.cuda.Event(enable_timing=True).record()",
    "y = nn.Linear(8, 8).cuda()(x)",
    "y = nn.Linear(8, 8).to('cuda')(x)",
]


@pytest.mark.parametrize("statement", IN_FORWARD)
def test_cuda_in_forward(trace: Trace, statement: str) -> None:
    found = trace(
        f"""
        class M(nn.Module):
            def forward(self, x):
                x = x.sin()
                {statement}  # <-- here
                return x.cos() + y
        """,
        "1,8",
    )
    assert found.finding_lines("OPS601") == {found.line()}
    assert found.findings("OPS604") == []
    assert {"aten::sin", "aten::cos", "aten::add.Tensor"} <= set(found.names())
    assert found.complete


def test_classes_of_cuda_stay_classes(trace: Trace) -> None:
    found = trace(
        """
        class Own(torch.cuda.Stream):
            pass

        class M(nn.Module):
            def forward(self, x, stream: torch.cuda.Stream | None = None, event: torch.cuda.Event | None = None):
                assert isinstance(torch.cuda.current_stream(), torch.cuda.Stream)
                assert isinstance(Own(), torch.cuda.Stream)
                assert not isinstance(x, torch.cuda.HalfTensor)
                return x.sin() if isinstance(x, torch.cuda.FloatTensor) else x.cos()
        """,
        "1,8",
    )
    assert found.names() == ["aten::sin"]


@pytest.mark.parametrize(
    "block",
    [
        "with torch.autocast('cuda'):",
        "with torch.autocast(device_type='cuda', dtype=torch.bfloat16):",
        "with torch.amp.autocast('cuda'):",
        "with torch.cuda.amp.autocast():",
        "with torch.device('cuda'):",
        "with torch.cuda.device(0):",
    ],
)
def test_cuda_as_a_context(trace: Trace, block: str) -> None:
    found = trace(
        f"""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
            def forward(self, x):
                {block}  # <-- here
                    y = self.linear(x)
                return y.cos()
        """,
        "1,8",
    )
    assert found.finding_lines("OPS601") == {found.line()}
    assert found.names()[-1] == "aten::cos"
    if "auto" in block:
        expected = "bfloat16" if "bfloat16" in block else "float16"
        assert set(found.only("aten::addmm").dtypes) == {expected}


@pytest.mark.parametrize(
    "statement",
    [
        "self.linear = nn.Linear(8, 8, device='cuda')",
        "self.linear = nn.Linear(8, 8).cuda()",
        "self.linear = nn.Linear(8, 8).to('cuda')",
        "self.linear = nn.Linear(8, 8); self.to(torch.device('cuda'))",
        "self.linear = nn.Linear(8, 8).to('cuda' if torch.cuda.is_available() else 'cpu')",
        "self.linear = nn.Linear(8, 8); self.register_buffer('b', torch.zeros(8, device='cuda'))",
        "self.linear = nn.Linear(8, 8).to_empty(device='cuda')",
        "self.linear = nn.Linear(8, 8); self.cpu(); self.cuda()",
    ],
)
def test_cuda_at_construction(trace: Trace, statement: str) -> None:
    found = trace(
        f"""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                {statement}  # <-- here
            def forward(self, x):
                return self.linear(x)
        """,
        "1,8",
    )
    assert found.finding_lines("OPS601") == {found.line()}
    assert found.names() == ["aten::t", "aten::addmm"]
    assert found.complete


@pytest.mark.parametrize(
    "statement",
    [
        "torch.set_default_device('cuda')",
        "torch.set_default_device(torch.device('cuda:0'))",
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')",
    ],
)
def test_cuda_as_the_default(trace: Trace, statement: str) -> None:
    found = trace(
        f"""
        {statement}  # <-- here
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
                self.scale = torch.ones(8)
            def forward(self, x):
                return self.linear(x) * self.scale + torch.ones(8)
        """,
        "1,8",
    )
    assert found.finding_lines("OPS601") == {found.line()}
    assert [f.rule for f in found.findings()] == ["OPS601"]  # what follows the default is not forgotten


def test_a_default_device_does_not_outlive_its_scan(trace: Trace) -> None:
    trace("torch.set_default_device('cuda')\nmodel = nn.Linear(8, 8)", "1,8")
    found = trace("def build_model():\n    return lambda x: x + torch.ones(8)", "1,8")
    assert [f.rule for f in found.findings()] == ["OPS602"]


def test_data_parallel_is_the_module_itself(trace: Trace) -> None:
    found = trace("model = nn.DataParallel(nn.Linear(8, 8)).cuda()  # <-- here", "1,8")
    assert found.finding_lines("OPS601") == {found.line()}
    assert found.names() == ["aten::t", "aten::addmm"]


def test_torch_asks_about_cuda_for_itself_without_a_finding(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
                torch.manual_seed(0)
            def forward(self, x):
                with torch.random.fork_rng():
                    return self.attention(x, x, x)[0]
        """,
        "2,4,8",
    )
    assert found.findings() == []


def test_a_library_that_asks_about_cuda_hears_the_truth(scanner: Scanner, tmp_path: Path) -> None:
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "an_installed_library.py").write_text(
        "import torch\nCUDA = torch.cuda.is_available()\n"
        "def on_cuda(x):\n    return x.cuda() if torch.cuda.device_count() else x.sin().cuda()\n"
    )
    found = scanner(
        tmp_path,
        """
        import os, sys
        sys.path.append(os.path.join(os.path.dirname(__file__), "site-packages"))
        import an_installed_library
        assert not an_installed_library.CUDA
        def build_model():
            return lambda x: an_installed_library.on_cuda(x)  # <-- here
        """,
        ("1,8",),
    )
    assert found.names() == ["aten::sin"]
    assert [f.facts["what"] for f in found.findings("OPS601")] == ["Tensor.cuda()"]
    assert found.finding_lines("OPS601") == {found.line()}


def test_a_migrated_model_names_npu_without_a_finding(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                y = torch.ones(8, device="npu")
                with torch.autocast("npu"):
                    return x.npu() + y + torch.zeros(8).to("npu:0").npu()
        """,
        "1,8",
    )
    assert [f.rule for f in found.findings()] == ["OPS602"]


# --- forgotten devices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factory", "call"),
    [
        ("torch.arange", "torch.arange(8)"),
        ("torch.zeros", "torch.zeros(8)"),
        ("torch.ones", "torch.ones((1, 8))"),
        ("torch.rand", "torch.rand(8)"),
        ("torch.randn", "torch.randn(1, 8)"),
        ("torch.full", "torch.full((8,), 2.0)"),
        ("torch.tensor", "torch.tensor([1.0] * 8)"),
        ("torch.linspace", "torch.linspace(0, 1, 8)"),
        ("torch.eye", "torch.eye(8)"),
        ("torch.tril_indices", "torch.tril_indices(8, 8)[0, :8]"),
        ("torch.hann_window", "torch.hann_window(8)"),
    ],
)
def test_a_factory_without_a_device(trace: Trace, factory: str, call: str) -> None:
    found = trace(
        f"""
        class M(nn.Module):
            def forward(self, x):
                y = x.sin()
                return y + {call}  # <-- here
        """,
        "1,8",
    )
    assert [(f.rule, f.facts) for f in found.findings()] == [("OPS602", {"factory": factory})]
    assert found.finding_lines("OPS602") == {found.line()}
    assert found.complete


def test_factories_outside_of_forward_are_no_finding(trace: Trace) -> None:
    found = trace(
        """
        TABLE = torch.arange(8)
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("table", torch.arange(8))
            def forward(self, x):
                return x + self.table + torch.arange(8, device=x.device)
        """,
        "1,8",
    )
    assert found.findings() == []


def test_a_module_of_the_finding(trace: Trace) -> None:
    found = trace(
        """
        class Inner(nn.Module):
            def forward(self, x):
                return x + torch.arange(8)
        class M(nn.Sequential):
            def __init__(self):
                super().__init__(nn.Identity(), Inner())
        model = M()
        """,
        "1,8",
    )
    assert [f.locations[0].module for f in found.findings("OPS602")] == ["1"]


# --- CPU tensors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kept",
    [
        "self.scale = torch.ones(8)",
        "self.scale = torch.from_numpy(np.arange(8, dtype=np.float32))",
        "self.scale = [torch.ones(8)][0]",
        "self.scale = CLOSURE",
        "self.scale = torch.tensor(np.ones(8, dtype=np.float32))",
        "self.scale = torch.Tensor([1.0] * 8)",
    ],
)
def test_a_cpu_tensor_that_is_no_buffer(trace: Trace, kept: str) -> None:
    found = trace(
        f"""
        import numpy as np
        CLOSURE = torch.ones(8)
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                {kept}
            def forward(self, x):
                x = x.sin()
                return x * self.scale  # <-- here
        """,
        "1,8",
    )
    assert [(f.rule, f.facts["operator"]) for f in found.findings()] == [("OPS604", "aten::mul.Tensor")]
    assert found.finding_lines("OPS604") == {found.line()}
    assert found.complete


def test_a_container_of_cpu_tensors(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.many = [torch.ones(8), torch.zeros(8)]
                self.cells = {"index": torch.arange(4)}
            def forward(self, x):
                for one in self.many:
                    x = x + one  # <-- here
                return x[:, self.cells["index"]]
        """,
        "2,8",
    )
    assert found.finding_lines("OPS604") == {found.line()}  # an index may be on the CPU
    assert found.times("aten::add.Tensor") == 2


def test_cpu_scalars_and_moved_tensors_are_no_finding(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale, self.shift = torch.tensor(2.0), torch.ones(8)
            def forward(self, x):
                return x * self.scale + self.shift.to(x.device)
        """,
        "2,8",
    )
    assert found.findings() == []


def test_numpy_arrays_in_forward(trace: Trace) -> None:
    found = trace(
        """
        import numpy as np
        TABLE = np.arange(8, dtype=np.float32)
        class M(nn.Module):
            def forward(self, x):
                x = x + torch.from_numpy(TABLE)  # <-- here
                return x - torch.as_tensor(TABLE, device=x.device)
        """,
        "2,8",
    )
    assert found.finding_lines("OPS604") == {found.line()}
    assert found.complete


def test_a_causal_mask_made_by_torch_on_the_cpu(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                mask = nn.Transformer.generate_square_subsequent_mask(4)
                return x + mask  # <-- here
        """,
        "4,4",
    )
    assert [f.rule for f in found.findings()] == ["OPS604"]
    assert found.finding_lines("OPS604") == {found.line()}


def test_pinned_memory(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                return x + torch.zeros(8, device="cpu").pin_memory().to(x.device, non_blocking=True)
        """,
        "2,8",
    )
    assert found.names() == ["aten::_to_copy", "aten::add.Tensor"]
    assert found.findings() == []


def test_generators(trace: Trace) -> None:
    source = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.generator = torch.Generator().manual_seed(0)
        def forward(self, x):
            noise = torch.rand(8, device=x.device, generator=torch.Generator(device=x.device))
            return x + noise + torch.rand(8, generator=self.generator).to(x.device)
    """
    found = trace(textwrap.dedent(source), "2,8")
    assert found.times("aten::rand.generator") == 2
    assert found.complete
