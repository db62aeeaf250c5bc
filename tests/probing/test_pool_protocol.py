"""The pool against workers that follow a script, without torch: what each way to go wrong becomes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from processes import NAME, all_ended, new_mark

from opscan.probing.pool import Options, PoolReport, run_pool
from opscan.probing.protocol import Outcome
from opscan.probing.signature import Signature
from opscan.probing.worker_process import Start

SIGNATURES = [Signature(f"aten::op{number}") for number in range(4)]

QUICK = Options(
    time_limit=5.0, first_extra=0.0, host_limit=5.0, start_limit=5.0, start_attempts=2, start_pause=0.01, losses=2
)

#: What a script may use: ``backend``, ``device`` and the functions below.
PRELUDE = """
import json, os, signal, sys, time
backend, device, parent = sys.argv[2:5]
state = os.environ["STATE"]
versions = {"torch": "2", "torch_npu": "2", "cann": "8", "soc": "chip"}
native = {"status": "native", "versions": versions}
def say(kind, **fields):
    os.write(1, json.dumps({"type": kind, **fields}).encode() + b"\\n")
def hello():
    say("hello", versions=versions, devices=2, pid=os.getpid())
def requests():
    for line in sys.stdin:
        yield json.loads(line)
def before(name):
    path = os.path.join(state, name)
    was = os.path.exists(path)
    open(path, "w").close()
    return was
def done(run, **outcome):
    say("done", ticket=run["ticket"], outcome={**native, **outcome})
def is_op(run, number):
    return run["signature"]["operator"] == f"aten::op{number}"
"""

Ran = tuple[dict[int, Outcome], PoolReport]
Play = Callable[..., Ran]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Run four signatures on workers with this script; no process is left afterwards."""
    mark = new_mark()

    def run(script: str, devices: tuple[int, ...] = (0,), options: Options = QUICK, event: Event | None = None) -> Ran:
        program = tmp_path / "worker"
        program.write_text(f"#!{sys.executable}\n{PRELUDE}\n{textwrap.dedent(script)}")
        program.chmod(0o755)
        (tmp_path / "state").mkdir()
        outcomes: dict[int, Outcome] = {}

        def listen(index: int, outcome: Outcome) -> None:
            assert index not in outcomes
            outcomes[index] = outcome

        before = threading.active_count()  # a worker of other tests may be read by a thread
        start = Start(program, "npu", {NAME: mark, "STATE": str(tmp_path / "state")})
        report = run_pool(start, devices, SIGNATURES, options, listen, event or Event())
        assert sorted(outcomes) == [0, 1, 2, 3]
        assert all_ended(mark)
        assert threading.active_count() <= before
        return outcomes, report

    return run


def statuses(outcomes: dict[int, Outcome]) -> list[str]:
    return [outcomes[index].status for index in range(4)]


def test_all_goes_well(play: Play) -> None:
    outcomes, report = play("hello()\nfor run in requests(): done(run)")
    assert statuses(outcomes) == ["native"] * 4
    assert report.complete
    assert [device.starts for device in report.devices] == [1]


def test_a_reference_that_kills_the_worker_is_left_out_the_second_time(play: Play) -> None:
    outcomes, report = play(
        """
        hello()
        for run in requests():
            say("progress", ticket=run["ticket"], stage="arguments")
            say("progress", ticket=run["ticket"], stage="reference")
            if is_op(run, 1) and run["compare"]:
                os.kill(os.getpid(), signal.SIGSEGV)
            done(run, note="" if run["compare"] else "not compared")
        """
    )
    assert statuses(outcomes) == ["native"] * 4
    assert outcomes[1].note == "not compared"
    assert report.devices[0].starts == 2


def test_what_was_known_when_the_clock_killed_the_worker_is_kept(play: Play) -> None:
    outcomes, _ = play(
        """
        hello()
        for run in requests():
            say("progress", ticket=run["ticket"], stage="device")
            say("progress", ticket=run["ticket"], stage="comparison", so_far=native)
            say("progress", ticket=run["ticket"], stage="timing", so_far={**native, "status": "wrong"})
            if is_op(run, 0):
                print("the last words", file=sys.stderr, flush=True)
                os._exit(4)
            done(run)
        """
    )
    assert statuses(outcomes) == ["wrong", "native", "native", "native"]
    assert outcomes[0].note == "not timed: the worker ended with exit code 4; it printed: the last words"


def test_an_operator_that_dies_before_the_device_says_nothing_of_it(play: Play) -> None:
    outcomes, report = play(
        """
        hello()
        for run in requests():
            say("progress", ticket=run["ticket"], stage="arguments")
            if is_op(run, 2):
                os._exit(1)
            done(run)
        """
    )
    assert statuses(outcomes) == ["native", "native", "not_run", "native"]
    assert "exit code 1" in outcomes[2].message
    assert report.devices[0].starts == 3


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("os.write(1, b'Warning: hello\\n')", "no reply: b'Warning: hello'"),
        ("say('done', ticket=99, outcome=native)", "to nothing that was asked"),
        ("say('done', ticket=run['ticket'], outcome={'status': 'splendid'})", "no reply"),
        ("say('progress', ticket=run['ticket'], stage='device')", "the same stage twice"),
        ("hello()", "to nothing that was asked"),
    ],
)
def test_garbage_costs_one_operator(play: Play, reply: str, says: str) -> None:
    outcomes, report = play(
        f"""
        hello()
        for run in requests():
            say("progress", ticket=run["ticket"], stage="device")
            if is_op(run, 1):
                {reply}
                time.sleep(60)
            done(run)
        """
    )
    assert statuses(outcomes) == ["native", "crashed", "native", "native"]
    assert says in outcomes[1].message
    assert report.complete
    assert report.devices[0].starts == 3  # once more, for it is tried twice


def test_a_crash_once_is_forgiven(play: Play) -> None:
    outcomes, report = play(
        """
        hello()
        for run in requests():
            say("progress", ticket=run["ticket"], stage="device")
            if is_op(run, 3) and not before("crash"):
                os.kill(os.getpid(), signal.SIGABRT)
            done(run)
        """
    )
    assert statuses(outcomes) == ["native"] * 4
    assert report.devices[0].starts == 2


def test_a_request_that_nobody_reads_ends_with_the_clock(play: Play) -> None:
    options = Options(time_limit=0.3, first_extra=0.0, host_limit=0.3, start_limit=5.0)
    outcomes, _ = play("hello()\ntime.sleep(60)", options=options)
    assert statuses(outcomes) == ["not_run"] * 4
    assert "did not answer in time" in outcomes[0].message


def test_a_device_that_is_not_there_is_not_tried_again(play: Play) -> None:
    outcomes, report = play("before(str(os.getpid()))\nsay('unable', reason='no torch_npu here', for_good=True)")
    assert statuses(outcomes) == ["not_run"] * 4
    assert outcomes[0].message == "no device was left: device 0: no torch_npu here"
    assert not report.complete
    assert not report.interrupted


def test_a_worker_that_dies_at_start_is_tried_again(play: Play) -> None:
    outcomes, report = play("if not before('start'): sys.exit('libfake.so')\nhello()\nfor run in requests(): done(run)")
    assert statuses(outcomes) == ["native"] * 4
    assert report.devices[0].given_up == ""


def test_a_device_that_does_not_start_leaves_its_work_to_the_other(play: Play) -> None:
    outcomes, report = play(
        """
        if device == "1":
            sys.exit("libascendcl.so: cannot open")
        hello()
        for run in requests(): done(run)
        """,
        devices=(0, 1),
    )
    assert statuses(outcomes) == ["native"] * 4
    assert report.complete
    assert report.devices[0].given_up == ""
    assert "exit code 1 before it was ready; it printed: libascendcl.so: cannot open" in report.devices[1].given_up


def test_a_device_that_every_operator_loses_is_given_up(play: Play) -> None:
    outcomes, report = play(
        """
        hello()
        for run in requests():
            outcome = {"status": "refused", "message": "error code is 507010", "versions": versions}
            say("done", ticket=run["ticket"], outcome=outcome, healthy=False)
        """
    )
    assert report.devices[0].given_up.startswith("it was lost by each of aten::op0, aten::op1; the last said: ")
    assert statuses(outcomes) == ["not_run"] * 4  # a loss is tried twice, and none was
    assert not report.complete


def test_a_device_whose_process_cannot_be_killed_is_given_up(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = iter([subprocess.TimeoutExpired("worker", 10)])
    wait = subprocess.Popen.wait

    def lingering(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        for error in waits:
            raise error
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", lingering)
    options = Options(time_limit=0.3, first_extra=0.0, start_limit=5.0)
    outcomes, report = play(
        """
        hello()
        for run in requests():
            say("progress", ticket=run["ticket"], stage="device")
            time.sleep(60)
        """,
        options=options,
    )
    assert statuses(outcomes) == ["timeout", "not_run", "not_run", "not_run"]
    assert report.devices[0].given_up == "its process was killed and does not end: the driver seems to hang"
    assert report.devices[0].starts == 1


def test_what_ran_out_of_memory_is_tried_alone_in_a_process_of_its_own(play: Play) -> None:
    outcomes, report = play(
        """
        hello()
        for number, run in enumerate(requests()):
            if is_op(run, 1) and number or is_op(run, 2):
                done(run, status="refused", message="NPU out of memory. Tried to allocate 9 GiB")
            else:
                done(run)
        """
    )
    assert statuses(outcomes) == ["native", "native", "out_of_memory", "native"]
    assert report.devices[0].starts == 2
    assert report.complete


def test_a_warning_of_a_fallback_names_the_overload(play: Play) -> None:
    outcomes, _ = play(
        """
        hello()
        for run in requests():
            if is_op(run, 0):
                caution = "The operator 'aten::op0.out' is not currently supported on the NPU backend"
                print("CAUTION:", caution, file=sys.stderr, flush=True)
            done(run)
        """
    )
    assert statuses(outcomes) == ["fallback", "native", "native", "native"]
    assert outcomes[0].operators == ("aten::op0.out",)


def test_an_interrupt_keeps_what_was_observed(play: Play, tmp_path: Path) -> None:
    event = Event()
    reached = tmp_path / "state" / "waiting"

    def interrupt() -> None:
        while not reached.exists():
            event.wait(0.02)
        event.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        outcomes, report = play(
            """
            hello()
            for run in requests():
                if is_op(run, 2):
                    before("waiting")
                    time.sleep(60)
                done(run)
            """,
            event=event,
        )
    finally:
        event.set()
        thread.join()
    assert statuses(outcomes) == ["native", "native", "not_run", "not_run"]
    assert outcomes[2].message == "the probe was interrupted before its turn"
    assert report.interrupted
    assert not report.complete


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    outcomes: dict[int, Outcome] = {}
    start = Start(tmp_path / "python", "npu", {})
    report = run_pool(start, (0,), SIGNATURES[:1], QUICK, outcomes.__setitem__, Event())
    assert report.devices[0].given_up == f"{tmp_path / 'python'}: {os.strerror(2)}"
    assert outcomes[0].status == "not_run"
