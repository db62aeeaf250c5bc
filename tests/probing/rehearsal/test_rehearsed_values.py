"""Models whose way hangs on values take the right one, and what is not known is said."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from opscan.errors import ModelError, OpscanError


def test_a_loop_that_ends_early(rehearse):
    found = rehearse("""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(16, 8)
                self.head = nn.Linear(8, 16)
            def forward(self, ids):
                for step in range(50):
                    scores = self.head(self.embedding(ids).mean(1))
                    token = scores.argmax(-1, keepdim=True) if step < 3 else torch.zeros_like(ids[:, :1])
                    ids = torch.cat([ids, token], 1)
                    if (token == 0).all() and step >= 3:  # <-- here
                        break
                else:
                    raise RuntimeError("the end was never seen")
                assert ids.shape[1] == 7
                return ids.cosh() if ids[0, -1] == 0 else ids
        def example_inputs():
            return torch.tensor([[1, 2, 3]])
    """)
    assert found.only("aten::cat").count == 4
    assert "aten::cosh" in found.names()
    assert found.here in found.lines("OPS603")
    assert found.result.trace.values == "computed"
    assert not found.result.trace.complete


def test_results_whose_shape_depends_on_values(function):
    function(
        """
        mask = x > 1
        assert x[mask].tolist() == [2, 3, 5]
        assert mask.nonzero().tolist() == [[0, 1], [0, 2], [1, 1]]
        assert torch.where(mask)[1].tolist() == [1, 2, 1]
        assert x.masked_scatter(mask, torch.tensor([7, 8, 9], device=x.device)).tolist() == [[1, 7, 8], [0, 9, 1]]
        values, counts = x.unique(return_counts=True)
        assert counts.sum().item() == x.numel()
        repeated = torch.repeat_interleave(x[0], torch.tensor([1, 0, 2], device=x.device))
        assert repeated.tolist() == [1, 3, 3]
        assert torch.repeat_interleave(torch.tensor([2, 1], device=x.device)).tolist() == [0, 0, 1]
        assert torch.bincount(x.flatten()).tolist() == [1, 2, 1, 1, 0, 1]
        assert x.max().item() == 5 and x.argmax().item() == 4
        return x
        """,
        "torch.tensor([[1, 2, 3], [0, 5, 1]])",
    )


def test_values_through_views_and_in_place_operators(function):
    function("""
        y = torch.zeros(4, 4, device=x.device)
        y[:, 1:3].add_(1)
        y.view(-1)[::2].mul_(3)
        y.t()[0] = 7
        y[[0, 2]] = 5
        assert y[1].tolist() == [7, 1, 3, 0]
        assert y[0].tolist() == [5, 5, 5, 5]
        out = torch.empty(0, device=x.device)
        torch.add(y, 1, out=out)
        assert out[0, 0] == 6
        z = torch.empty(2, device=x.device)
        z.set_(y)
        z.zero_()
        assert y.sum() == 0
        first, second = torch.ones(4, 2, device=x.device).split(2)
        first.neg_()
        assert first.sum() + second.sum() == 0
        return y
    """)


def test_values_through_the_host_and_back(function):
    function("""
        import numpy
        array = x.cpu().numpy()
        array[:] = 7
        assert torch.from_numpy(array).to(x.device).sum().item() == 7 * 16
        host = torch.zeros(4)
        host[1] = 5
        assert host.to(x.device).argmax().item() == 1
        assert [int(v) for v in torch.arange(3, device=x.device)] == [0, 1, 2]
        assert numpy.asarray(x.detach().cpu()).shape == (4, 4)
        x.data.fill_(3)
        assert bool((x == 3).all()) and f"{x.mean():.1f}" == "3.0"
        assert "3., 3." in str(x) and "npu" in str(x)
        return x
    """)


def test_complex_numbers_and_their_views(function):
    function("""
        z = torch.complex(torch.ones(3, device=x.device), torch.arange(3.0, device=x.device))
        assert z.conj().imag.tolist() == [0, -1, -2]
        assert (z * z.conj()).real.tolist() == [1, 2, 5]
        assert torch.view_as_real(z)[2].tolist() == [1, 2]
        return torch.fft.irfft(torch.fft.rfft(x))
    """)


def test_copies_of_modules_and_checkpoints(rehearse):
    rehearse("""
        import copy, io
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4)
            def forward(self, x):
                twin = copy.deepcopy(self.linear)
                file = io.BytesIO()
                torch.save(self.linear.state_dict(), file)
                file.seek(0)
                twin.weight.data.zero_()
                twin.load_state_dict(torch.load(file, map_location="cuda"))
                assert torch.equal(twin(x), self.linear(x))
                return x
        def example_inputs():
            return torch.randn(2, 4)
    """)


# --- what is not known -----------------------------------------------------------------------------------------


def test_a_view_of_a_terabyte(function):
    found = function("""
        one = torch.ones(1, device=x.device)
        return one.expand(1 << 20, 1 << 18).sum(), (one.repeat(1 << 17)[:, None] * one.repeat(1 << 18)).cosh()
    """)
    assert found.only("aten::sum").verdict == "supported"
    assert found.only("aten::cosh").inputs[0][1] == (1 << 17, 1 << 18)
    assert found.result.trace.values == "partly"
    assert "GB" in found.result.trace.values_note


def test_a_model_larger_than_memory(rehearse):
    found = rehearse("""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                layer = lambda: nn.Linear(16384, 16384, bias=False, dtype=torch.bfloat16)
                self.layers = nn.ModuleList(layer() for _ in range(600))
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                x = x.cosh() if x.sum() > 0 else x.sinh()  # <-- here
                with open("/proc/self/status") as status:
                    resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
                assert resident < 1 << 20, resident
                return x
        def example_inputs():
            return torch.randn(1, 16384, dtype=torch.bfloat16)
    """)
    assert found.result.model.parameters == 600 << 28
    assert found.only("aten::matmul").count == 600
    assert found.result.trace.values == "partly"
    assert "GB of weights were not filled" in found.result.trace.values_note
    assert found.lines("OPS603") == {found.here}


# --- threads and kinds of tensors ------------------------------------------------------------------------------


def test_what_threads_call_is_seen(rehearse):
    found = rehearse("""
        from concurrent.futures import ThreadPoolExecutor
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
            def forward(self, x):
                with ThreadPoolExecutor(4) as pool:
                    outs = list(pool.map(lambda layer: layer(x), self.layers))
                assert sum(out.abs().sum() for out in outs) > 0
                return sum(outs)
        def example_inputs():
            return torch.randn(2, 4)
    """)
    assert found.only("aten::addmm").count == 4
    assert {where.module for where in found.only("aten::addmm").locations} == {f"layers.{n}" for n in range(4)}


def test_tensors_made_of_others(rehearse):
    found = rehearse("""
        class Wrapped(torch.Tensor):
            @staticmethod
            def __new__(cls, inner):
                made = torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype, device=inner.device)
                made.inner = inner
                return made
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return cls(func(*(a.inner if isinstance(a, cls) else a for a in args)))
        class M(nn.Module):
            def forward(self, x):
                y = (Wrapped(x) + 1).cosh().inner
                assert torch.equal(y, (x + 1).cosh())
                return y
        def example_inputs():
            return torch.randn(2)
    """)
    assert found.only("aten::cosh").count == 2


def test_lazy_modules(rehearse):
    found = rehearse("""
        def build_model():
            return nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d())
        def example_inputs():
            return torch.randn(2, 4)
    """)
    assert found.result.model.parameters == 3 * 4 + 3 + 6
    assert found.only("aten::addmm").verdict == "supported"


def test_vmap_and_grad(function):
    found = function("""
        from torch.func import grad, vmap
        gradients = vmap(grad(lambda row: row.sin().sum()))(x)
        assert torch.allclose(gradients, x.cos(), atol=1e-6)
        return gradients
    """)
    assert found.only("aten::sin").verdict == "supported"


# --- errors ----------------------------------------------------------------------------------------------------


def test_the_users_own_error_with_its_line(rehearse):
    with pytest.raises(ModelError) as raised:
        rehearse("""
            class M(nn.Module):
                def forward(self, x):
                    y = x + 1
                    raise ValueError("of my own")
            def example_inputs():
                return torch.randn(2)
        """)
    assert "model.py:8: running the model failed:" in raised.value.message
    assert "ValueError: of my own" in raised.value.message


def test_an_error_of_the_trainings_backward_is_the_models(function):
    with pytest.raises(ModelError, match="second time"):
        function(
            """
            loss = (x * x).sum()
            loss.backward()
            return loss
            """,
            "torch.randn(2, requires_grad=True)",
            train=True,
        )


def test_endless_recursion(rehearse):
    with pytest.raises(ModelError, match="RecursionError"):
        rehearse("""
            class M(nn.Module):
                def forward(self, x):
                    return self.forward(x + 1)
            def example_inputs():
                return torch.randn(2)
        """)


def test_cuda_in_the_code_goes_to_the_device(rehearse):
    found = rehearse("""
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4).cuda()
            def forward(self, x):
                assert torch.cuda.is_available()
                y = torch.zeros(2, 4).cuda() + torch.ones(4, device="cuda:0")  # <-- here
                assert y.device.type == "npu"
                return self.linear(x.cuda()) + y
        def example_inputs():
            return torch.randn(2, 4)
    """)
    assert found.here in found.lines("OPS601")
    assert found.only("aten::addmm").verdict == "supported"


@pytest.mark.parametrize(
    ("body", "how"), [("import os; os._exit(0)", "exit code 0"), ("import ctypes; ctypes.string_at(0)", "SIGSEGV")]
)
def test_a_process_that_dies_is_one_message(rehearser, function, body, how):
    try:
        with pytest.raises(OpscanError, match=how):
            function(f"y = x + 1\n{body}\nreturn y")
    finally:
        rehearser.close()
    assert function("return x.cosh()").only("aten::cosh").verdict == "supported"


def test_classes_that_are_counted_hang_on_data_and_those_that_are_given_do_not(function):
    found = function(
        """
        given = F.one_hot(x, 4)
        counted = F.one_hot(x)  # <-- here
        return given.sum() + counted.sum()
        """,
        "torch.tensor([0, 2, 1])",
    )
    assert found.lines("OPS603") == {found.here}


class Forks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self) -> torch.Tensor:
        return torch.jit.wait(torch.jit.fork(torch.relu, self.weight.cosh()))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_script_ends_at_what_is_not_followed_and_says_so(rehearser, tmp_path):
    path = tmp_path / "forks.pt"
    torch.jit.script(Forks()).save(str(path))
    found = rehearser.rehearse(path)
    assert [op.name for op in found.ops] == ["aten::cosh"]
    assert not found.trace.attempts[-1].ok
    assert "TorchScript's prim::fork" in (found.trace.attempts[-1].reason or "")
    assert not found.trace.complete
