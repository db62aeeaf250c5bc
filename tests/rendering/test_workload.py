from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from opscan.assessment import Assessment, RunInfo
from opscan.rendering.html import render_html
from opscan.rendering.interface import Lang
from opscan.rendering.json import load_assessment, render_json
from opscan.rendering.terminal import print_summary
from opscan.rendering.workload import departures
from opscan.workload import DynamicInput, Optimizer

TRAINED = RunInfo(
    True,
    Optimizer("sgd", (("momentum", "0.9"), ("nesterov", "True")), 1.0),
    "fp16",
    (DynamicInput("x", (0, 2), ((1, 64), None), ("batch", "")), DynamicInput("1", (3,))),
    "export",
)


def _printed(assessment: Assessment, lang: Lang = "en") -> list[str]:
    file = io.StringIO()
    print_summary(assessment, Console(file=file), lang)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("run", [None, RunInfo()])
def test_a_plain_forward_pass_is_not_told(sample: Assessment, run: RunInfo | None) -> None:
    plain = replace(sample, workload=run)
    assert departures(run) == []
    assert not any(line.startswith("Run ") for line in _printed(plain))
    assert 'class="run-line"' not in render_html(plain)


@pytest.mark.parametrize(
    ("lang", "phrases"),
    [
        (
            "en",
            (
                "Run  a training step with sgd (momentum=0.9, nesterov=True)",
                "gradients clipped to the norm 1",
                "autocast to fp16",
                "sizes that vary: x:batch=0=1..64,2; 1:3",
                "tracer asked for: export",
            ),
        ),
        ("zh", ("运行  一个训练步，优化器 sgd (momentum=0.9, nesterov=True)", "梯度范数裁剪到 1", "autocast 到 fp16")),
    ],
)
def test_what_was_run_is_told_below_the_target(sample: Assessment, lang: Lang, phrases: Sequence[str]) -> None:
    trained = replace(sample, workload=TRAINED)
    line = _printed(trained, lang)[2]
    assert line.split(" · ")[: len(phrases)] == list(phrases)
    page = render_html(trained)
    assert all(phrase.partition("  ")[2] or phrase in page for phrase in phrases)


def test_the_json_report_holds_it_and_may_lack_it(sample: Assessment) -> None:
    trained = replace(sample, workload=TRAINED)
    written = render_json(trained)
    assert load_assessment(written.encode()) == trained
    older = json.loads(written)
    del older["workload"]
    assert load_assessment(json.dumps(older).encode()).workload is None


def test_a_damaged_report_is_shown_nonetheless(sample: Assessment) -> None:
    damaged = RunInfo(train=True, dynamic=(DynamicInput("x", (0, 1), ((1, 2),)),))
    assert len(departures(damaged)) == 2
    assert _printed(replace(sample, workload=damaged))
