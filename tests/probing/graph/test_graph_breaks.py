"""What dynamo says of a graph break, in the words of a finding."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import pytest
import torch

from opscan.probing.graph.breaks import GraphBreak, GraphBreaks, own_words
from opscan.tracing.source import SourceLocator

#: As torch 2.13 writes it.
BRANCH = """Graph break in user code at {root}/model.py:7
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if x > 0:`). Dynamo does not support it.
  Hint: Use `torch.cond` to express dynamic control flow.

User code traceback:
  File "{root}/run.py", line 32, in <module>
    model(x)
  File "{torch}/nn/modules/module.py", line 1778, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "{root}/model.py", line 22, in forward
    x = self.inner(x)
  File "{root}/model.py", line 7, in inner
    if x > 0:

Traceback (most recent call last):
  File "{torch}/_dynamo/symbolic_convert.py", line 1093, in wrapper
    return inner_fn(self, inst)
torch._dynamo.exc.Unsupported: Data-dependent branching
"""
SKIPPED = """Graph break in user code at {root}/model.py:9
Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and falling back to eager. Graph break encountered:

Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print`

User code traceback:
  File "{root}/model.py", line 9, in forward
    print(x)
"""  # noqa: E501


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    return {"root": str(tmp_path), "torch": str(Path(torch.__file__).parent)}


def told(folders: dict[str, str], *texts: str) -> list[GraphBreak]:
    breaks = GraphBreaks(SourceLocator(Path(folders["root"]), folders["torch"]))
    with breaks.following():
        for text in texts:
            torch._logging.trace_structured(
                "artifact",
                metadata_fn=lambda: {"name": "dynamo_graph_break_reason", "encoding": "string"},
                payload_fn=lambda text=text: text.format(**folders),
            )
            torch._logging.trace_structured("artifact", metadata_fn=lambda: {"name": "other"}, payload_fn=lambda: "")
    return list(breaks)


def test_the_innermost_line_of_the_user_s_and_the_reason(folders: dict[str, str]) -> None:
    reason = "Data-dependent branching: Detected data-dependent branching (e.g. `if x > 0:`)"
    assert told(folders, BRANCH) == [GraphBreak(reason, ("model.py", 7))]


def test_a_function_that_runs_in_eager_mode_as_a_whole(folders: dict[str, str]) -> None:
    reason = "Failed to trace builtin operator: Dynamo does not know how to trace builtin operator `print`"
    assert told(folders, SKIPPED) == [GraphBreak(reason, ("model.py", 9), whole=True)]


def test_a_line_is_told_once(folders: dict[str, str]) -> None:
    assert [found.place for found in told(folders, BRANCH, SKIPPED, BRANCH)] == [("model.py", 7), ("model.py", 9)]


def test_without_a_break_there_are_none(folders: dict[str, str]) -> None:
    assert not GraphBreaks(SourceLocator(Path(folders["root"]), folders["torch"]))


def test_nothing_is_followed_afterwards(folders: dict[str, str]) -> None:
    before = torch._logging.trace_structured
    told(folders, BRANCH)
    assert torch._logging.trace_structured is before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: "
            "call_function <f>(*(FakeTensor(...),), **{}): got RuntimeError('only contiguous.\\n[ERROR] 2026 ERR')",
            "RuntimeError: only contiguous",
        ),
        ("Failed running call_function <f>(*(FakeTensor(...),), **{}):\nshapes differ.", "ValueError: shapes differ"),
        ("plainly wrong\nmore", "ValueError: plainly wrong"),
        ("", "ValueError"),
    ],
)
def test_what_made_dynamo_raise(text: str, said: str) -> None:
    assert own_words(ValueError(text)) == said


def warned(folders: dict[str, str]) -> list[str]:
    """What of dynamo's own and of the model's is left, where dynamo warns in both ways."""
    breaks = GraphBreaks(SourceLocator(Path(folders["root"]), folders["torch"]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with breaks.following():
            warnings.warn_explicit("of the model", UserWarning, "model.py", 1, module="model")
            warnings.warn_explicit("of dynamo", UserWarning, "x.py", 1, module="torch._dynamo.variables.functions")
            is_logged = logging.getLogger("torch._dynamo.convert_frame").isEnabledFor(logging.WARNING)
    return [*(str(each.message) for each in caught), *(["its log"] if is_logged else [])]


def test_what_dynamo_says_itself_is_not_for_the_user(folders: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    level = logging.getLogger("torch._dynamo").level
    monkeypatch.delenv("OPSCAN_DEBUG", raising=False)
    assert warned(folders) == ["of the model"]
    assert logging.getLogger("torch._dynamo").level == level
    monkeypatch.setenv("OPSCAN_DEBUG", "1")
    assert warned(folders)[:2] == ["of the model", "of dynamo"]
