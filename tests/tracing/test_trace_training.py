"""``--train``: backward operators at the lines of their forward, the optimizer step, and what there is none of."""

from __future__ import annotations

from traced_files import Trace


def test_backward_operators_stand_at_the_line_of_their_forward(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 4)
                self.norm = nn.BatchNorm1d(4)
            def forward(self, x):
                y = self.linear(x)  # <-- linear
                y = self.norm(y)  # <-- norm
                y = F.gelu(y)  # <-- gelu
                return y.sum()  # <-- sum
        """,
        "2,8",
        train=True,
    )
    where = {c.name: (c.location.line, c.location.module) for c in found.calls if c.phase == "backward" and c.location}
    assert where["aten::expand"] == (found.line("sum"), "")
    assert where["aten::gelu_backward"] == (found.line("gelu"), "")
    assert where["aten::native_batch_norm_backward"] == (found.line("norm"), "norm")
    assert where["aten::mm"] == (found.line("linear"), "linear")
    assert found.complete


def test_the_optimizer_step(trace: Trace) -> None:
    found = trace("model = nn.Linear(8, 4)", "2,8", train=True)
    step = found.names("optimizer")
    assert {"aten::zeros_like", "aten::_foreach_lerp_.Scalar", "aten::_foreach_addcdiv_.ScalarList"} <= set(step)
    assert "aten::_local_scalar_dense" not in step
    assert found.stages == ("building the model", "tracing", "tracing backward", "tracing the optimizer")


def test_training_and_evaluation_differ(trace: Trace) -> None:
    source = "model = nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.1), nn.BatchNorm1d(4))"
    assert "aten::native_dropout" not in trace(source, "2,8").names()
    assert "aten::native_dropout" in trace(source, "2,8", train=True).names()
    assert trace(source, "2,8").names("backward") == []


def test_frozen_parameters_have_no_step(trace: Trace) -> None:
    found = trace(
        """
        model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4))
        model[0].requires_grad_(False)
        """,
        "2,8",
        train=True,
    )
    assert found.times("aten::mm", "backward") == 1
    assert len(found.only("aten::_foreach_sqrt", "optimizer").inputs) == 2


def test_a_function_with_a_derivative_of_its_own(trace: Trace) -> None:
    found = trace(
        """
        class Swish(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x.sigmoid()  # <-- forward
            @staticmethod
            def backward(ctx, gradient):
                x, = ctx.saved_tensors
                return gradient * torch.special.expit(x).cos()  # <-- backward
        class Gate(nn.Module):
            def forward(self, x):
                return Swish.apply(x)
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 4)
                self.gate = Gate()
            def forward(self, x):
                return self.gate(self.linear(x)).mean()
        model = M()
        """,
        "2,8",
        train=True,
    )
    assert found.only("aten::sigmoid").location.line == found.line("forward")  # type: ignore[union-attr]
    cos = found.only("aten::cos", "backward").location
    assert cos is not None
    assert (cos.line, cos.module) == (found.line("backward"), "gate")


def test_hooks_of_the_users(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
            def forward(self, x):
                y = self.linear(x)
                y.register_hook(lambda gradient: gradient.cos())  # <-- here
                return y
        """,
        "2,8",
        train=True,
    )
    assert found.lines_of("aten::cos", "backward") == {found.line()}


def test_checkpoints_compute_the_forward_again(trace: Trace) -> None:
    for reentrant in (False, True):
        found = trace(
            f"""
            from torch.utils.checkpoint import checkpoint
            class M(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.first = nn.Linear(8, 8)
                    self.second = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 4))
                def forward(self, x):
                    x = self.first(x)
                    return checkpoint(self.second, x, use_reentrant={reentrant})  # <-- here
            """,
            "2,8",
            train=True,
        )
        assert found.times("aten::addmm") == 3
        assert found.times("aten::gelu", "backward") == 1
        assert found.lines_of("aten::addmm", "backward") == {found.line()}
        assert found.lines_of("aten::mm", "backward") >= {found.line()}
        assert all(c.location for c in found.calls if c.name == "aten::mm")


def test_gradients_that_the_model_takes_itself(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 1)
            def forward(self, x):
                with torch.enable_grad():
                    x = x.requires_grad_(True)
                    energy = self.linear(x).sum()
                    return torch.autograd.grad(energy, x, create_graph=True)[0]  # <-- here
        """,
        "4,8",
    )
    assert found.lines_of("aten::mm") == {found.line()}


def test_mixed_precision_in_training(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
            def forward(self, x):
                with torch.autocast("npu", dtype=torch.bfloat16):
                    return F.mse_loss(self.linear(x), x)
        """,
        "2,8",
        train=True,
    )
    assert found.only("aten::mm", "backward").dtypes == ("bfloat16", "bfloat16")
    assert set(found.only("aten::_foreach_sqrt", "optimizer").dtypes) == {"float32"}


def test_gradients_switched_off_by_the_file_are_the_files_own_choice(trace: Trace) -> None:
    found = trace("torch.set_grad_enabled(False)\nmodel = nn.Linear(8, 4)", "2,8", train=True)
    assert found.names("backward") == []
    assert not found.complete
    assert trace("model = nn.Linear(8, 4)", "2,8", train=True).complete  # and ends with its scan


def test_sparse_gradients_have_a_backward_and_no_step(trace: Trace) -> None:
    found = trace("model = nn.Embedding(10, 4, sparse=True)", "2,4:int64", train=True)
    assert "aten::_sparse_coo_tensor_with_dims_and_tensors" in found.names("backward")
    assert not found.complete
    assert "optimizer" in found.inventory.trace.unseen[0]
    assert not found.failed


def test_the_gradient_of_sgn_is_a_tensor_without_memory(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(4))
            def forward(self):
                return self.scale.sgn()
        """,
        train=True,
    )
    assert "aten::_efficientzerotensor" in found.names("backward")


def test_backward_through_a_view_in_place(trace: Trace) -> None:
    """nn.RNN transposes its result in place where the batch comes first."""
    found = trace("model = nn.RNN(4, 8, batch_first=True)", "2,5,4", train=True)
    assert found.complete
    assert "aten::tanh_backward" in found.names("backward")


def test_backward_through_an_affine_grid(trace: Trace) -> None:
    source = "def build_model():\n    return lambda x: F.grid_sample(x, F.affine_grid(x[:, 0, :2, :3], x.shape))"
    source += "\ndef example_inputs():\n    return torch.rand(1, 3, 8, 8, requires_grad=True)"
    found = trace(source, train=True)
    assert found.complete
    assert "aten::grid_sampler_2d_backward" in found.names("backward")


def test_the_backward_of_a_fourier_transform_takes_the_gradient_alone(trace: Trace) -> None:
    source = "def build_model():\n    return lambda x: torch.fft.irfft(torch.fft.rfft(x))"
    source += "\ndef example_inputs():\n    return torch.rand(4, 8, requires_grad=True)"
    found = trace(source, train=True)
    assert found.only("npu::fft_c2r_backward", "backward").dtypes == ("float32",)
    assert found.only("npu::fft_r2c_backward", "backward").dtypes == ("complex64",)
