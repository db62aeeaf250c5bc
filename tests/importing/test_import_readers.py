"""What each kind of file says, and that nothing else of it comes out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from logs import ATC, KERNEL_DETAILS, OP_STATISTIC, OP_SUMMARY, PLOG, SECRETS, TORCH_NPU

from opscan.errors import UsageError
from opscan.importing import vocabulary
from opscan.importing.observations import Imported, Observation
from opscan.importing.reading import import_files
from opscan.matrix.errors_file import ErrorCodes

CODES = ErrorCodes.load()


def read(tmp_path: Path, *texts: str | bytes) -> Imported:
    paths = []
    for number, text in enumerate(texts):
        path = tmp_path / f"alice-{number}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        paths.append(path)
    return import_files(paths, CODES, lambda stage: None)


def found(imported: Imported) -> list[tuple[str, str, str, int]]:
    return [(each.kind, each.operator, each.kernel, each.count) for each in imported.observations]


def only(imported: Imported, operator: str) -> Observation:
    (observation,) = [each for each in imported.observations if each.operator == operator]
    return observation


def test_a_run_with_torch_npu(tmp_path: Path) -> None:
    imported = read(tmp_path, TORCH_NPU)
    assert found(imported) == [
        ("refused", "", "aclnnMm", 1),
        ("fallback", "aten::linalg_eig", "", 1),
        ("fallback", "aten::special_entr.out", "", 1),
        ("ai_cpu", "ArgSort", "", 1),
    ]
    refused = imported.observations[0]
    assert (refused.code, refused.dtypes) == ("161002", ("float64",))
    # Numbers of steps and samples are no codes.
    assert {seen.code for seen in imported.codes} == {"161002", "ERR00100", "EZ1001"}
    assert "torch_npu" in imported.files[0].kinds


def test_a_message_without_a_fallback_is_a_refusal(tmp_path: Path) -> None:
    imported = read(
        tmp_path, "NotImplementedError: CAUTION: The operator 'aten::mm' is not currently supported on the NPU backend."
    )
    assert found(imported) == [("no_kernel", "aten::mm", "", 1)]


def test_a_log_of_atc(tmp_path: Path) -> None:
    imported = read(tmp_path, ATC)
    assert found(imported) == [
        ("no_parser", "ai.onnx::GridSample", "", 1),
        ("no_kernel", "Conv3DTranspose", "", 1),
        ("no_kernel", "TransData", "", 1),
    ]
    assert [each.code for each in imported.observations] == ["E19010", "EZ3003", "EZ3002"]
    assert imported.files[0].kinds[0] == "atc"


def test_a_log_of_cann(tmp_path: Path) -> None:
    imported = read(tmp_path, PLOG)
    assert found(imported) == [("no_kernel", "Pack", "", 1)]
    # What is said below the level of a warning is no error.
    assert [seen.code for seen in imported.codes] == ["507018"]
    assert imported.files[0].kinds == ("cann",)


def test_a_profile_by_task(tmp_path: Path) -> None:
    imported = read(tmp_path, OP_SUMMARY)
    assert found(imported) == [
        ("ai_cpu", "Cumsum", "aclnnCumsum", 2),
        ("ran", "Conv2D", "", 1),
        ("ran", "Cast", "aclnnCumsum", 1),
        ("ran", "", "aclnnAdd", 1),
    ]
    cumsum = only(imported, "Cumsum")
    assert cumsum.microseconds == 41.0
    assert cumsum.dtypes == ("int64", "int64")
    assert cumsum.shapes == ((2, 3), ())
    assert only(imported, "Conv2D").shapes == ((1, 3, 8, 8), (4, 3, 3, 3))
    assert only(imported, "Conv2D").dtypes == ("float16", "float16")
    assert imported.observations[3].unit == "AI_CORE"
    assert imported.files[0].kinds == ("op_summary",)
    assert imported.files[0].damaged == 1


def test_tables_of_other_names(tmp_path: Path) -> None:
    imported = read(tmp_path, KERNEL_DETAILS, OP_STATISTIC)
    assert found(imported) == [
        ("ai_cpu", "Bincount", "", 5),
        ("ran", "MatMulV2", "", 10),
        ("ran", "MatMulV2", "aclnnMm", 1),
        ("ran", "my_triton_kernel", "", 1),
    ]
    assert imported.observations[0].microseconds == 150
    assert [each.files for each in imported.observations] == [(2,), (2,), (1,), (1,)]


def test_several_programs_in_one_file(tmp_path: Path) -> None:
    imported = read(tmp_path, ATC + TORCH_NPU + PLOG)
    assert {each.kind for each in imported.observations} == {"no_parser", "no_kernel", "refused", "fallback", "ai_cpu"}
    assert set(imported.files[0].kinds) == {"atc", "torch_npu", "cann"}


def test_no_secret_comes_out(tmp_path: Path) -> None:
    imported = read(tmp_path, ATC, TORCH_NPU, PLOG, OP_SUMMARY, KERNEL_DETAILS, OP_STATISTIC)
    written = msgspec.json.encode(imported).decode()
    assert [secret for secret in SECRETS if secret in written] == []


@pytest.mark.parametrize(
    "text",
    [
        "/home/alice/x", "alice@host", "10.1.2.3", "https://x.y", "C:\\Users\\alice", "sk-4f9d-77", "eyJhbGciOi.J9.x",
        "aten::x y", "a::b::c", "x" * 200, "aten::é",
    ],
)  # fmt: skip
def test_only_words_of_the_trade_pass(text: str) -> None:
    for let_through in (
        vocabulary.operator, vocabulary.onnx_operator, vocabulary.engine_type, vocabulary.task_type, vocabulary.kernel,
        vocabulary.unit, vocabulary.dtype, vocabulary.dtypes, vocabulary.shapes,
    ):  # fmt: skip
        assert not let_through(text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_any_encoding(tmp_path: Path, encoding: str) -> None:
    imported = read(tmp_path, TORCH_NPU.encode(encoding), OP_SUMMARY.encode(encoding))
    assert only(imported, "aten::linalg_eig").count == 1
    assert only(imported, "Cumsum").count == 2


def test_garbage_around_messages(tmp_path: Path) -> None:
    junk = bytes(range(256)) * 400
    coloured = TORCH_NPU.replace("CAUTION", "\x1b[33mCAUTION\x1b[0m").replace("'aten", "\x00'aten")
    imported = read(tmp_path, junk + b"\n" + coloured.replace("\n", "\r").encode() + junk)
    assert only(imported, "aten::linalg_eig").count == 1


def test_a_line_without_an_end(tmp_path: Path) -> None:
    message = TORCH_NPU.splitlines()[1]
    imported = read(tmp_path, "progress " * 100_000 + message + " progress" * 100_000)
    assert only(imported, "aten::linalg_eig").count == 1


def test_damaged_tables(tmp_path: Path) -> None:
    header, row, *_ = OP_SUMMARY.splitlines()
    rows = [row, row.replace("30.5", "nan"), row.replace("30.5", "-1"), row[:40], f'0,1,"{"x" * 200_000}', '"unclosed']
    imported = read(tmp_path, "\n".join([header, *rows]))
    assert only(imported, "Cumsum").microseconds == 30.5
    assert imported.files[0].damaged >= 1


def test_a_file_without_any_message(tmp_path: Path) -> None:
    imported = read(tmp_path, "hello\nworld", "")
    assert [file.kinds for file in imported.files] == [("text",), ("text",)]
    assert imported.observations == ()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot read"):
        import_files([tmp_path / "none"], CODES, lambda stage: None)


def test_observations_beyond_a_number_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opscan.importing.collector._MOST", 1)
    imported = read(tmp_path, OP_STATISTIC)
    assert len(imported.observations) == 1
    assert imported.dropped == 5
