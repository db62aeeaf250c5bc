"""Values that only data can give take a stated default and a finding; values that follow from shapes are known."""

from __future__ import annotations

import pytest
from traced_files import Trace, Traced


def asks(trace: Trace, statement: str, *inputs: str) -> Traced:
    """A model whose marked line asks for a value of its input."""
    found = trace(
        f"""
        class M(nn.Module):
            def forward(self, x):
                x = x.sin()
                {statement}  # <-- here
                return x.cos()
        """,
        *(inputs or ("4,8",)),
    )
    assert "aten::cos" in found.names(), "the trace goes on"
    assert not found.failed
    return found


@pytest.mark.parametrize(
    ("statement", "operator"),
    [
        ("y = torch.nonzero(x)", "aten::nonzero"),
        ("y = torch.nonzero(x > 0, as_tuple=True)[0]", "aten::nonzero"),
        ("y = torch.where(x > 0)[0]", "aten::nonzero"),
        ("y = torch.argwhere(x)", "aten::nonzero"),
        ("y = torch.masked_select(x, x > 0)", "aten::masked_select"),
        ("y = x[x > 0]", "aten::index.Tensor"),
        ("y = x[:, x[0] > 0]", "aten::index.Tensor"),
        ("y = torch.unique(x)", "aten::_unique2"),
        ("y = torch.unique(x, dim=0)", "aten::unique_dim"),
        ("y = torch.unique_consecutive(x)", "aten::unique_consecutive"),
        ("y = torch.bincount(x[0].long())", "aten::bincount"),
        ("y = x.sum().item()", "aten::_local_scalar_dense"),
        ("y = float(x.mean())", "aten::_local_scalar_dense"),
        ("y = 1 if x.mean() > 0 else 2", "aten::_local_scalar_dense"),
        ("assert x.max() < 100", "aten::_local_scalar_dense"),
        ("y = list(range(int(x.sum())))", "aten::_local_scalar_dense"),
        ("y = x[:, :int(x.argmax())]", "aten::_local_scalar_dense"),
        ("y = x[:, x.argmax().item()]", "aten::_local_scalar_dense"),
        ("y = torch.equal(x, x + 1)", "aten::equal"),
        ("y = x.tolist()", "aten::_to_copy"),
        ("y = x.cpu().numpy().mean()", "aten::_to_copy"),
        ("y = x.numpy(force=True).mean()", "aten::_to_copy"),
        ("y = torch.repeat_interleave(x[0], (x[0] > 0).long())", "aten::repeat_interleave.self_Tensor"),
        ("y = torch.arange(int(x.sum()), device=x.device)", "aten::_local_scalar_dense"),
        ("y = f'{x.mean().item():.3f}'", "aten::_local_scalar_dense"),
        ("y = x.sum() in (1, 2)", "aten::_local_scalar_dense"),
    ],
)
def test_what_depends_on_data(trace: Trace, statement: str, operator: str) -> None:
    found = asks(trace, statement)
    assert not found.complete
    assert any("depend on data" in sentence for sentence in found.inventory.trace.unseen)
    assert found.finding_lines("OPS603") == {found.line()}
    assert operator in found.names()
    assert found.line() in found.lines_of(operator)


def test_the_finding_says_what_was_assumed(trace: Trace) -> None:
    found = asks(trace, "y = x[x > 0]")
    assert [f.facts for f in found.findings()] == [{"what": "how many elements are nonzero", "answer": "16 of 32"}]
    assert found.only("aten::index.Tensor").outputs[0].shape == (16,)


def test_one_finding_a_line_however_often_it_asks(trace: Trace) -> None:
    found = asks(trace, "y = [float(v) for v in x.sum(1)]")
    assert len(found.findings()) == 1
    assert found.times("aten::_local_scalar_dense") == 4


@pytest.mark.parametrize(
    "guard",
    [
        "if not torch.isfinite(x).all(): raise ValueError('bad')",
        "if torch.isnan(x).any(): raise ValueError('bad')",
        "if x.min() < 0: raise ValueError('bad')",
        "assert torch.isfinite(x).all(), 'bad'",
        "if not (x.abs() < 10).all().item(): raise ValueError('bad')",
        "if (x > 5).sum() > 0: raise ValueError('bad')",
        "if x.numel() == 0 or not bool((x < 2).all()): raise ValueError('bad')",
    ],
)
def test_a_guard_does_not_fail_the_scan(trace: Trace, guard: str) -> None:
    assert asks(trace, guard).finding_lines("OPS603")


def test_a_path_that_raises_is_taken_back(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                if (x.abs() < 1e5).all():  # <-- here
                    return x.sin()
                raise RuntimeError("out of range")
        """,
        "4,8",
    )
    assert found.finding_lines("OPS603") == {found.line()}
    assert "aten::sin" in found.names()
    assert not found.failed


def test_two_guards_one_behind_the_other(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                if (x < 1).all():  # <-- first
                    x = x.sin()
                else:
                    raise RuntimeError("one")
                if (x < 2).all():  # <-- second
                    return x.cos()
                raise RuntimeError("two")
        """,
        "4,8",
    )
    assert found.finding_lines("OPS603") == {found.line("first"), found.line("second")}
    assert {"aten::sin", "aten::cos"} <= set(found.names())


def test_a_model_that_always_raises_behind_a_value_is_reported_up_to_there(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                if x.sum() > 0:
                    x = x.sin()
                raise RuntimeError("never mind")  # <-- here
        """,
        "4,8",
    )
    assert found.failed
    assert not found.complete
    reason = found.inventory.trace.attempts[0].reason or ""
    assert f"model.py:{found.line()}" in reason
    assert "never mind" in reason


# --- loops ----------------------------------------------------------------------------------------------------


def test_a_while_loop_runs_once_and_ends(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                while (x > 0).any():  # <-- here
                    x = x - 1
                return x.cos()
        """,
        "4,8",
    )
    assert found.times("aten::sub.Tensor") == 1
    assert found.finding_lines("OPS603") == {found.line()}
    assert "aten::cos" in found.names()


@pytest.mark.parametrize("condition", ["while True:", "while not (x < 0).all():"])
def test_a_loop_with_a_break_ends(trace: Trace, condition: str) -> None:
    found = trace(
        f"""
        class M(nn.Module):
            def forward(self, x):
                {condition}
                    x = x.sin()
                    if (x > 0.5).any():
                        break
                return x.cos()
        """,
        "4,8",
    )
    assert found.names()[-1] == "aten::cos"
    assert not found.complete


def test_non_maximum_suppression_in_python(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, boxes):
                order = boxes[:, 0].argsort(descending=True)
                kept = []
                while order.numel() > 0:
                    best = order[0]
                    kept.append(best)
                    overlap = (boxes[order[1:]] - boxes[best]).sum(-1)
                    order = order[1:][overlap <= 0.5]  # <-- here
                return torch.stack(kept)
        """,
        "16,4",
    )
    assert found.line() in found.finding_lines("OPS603")
    assert "aten::stack" in found.names()
    assert 1 < found.times("aten::le.Scalar") < 16


def test_an_early_exit_is_not_taken(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                    if x.softmax(-1).max() > 0.9:  # <-- here
                        break
                return x
        """,
        "4,8",
    )
    assert found.times("aten::addmm") == 3
    assert found.finding_lines("OPS603") == {found.line()}


def test_greedy_decoding_until_a_token(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding, self.head = nn.Embedding(32, 8), nn.Linear(8, 32)
            def forward(self, ids):
                for _ in range(5):
                    token = self.head(self.embedding(ids))[:, -1].argmax(-1, keepdim=True)
                    ids = torch.cat((ids, token), 1)
                    if token.item() == 2:  # <-- here
                        break
                return ids
        """,
        "1,3:int64",
    )
    assert found.times("aten::cat") == 5
    assert found.finding_lines("OPS603") == {found.line()}


# --- known values ---------------------------------------------------------------------------------------------


def test_values_that_follow_from_shapes_are_known(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                position = torch.arange(x.shape[1], device=x.device)
                width = int(position.max()) + 1
                assert width == 8
                sizes = torch.tensor(x.shape, device=x.device)
                if sizes.prod() == 32:
                    x = x.sin()
                late = (position > 3).nonzero()
                assert late.shape == (4, 1)
                assert position[position % 2 == 0].shape == (4,)
                for step in torch.arange(2, device=x.device):
                    x = x * int(step)
                return x[:, late[:, 0]]
        """,
        "4,8",
    )
    assert found.complete
    assert found.findings() == []
    assert "aten::sin" in found.names()
    assert [c.outputs[0].shape for c in found.calls if c.name == "aten::index.Tensor"] == [(4,), (4, 4)]


def test_repetitions_of_known_and_unknown_counts(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                counts = torch.tensor([1, 2, 0, 1], device=x.device)
                assert torch.repeat_interleave(counts).shape == (4,)
                assert torch.repeat_interleave(x, counts, dim=0).shape == (4, 8)
                assert torch.repeat_interleave(x, torch.tensor([2], device=x.device)).shape == (64,)
                return x.repeat_interleave(x[:, 0].long(), dim=0)  # <-- here
        """,
        "4,8",
    )
    assert found.finding_lines("OPS603") == {found.line()}


def test_a_known_value_is_forgotten_when_data_is_written_to_it(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                table = torch.zeros(8, device=x.device)
                view = table[2:4]
                assert float(table.sum()) == 0
                view.copy_(x[0, :2])
                if table.sum() > 0:  # <-- here
                    return x.sin()
                return x.cos()
        """,
        "4,8",
    )
    assert found.finding_lines("OPS603") == {found.line()}


def test_known_values_through_in_place_operators(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                count = torch.zeros(3, dtype=torch.long, device=x.device)
                count[1] = 5
                count += 1
                count.clamp_(max=4)
                assert count.tolist() == [1, 4, 1]
                return x[:, : int(count.sum())]
        """,
        "4,8",
    )
    assert found.complete
    assert found.only("aten::slice.Tensor").outputs[0].shape == (4, 6)


def test_values_of_the_sample_inputs_take_the_real_path(trace: Trace) -> None:
    source = """
    class M(nn.Module):
        def forward(self, ids, x):
            if ids.max() > 5:  # <-- here
                return x.sin()
            return x.cos()
    def example_inputs():
        return torch.tensor([1, {value}]), torch.ones(3)
    """
    for value, operator in ((9, "aten::sin"), (2, "aten::cos")):
        found = trace(source.replace("{value}", str(value)))
        assert operator in found.names()
        assert found.finding_lines("OPS603") == {found.line()}
        assert "sample input" in found.findings("OPS603")[0].facts["answer"]
        assert not found.complete


def test_random_numbers_are_not_known(trace: Trace) -> None:
    found = asks(trace, "y = 1 if torch.rand(1, device=x.device) > 0.5 else 2")
    assert found.finding_lines("OPS603") == {found.line()}


def test_numpy_of_the_device_is_the_users_error_as_it_is_on_a_device(trace: Trace) -> None:
    from opscan.errors import ModelError

    source = "class M(nn.Module):\n    def forward(self, x):\n        return torch.from_numpy(x.numpy())"
    with pytest.raises(ModelError) as raised:
        trace(source, "4,8")
    assert raised.value.message.splitlines() == [
        "model.py:6: running the model failed:",
        "    return torch.from_numpy(x.numpy())",
        "  TypeError: can't convert npu:0 device type tensor to numpy. Use Tensor.cpu() first.",
    ]


def test_a_numpy_copy_on_the_cpu_goes_on(trace: Trace) -> None:
    found = trace(
        """
        import numpy as np
        class M(nn.Module):
            def forward(self, x):
                order = np.argsort(x.detach().cpu().numpy(), -1)  # <-- here
                back = torch.from_numpy(np.ascontiguousarray(order)).to(x.device)
                return back + torch.tensor(np.asarray(x.cpu()), device=x.device)  # <-- again
        """,
        "4,8",
    )
    assert found.finding_lines("OPS603") == {found.line(), found.line("again")}
    assert found.only("aten::add.Tensor").dtypes == ("int64", "float32")


def test_boxes_that_are_kept_are_assumed_and_not_computed(trace: Trace) -> None:
    found = trace(
        """
        library = torch.library.Library("torchvision", "FRAGMENT")
        if not hasattr(torch.ops.torchvision, "nms"):
            library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

            def nms(dets, scores, iou_threshold):
                raise AssertionError("nobody waits for tens of thousands of boxes")

            library.impl("nms", nms, "CPU")

        class M(nn.Module):
            def forward(self, scores):
                boxes = scores.new_ones(len(scores), 4)
                kept = torch.ops.torchvision.nms(boxes, scores, 0.5)  # <-- here
                return boxes[kept].sin()
        """,
        "4000",
    )
    assert not found.failed
    assert [f.facts for f in found.findings()] == [{"what": "how many elements are nonzero", "answer": "2000 of 4000"}]
    assert found.only("aten::sin").outputs[0].shape == (2000, 4)


def test_a_factory_that_takes_a_shape_from_unknown_values_makes_known_ones(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                x = x.sin()
                classes = torch.cat([torch.full_like(x[0], 3).long(), torch.ones_like(x[0], dtype=torch.int64)])
                assert torch.unique(classes).shape == (2,)
                assert x.new_zeros(3).sum() == 0
                return x.cos()
        """,
        "4,8",
    )
    assert found.complete
    assert not found.findings("OPS603")


def test_what_is_written_to_a_known_tensor_may_be_unknown(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                mask = torch.zeros_like(x, dtype=torch.bool)
                mask[0] = x[0] > 0
                return x[mask].cos()  # <-- here
        """,
        "4,8",
    )
    assert [f.facts["answer"] for f in found.findings("OPS603")] == ["16 of 32"]
