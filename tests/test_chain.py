"""The chain: which tracer is asked next, which inventory is kept, and what is told of the others."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from opscan.chain import (
    FALLBACK_LIMIT,
    Checks,
    Followed,
    Link,
    Plan,
    ask_all,
    check,
    ended_early,
    follow,
    plan,
)
from opscan.engine import Chosen
from opscan.errors import CaptureError, LoadError, ModelError, OpscanError, UsageError
from opscan.inventory import Attempt, Inventory, OpCall, TensorSpec, Trace
from opscan.target import Target
from opscan.worker.host import Engine, WorkerDied
from opscan.worker.protocol import Scanned

EAGER = Target("2.13.0", "9.1.0", "ascend910b")
REHEARSE = Engine("rehearse", "/env/bin/python")
CHAIN = Plan((Link(Engine()), *(Link(Engine(tracer=name), FALLBACK_LIMIT) for name in ("export", "jit", "fx"))))


def quiet(stage: str) -> None:
    pass


def seen(tracer: str, *names: str, ended: str = "", complete: bool = True, **trace: Any) -> Inventory:
    """What a tracer saw; ``ended`` says why it did not reach the model's end."""
    spec = (TensorSpec("float32", (2,)),)
    calls = tuple(OpCall(name, "forward", spec, spec) for name in names)
    attempt = Attempt(tracer, not ended, ended or None)
    own: dict[str, Any] = {"engine": "virtual", **trace}
    how = Trace(tracer, host_torch="2.13.0", approximate=False, complete=complete and not ended, **own)
    return Inventory("model.py", 0, replace(how, attempts=(attempt,)), calls)


class FakeWorker:
    """Stands for a child; ``running`` are those that have not ended."""

    running: list[FakeWorker]

    def __init__(self, engine: Engine | None = None) -> None:
        self.engine = engine or Engine()

    def __enter__(self) -> FakeWorker:
        self.running.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        self.running.remove(self)

    def check(self, request: object) -> str:
        return f"checked by {self.engine.tracer}"


@pytest.fixture(autouse=True)
def workers(monkeypatch: pytest.MonkeyPatch) -> list[FakeWorker]:
    monkeypatch.setattr("opscan.chain.Worker", FakeWorker)
    FakeWorker.running = []
    return FakeWorker.running


Answers = Mapping[str, Inventory | OpscanError]


def asking(answers: Answers, asked: list[str] | None = None) -> Callable[..., Scanned]:
    def ask(worker: Any, progress: Callable[[str], None], time_limit: float | None) -> Scanned:
        name = "rehearse" if worker.engine.name == "rehearse" else worker.engine.tracer
        if asked is not None:
            asked.append(name)
        progress("tracing")
        answer = answers[name]
        if isinstance(answer, OpscanError):
            raise answer
        return Scanned(answer)

    return ask


def followed(answers: Answers, links: Plan = CHAIN) -> tuple[Followed, list[str]]:
    asked: list[str] = []
    with ExitStack() as stack:
        return follow(links, asking(answers, asked), quiet, stack), asked


def told(result: Followed) -> list[tuple[str, bool, str | None]]:
    return [(each.tracer, each.ok, each.reason) for each in result.scanned.inventory.trace.attempts]


# --- which tracer is next -------------------------------------------------------------------------------------


def test_a_tracer_that_reaches_the_end_is_the_only_one() -> None:
    result, asked = followed({"dispatch": seen("dispatch", "aten::add")})
    assert asked == ["dispatch"]
    assert told(result) == [("dispatch", True, None)]


def test_an_assumed_value_is_no_reason_for_another_tracer() -> None:
    result, asked = followed({"dispatch": seen("dispatch", "aten::add", complete=False)})
    assert asked == ["dispatch"]
    assert not result.scanned.inventory.trace.complete


def test_where_one_ends_early_the_next_goes_on() -> None:
    answers = {
        "dispatch": seen("dispatch", "aten::add", ended="The trace ended at model.py:12: no shape function."),
        "export": seen("export", "aten::add", "aten::mul"),
    }
    result, asked = followed(answers)
    assert asked == ["dispatch", "export"]
    assert result.scanned.inventory.trace.tracer == "export"
    assert told(result) == [
        ("dispatch", False, "The trace ended at model.py:12: no shape function."),
        ("export", True, None),
    ]


def test_a_crash_and_a_time_limit_leave_the_next_alone() -> None:
    answers = {
        "dispatch": WorkerDied("was killed by SIGSEGV", signal=signal.SIGSEGV),
        "export": WorkerDied("It did not end within 300 seconds.", signal=signal.SIGKILL, timed_out=True),
        "jit": CaptureError("cannot follow\n  x.sum()"),
        "fx": seen("fx", "aten::add"),
    }
    result, asked = followed(answers)
    assert asked == ["dispatch", "export", "jit", "fx"]
    assert told(result) == [
        ("dispatch", False, "was killed by SIGSEGV"),
        ("export", False, "It did not end within 300 seconds."),
        ("jit", False, "cannot follow x.sum()"),
        ("fx", True, None),
    ]


@pytest.mark.parametrize(
    "error",
    [
        ModelError("model.py:3: division by zero"),
        LoadError("no such file"),
        WorkerDied("ended with exit code 0"),
        WorkerDied("was killed by SIGKILL", signal=signal.SIGKILL),
    ],
)
def test_what_is_the_models_own_ends_the_scan_at_once(error: OpscanError) -> None:
    with pytest.raises(type(error)) as raised:
        followed({"dispatch": error})
    assert raised.value is error


def test_an_error_of_the_model_under_another_tracer_is_one_attempt() -> None:
    answers = {
        "dispatch": seen("dispatch", "aten::add", ended="a limit"),
        "export": ModelError("model.py:3: a proxy has no length"),
        "jit": LoadError("not with this tracer"),
        "fx": CaptureError("control flow"),
    }
    result, _ = followed(answers)
    assert [tracer for tracer, _, _ in told(result)] == ["export", "jit", "fx", "dispatch"]
    assert ended_early(result.scanned.inventory)


def test_no_tracer_computes_what_a_cuda_extension_returns() -> None:
    at_extension = "The trace ended at model.py:11: CudaExtensionError: flash_attn.f is a CUDA extension."
    result, asked = followed({"dispatch": seen("dispatch", "aten::add", ended=at_extension)})
    assert asked == ["dispatch"]
    assert told(result) == [("dispatch", False, at_extension)]


# --- which inventory is kept ----------------------------------------------------------------------------------


def test_of_two_incomplete_ones_that_with_more_operators_is_kept_and_shown_as_it_is() -> None:
    answers = {
        "dispatch": seen("dispatch", "aten::a", "aten::b", "aten::c", ended="a limit"),
        "export": seen("export", "aten::a", complete=False),
        "jit": CaptureError("no"),
        "fx": seen("fx", "aten::a", "aten::b", complete=False),
    }
    result, asked = followed(answers)
    assert asked == ["dispatch", "export", "jit", "fx"]
    assert result.scanned.inventory.trace.tracer == "dispatch"
    assert told(result) == [
        ("export", True, "It saw 1 distinct operators; dispatch saw 3."),
        ("jit", False, "no"),
        ("fx", True, "It saw 2 distinct operators; dispatch saw 3."),
        ("dispatch", False, "a limit"),
    ]


def test_a_complete_inventory_beats_a_longer_incomplete_one() -> None:
    answers = {
        "dispatch": seen("dispatch", "aten::a", "aten::b", ended="a limit"),
        "export": seen("export", "aten::a"),
    }
    assert followed(answers)[0].scanned.inventory.trace.tracer == "export"


def test_where_none_has_an_inventory_the_first_error_tells_of_all() -> None:
    answers = {
        "dispatch": WorkerDied("It was killed by SIGSEGV.", "Look above.", signal.SIGSEGV),
        "export": CaptureError("export: no"),
        "jit": CaptureError("jit: no"),
        "fx": CaptureError("fx: no"),
    }
    with pytest.raises(OpscanError) as raised:
        followed(answers)
    assert raised.value.message.splitlines()[0] == "It was killed by SIGSEGV."
    assert "jit: no" in raised.value.message
    assert raised.value.hint == "Look above."


def test_a_tracer_that_was_asked_for_fails_with_its_own_error() -> None:
    with pytest.raises(CaptureError, match="control flow"):
        followed({"fx": CaptureError("control flow")}, Plan((Link(Engine(tracer="fx")),)))


# --- rehearsals -----------------------------------------------------------------------------------------------


def rehearsal(**trace: Any) -> Inventory:
    return seen("dispatch", "aten::add", ended="The rehearsal ended.", engine="rehearse", **trace)


def test_what_torch_npu_refuses_is_not_hidden_by_another_tracer() -> None:
    links = Plan((Link(REHEARSE), *CHAIN.links))
    result, asked = followed({"rehearse": rehearsal(values="computed")}, links)
    assert asked == ["rehearse"]
    assert ended_early(result.scanned.inventory)


def test_a_rehearsal_without_all_values_gives_way() -> None:
    links = Plan((Link(REHEARSE), *CHAIN.links))
    answers = {"rehearse": rehearsal(values="partly"), "dispatch": seen("dispatch", "aten::add")}
    result, asked = followed(answers, links)
    assert asked == ["rehearse", "dispatch"]
    assert result.scanned.inventory.trace.engine == "virtual"


def test_a_rehearsal_whose_process_ends_gives_way() -> None:
    links = Plan((Link(REHEARSE), *CHAIN.links), (Attempt("dispatch", False, "rehearse: before"),))
    answers = {"rehearse": WorkerDied("ended"), "dispatch": seen("dispatch", "aten::add")}
    assert told(followed(answers, links)[0]) == [
        ("dispatch", False, "rehearse: before"),
        ("dispatch", False, "rehearse: ended"),
        ("dispatch", True, None),
    ]


# --- plans ----------------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opscan.chain.choose", lambda engine, target, progress: Chosen(Engine()))


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opscan.chain.choose", lambda engine, target, progress: Chosen(REHEARSE))


def names(of: Plan) -> list[str]:
    return [link.name for link in of.links]


def test_auto_starts_with_dispatch_and_limits_the_time_of_others(nothing_at_hand: None) -> None:
    links = plan("auto", "auto", EAGER, quiet)
    assert names(links) == ["dispatch", "export", "jit", "fx"]
    assert [link.time_limit for link in links.links] == [None, *[FALLBACK_LIMIT] * 3]


def test_a_named_tracer_is_the_only_one(nothing_at_hand: None) -> None:
    assert names(plan("fx", "auto", EAGER, quiet)) == ["fx"]
    assert names(plan("dispatch", "auto", EAGER, quiet)) == ["dispatch"]


def test_the_real_adapter_comes_first_where_it_is_at_hand(environment: None) -> None:
    assert names(plan("auto", "auto", EAGER, quiet)) == ["rehearse", "dispatch", "export", "jit", "fx"]
    assert names(plan("auto", "rehearse", EAGER, quiet)) == ["rehearse"]


@pytest.mark.parametrize(
    ("tracer", "route", "engine", "words"),
    [
        ("fx", "graph", "auto", "--route graph"),
        ("jit", "offline", "auto", "--route offline"),
        ("onnx", "eager", "auto", "offline route"),
        ("export", "eager", "rehearse", "rehearsal"),
    ],
)
def test_what_does_not_go_together_is_said(tracer: Any, route: Any, engine: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        check(tracer, route, engine)
    assert raised.value.hint


def test_a_cross_check_is_of_eager_mode() -> None:
    check("auto", "eager", "auto", cross_check=True)
    with pytest.raises(UsageError, match="one tracer"):
        check("auto", "offline", "auto", cross_check=True)


# --- workers --------------------------------------------------------------------------------------------------


def test_the_worker_of_the_inventory_runs_on_and_the_others_have_ended(workers: list[FakeWorker]) -> None:
    answers = {"dispatch": seen("dispatch", ended="a limit"), "export": seen("export", "aten::add")}
    with ExitStack() as stack:
        result = follow(CHAIN, asking(answers), quiet, stack)
        assert workers == [result.worker]
    assert workers == []


def test_replacements_are_not_checked_by_a_tracer_that_captures(workers: list[FakeWorker]) -> None:
    request: Any = None
    captures: Any = FakeWorker(Engine(tracer="fx"))
    runs: Any = FakeWorker(Engine())
    with Checks(runs) as checks:
        assert checks.check(request) == "checked by dispatch"
        assert workers == []
    with Checks(captures) as checks:
        assert workers == []
        assert checks.check(request) == checks.check(request) == "checked by dispatch"
        assert len(workers) == 1
    assert workers == []


def test_progress_names_a_tracer_that_is_not_the_usual_one() -> None:
    stages: list[str] = []
    answers = {"dispatch": seen("dispatch", ended="a limit"), "export": seen("export", "aten::add")}
    with ExitStack() as stack:
        follow(CHAIN, asking(answers), stages.append, stack)
    assert stages == ["starting torch", "tracing", "export: starting torch", "export: tracing"]


def test_a_cross_check_asks_those_that_were_not_asked(environment: None) -> None:
    answers: Answers = {
        "rehearse": rehearsal(values="computed"),
        "dispatch": seen("dispatch", "aten::add"),
        "export": CaptureError("no"),
        "jit": seen("jit", "aten::add"),
        "fx": seen("fx", "aten::add"),
    }
    result, _ = followed(answers, Plan((Link(Engine()),)))
    asked: list[str] = []
    outcomes = ask_all(result, "auto", EAGER, asking(answers, asked), quiet)
    assert asked == ["rehearse", "export", "jit", "fx"]
    assert [outcome.link.name for outcome in outcomes] == ["rehearse", "dispatch", "export", "jit", "fx"]
    assert [outcome.error is None for outcome in outcomes] == [True, True, False, True, True]
