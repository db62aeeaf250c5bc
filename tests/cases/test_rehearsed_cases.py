"""The same cases on the real torch_npu 2.13.0 over the simulated runtime: they come out as stated there too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from test_cases import EAGER_ON_A2, OTHER_TARGETS, TRACING, Case, as_stated, find, scan

from opscan.probing.environment import RehearsalEnvironment
from opscan.probing.simulator.build import environment_variables
from opscan.worker.host import Engine, Worker

#: What a run with values makes of a case. ``a01_nms``: nothing is made up, not even how many boxes are kept.
DIFFERENT = {"a01_nms": replace(EAGER_ON_A2[1], findings=(("OPS602", 5),), complete=True)}

#: A window of whole numbers makes the run end: it has a test of its own.
APART = {"a12"}


def rehearsed() -> list[Case]:
    """One worker serves one chip and CANN: cases of one come together."""
    chosen = [c for c in (*EAGER_ON_A2, *OTHER_TARGETS, *TRACING) if c.torch_npu == "2.13.0" and c.model not in APART]
    return sorted((DIFFERENT.get(c.model, c) for c in chosen), key=lambda c: (c.soc, c.cann))


class Workers:
    """A worker for the chip and CANN that are asked for; the one before has ended."""

    def __init__(self, environment: RehearsalEnvironment, runtime: Path) -> None:
        self._interpreter = str(environment.interpreter)
        self._runtime = runtime
        self._now: tuple[str, str] | None = None
        self._worker: Worker | None = None

    def of(self, case: Case) -> Worker:
        if self._worker is None or self._now != (case.soc, case.cann):
            self.close()
            self._now = (case.soc, case.cann)
            variables = environment_variables(self._runtime, *self._now)
            self._worker = Worker(Engine("rehearse", self._interpreter, variables)).__enter__()
        return self._worker

    def close(self) -> None:
        if self._worker is not None:
            self._worker.__exit__(None, None, None)
            self._worker = None


@pytest.fixture(scope="module")
def workers(rehearsal_environment: RehearsalEnvironment, simulated_runtime: Path) -> Iterator[Workers]:
    made = Workers(rehearsal_environment, simulated_runtime)
    yield made
    made.close()


@pytest.mark.parametrize("case", rehearsed(), ids=str)
def test_case(case: Case, workers: Workers) -> None:
    result = scan(workers.of(case), case)
    assert result.trace.engine == "rehearse"
    assert result.trace.values != "none"
    as_stated(result, case)


def test_a_window_that_the_adapter_makes_of_whole_numbers(workers: Workers) -> None:
    case = next(c for c in OTHER_TARGETS if c.model == "a12")
    result = scan(workers.of(case), case)
    assert find(result, "aten::hann_window", "int64", "forward")
    assert [f.facts["operator"] for f in result.findings if f.rule == "OPS608"] == ["aten::hann_window"]
    assert not result.trace.complete
    assert "istft" in result.trace.unseen[0]
