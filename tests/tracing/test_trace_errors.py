"""What is the user's error, what is a limit of the trace, and what a run leaves behind in the process."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_files import Scanner, Trace

from opscan.errors import LoadError, ModelError
from opscan.tracing.user_error import in_short


def message_of(trace: Trace, source: str, *inputs: str, train: bool = False) -> tuple[str, str]:
    with pytest.raises(ModelError) as raised:
        trace(source, *inputs, train=train)
    return raised.value.message, raised.value.hint


def test_a_shape_the_model_rejects(trace: Trace) -> None:
    message, hint = message_of(
        trace,
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 4)
            def forward(self, x):
                return self.linear(x).relu()
        """,
        "2,7",
    )
    assert message.startswith(
        "model.py:10: running the model failed:\n    return self.linear(x).relu()\n  RuntimeError:"
    )
    assert "float32[2, 7]" in hint
    assert "--input-shape" in hint


def test_an_assertion_of_the_users(trace: Trace) -> None:
    message, _ = message_of(
        trace, "def build_model():\n    return run\ndef run(x):\n    assert x.shape[1] == 7, 'seven'", "2,8"
    )
    assert message == (
        "model.py:7: running the model failed:\n    assert x.shape[1] == 7, 'seven'\n  AssertionError: seven"
    )


def test_token_ids_as_floats(trace: Trace) -> None:
    _, hint = message_of(trace, "model = nn.Embedding(10, 4)", "2,3:float32")  # where it is not said, it is inferred
    assert "int64" in hint


def test_an_error_while_building(trace: Trace) -> None:
    message, _ = message_of(trace, "def build_model():\n    return nn.Linear(8, 4, bias=1 / 0)", "2,8")
    assert message.startswith("model.py:5: building the model failed:\n    return nn.Linear(8, 4, bias=1 / 0)\n")
    assert "ZeroDivisionError: division by zero" in message


def test_an_error_while_importing(trace: Trace) -> None:
    message, hint = message_of(trace, "import a_module_that_nobody_has", "2,8")
    assert message.startswith("model.py:4: importing the file failed:\n    import a_module_that_nobody_has\n")
    assert "a_module_that_nobody_has" in hint


def test_an_error_in_the_backward_pass(trace: Trace) -> None:
    message, _ = message_of(
        trace,
        """
        class Bad(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1
            @staticmethod
            def backward(ctx, gradient):
                raise ValueError("no derivative")
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 4)
            def forward(self, x):
                return Bad.apply(self.linear(x))
        """,
        "2,8",
        train=True,
    )
    assert message.startswith('model.py:11: running the model failed:\n    raise ValueError("no derivative")')


def test_endless_recursion(trace: Trace) -> None:
    message, _ = message_of(
        trace, "class M(nn.Module):\n    def forward(self, x):\n        return self.forward(x + 1)", "1,8"
    )
    assert message.startswith("model.py:6: running the model failed:")
    assert "RecursionError" in message


def test_a_syntax_error(trace: Trace) -> None:
    message, hint = message_of(trace, "class M(nn.Module)\n    pass", "1,8")
    assert message == "model.py:4: expected ':'\n    class M(nn.Module)"
    assert hint


@pytest.mark.parametrize(("call", "code"), [("sys.exit(3)", "3"), ("sys.exit('bye')", "'bye'"), ("exit()", "None")])
def test_a_file_that_ends_the_process_politely(trace: Trace, call: str, code: str) -> None:
    message, hint = message_of(trace, f"import sys\nmodel = nn.Linear(8, 4)\n{call}", "1,8")
    assert message.startswith(f"model.py:6: importing the file failed: sys.exit({code}) ended the process.")
    assert "__main__" in hint


def test_an_error_of_a_sibling_module_names_it(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "broken_sibling.py").write_text("import torch\n\ndef scale(x):\n    return x / [1]\n")
    message, _ = message_of(
        trace, "from broken_sibling import scale\ndef build_model():\n    return lambda x: scale(x)", "1,8"
    )
    assert message.startswith("broken_sibling.py:4: running the model failed:\n    return x / [1]\n")


def test_a_sparse_buffer_has_a_clear_end(trace: Trace) -> None:
    source = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("adjacency", torch.eye(4).to_sparse())
        def forward(self, x):
            return torch.sparse.mm(self.adjacency, x)
    """
    message, hint = message_of(trace, source, "4,4")
    assert "Sparse" in message + hint


def test_loading_errors_pass_through(trace: Trace) -> None:
    with pytest.raises(LoadError, match=r"No model in model\.py"):
        trace("x = 1", "1,8")


def test_an_unknown_kernel_of_torch_npus_own_ends_the_trace(trace: Trace) -> None:
    for call in ("torch_npu.npu_moe_init_routing(x, x)[0]", "torch.ops.npu.npu_moe_init_routing(x, x)[0]"):
        found = trace(
            f"import torch_npu\ndef build_model():\n    return run\ndef run(x):\n    x = x.sin()\n    return {call}",
            "1,8",
        )
        assert found.names() == ["aten::sin"]
        assert "npu_moe_init_routing" in (found.inventory.trace.attempts[0].reason or "")


# --- what a run leaves behind ---------------------------------------------------------------------------------


def test_process_state_is_restored(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    trace(
        f"""
        import os, sys
        os.chdir({str(tmp_path / "elsewhere")!r})
        sys.argv.append("--spoiled")
        torch.set_default_dtype(torch.float16)
        torch.set_grad_enabled(False)
        model = nn.Linear(8, 4)
        """,
        "1,8:float16",
    )
    found = trace(
        """
        import os, sys
        assert os.path.basename(os.getcwd()) != "elsewhere"
        assert sys.argv == [__file__], sys.argv
        model = nn.Linear(8, 4)
        """,
        "1,8",
        train=True,
    )
    assert set(found.only("aten::addmm").dtypes) == {"float32"}
    assert "aten::mm" in found.names("backward")


def test_arguments_are_parsed_as_if_none_were_given(trace: Trace) -> None:
    found = trace(
        """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--width", type=int, default=4)
        arguments = parser.parse_args()
        def build_model():
            return nn.Linear(8, arguments.width)
        """,
        "1,8",
    )
    assert found.only("aten::addmm").outputs[0].shape == (1, 4)


def test_a_second_attempt_imports_everything_anew(scanner: Scanner, tmp_path: Path) -> None:
    """The path behind the first assumption raises, so the file is run again: with tensors of the second run only."""
    (tmp_path / "tables_of_a_sibling.py").write_text("import torch\nTABLE = torch.arange(8.0)\n")
    found = scanner(
        tmp_path,
        """
        import os
        os.chdir("/")
        from tables_of_a_sibling import TABLE
        OWN = torch.ones(8)
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("table", TABLE)
            def forward(self, x):
                x = x + self.table + OWN.to(x.device)
                if (x < 1).all():
                    return x.sin()
                raise RuntimeError("only the other path works")
        """,
        ("2,8",),
    )
    assert found.names()[-1] == "aten::sin"
    assert not found.failed


def test_modules_that_were_there_are_not_imported_again(trace: Trace) -> None:
    trace("import colorsys\ncolorsys.mark = 1\nmodel = nn.Linear(8, 4)", "1,8")
    found = trace("import colorsys\nassert colorsys.mark == 1\nmodel = nn.Linear(8, 4)", "1,8")
    assert found.names() == ["aten::t", "aten::addmm"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("class M(nn.Module):\n    pass", "forward"),
        (
            "class M(nn.Module):\n    def forward(self, x):\n        return self.head(x)\n"
            "    def head(self, x):\n        raise NotImplementedError('a head is missing')",
            "a head is missing",
        ),
    ],
)
def test_what_the_model_left_out_is_the_models_error(trace: Trace, source: str, words: str) -> None:
    message, hint = message_of(trace, source, "2,4")
    assert words in message
    assert hint


def test_a_relative_import_says_how_to_scan_a_package(trace: Trace) -> None:
    with pytest.raises((LoadError, ModelError)) as raised:
        trace("from .layers import Layer\nmodel = nn.Linear(2, 2)", "2,2")
    assert "package.module" in raised.value.hint


def test_an_exception_that_cannot_be_shown(trace: Trace) -> None:
    message, _ = message_of(
        trace,
        """
        class Own(Exception):
            def __str__(self):
                raise RuntimeError("no")
        class M(nn.Module):
            def forward(self, x):
                raise Own
        """,
        "2,7",
    )
    assert "raise Own\n  Own: (its message cannot be read: RuntimeError)" in message


def test_a_message_without_end_is_read_in_part(trace: Trace) -> None:
    """A pattern that looks for objects in it would take minutes: each of its ``<`` might begin one."""
    short = in_short(ValueError("<object" * 100_000))
    assert short == f"ValueError: {('<object' * 100)[:200]}"
    message, _ = message_of(trace, "def build_model():\n    raise ValueError('<object' * 100_000)", "2,7")
    assert len(message) < 1000


def test_what_needs_several_processes_has_a_clear_end(trace: Trace) -> None:
    _, hint = message_of(trace, "model = nn.parallel.DistributedDataParallel(nn.Linear(8, 4))", "2,8")
    assert "before DistributedDataParallel or FSDP wraps it" in hint


def test_a_subclass_that_a_tensor_becomes_is_a_limit_of_the_trace(trace: Trace) -> None:
    inventory = trace(
        """
        class Own(torch.Tensor):
            pass
        class M(nn.Module):
            def forward(self, x):
                return x.relu().as_subclass(Own)
        """,
        "2,7",
    )
    assert [call.name for call in inventory.calls] == ["aten::relu"]
    assert not inventory.complete
    assert "model.py:9" in inventory.inventory.trace.unseen[-1]
