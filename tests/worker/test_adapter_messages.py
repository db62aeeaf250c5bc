"""What a rehearsal's process prints: warnings of the adapter are left out, the rest is passed on."""

from __future__ import annotations

import io

import pytest

from opscan.worker.adapter_messages import AdapterMessages

FALLBACK = (
    b"[W1130 18:50:56.840000000 VariableFallbackKernel.cpp:335] Warning: CAUTION: The operator 'aten::lgamma.out' is "
    b"not currently supported on the NPU backend and will fall back to run on the CPU. (function operator())\n"
)


def passed_on(text: bytes, capfd: pytest.CaptureFixture[str]) -> str:
    AdapterMessages(io.BytesIO(text)).finish()
    return capfd.readouterr().err


def test_that_an_operator_is_left_to_the_cpu_is_told_by_the_result(capfd):
    assert passed_on(FALLBACK * 2, capfd) == ""


def test_other_warnings_of_the_adapter_are_not_for_the_user(capfd):
    text = b"[W1130 18:50:56.84 compiler_depend.ts:659] Warning: x\n[W1130 1:2:3.4 Some_File.cpp:12] Warning: y\n"
    err = passed_on(text + b"Warning: ASCEND_HOME_PATH environment variable is not set.\n", capfd)
    assert err == ""


def test_what_the_model_prints_is(capfd):
    err = passed_on("Warning: mine\n模型\n  indented\nno line break".encode(), capfd)
    assert err == "Warning: mine\n模型\n  indented\nno line break"
