"""Each kind of problem that ``opscan matrix lint`` finds, and the exceptions that it accepts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_matrix import (
    ABSENT,
    CPU_ONLY,
    adapter,
    api,
    cann,
    ge,
    native,
    observed,
    onnx,
    place_of,
    releases,
    row,
    statement,
    torchair,
    write_matrix,
)

from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import (
    SCHEMA,
    Api,
    CannRelease,
    Converter,
    Correction,
    Drop,
    ExceptionsFile,
    GeOp,
    OnnxOp,
    OverridesFile,
    Parameter,
    RegistrationsFile,
    TorchNpuRelease,
    Unresolved,
)
from opscan.matrix.lint import lint
from opscan.matrix.lint.problem import Problem

ADAPTER = adapter("2.13.0", {"aten::abs": native("aclnnAbs")})
SEEN = observed("2.13.0", {"aten::abs": (row("float32", "aclnnAbs[T:float32]"),)})
TABLE = cann("9.1.0", {"aclnnAbs": api("float32")}, {"Abs": ge("float32")})
CONVERTERS = torchair("2.13.0", {"aten::abs": Converter("implemented", ("Abs",))})
PARSER = onnx("9.1.0", {"ai.onnx::Abs": OnnxOp((18,), ("Abs",))})
SOUND = (ADAPTER, SEEN, TABLE, CONVERTERS, PARSER)


def problems(root: Path, *files: msgspec.Struct) -> list[str]:
    return [str(problem) for problem in lint((write_matrix(root, *files),))]


def test_a_sound_matrix(tmp_path: Path) -> None:
    assert problems(tmp_path, *SOUND) == []


def test_the_packaged_folder_and_an_empty_one_of_the_users_own(tmp_path: Path) -> None:
    assert lint((tmp_path / "own", write_matrix(tmp_path / "packaged", *SOUND))) == ()


def test_it_tells_what_it_checks(tmp_path: Path) -> None:
    said: list[str] = []
    lint((write_matrix(tmp_path, *SOUND),), said.append)
    assert said == ["forms", "releases and SoCs", "kernels", "contradictions", "counts", "betas"]


def test_a_problem_is_file_key_and_message() -> None:
    assert str(Problem("a.json", "ops.x", "is odd")) == "a.json: ops.x: is odd"
    assert str(Problem("a.json", "", "is odd")) == "a.json: is odd"


# --- forms ----------------------------------------------------------------------------------------------------


def edited(root: Path, name: str, change: Callable[[dict[str, Any]], object]) -> list[str]:
    write_matrix(root, *SOUND)
    document = json.loads((root / name).read_text(encoding="utf-8"))
    change(document)
    (root / name).write_text(json.dumps(document), encoding="utf-8")
    return [str(problem) for problem in lint((root,))]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("torch_npu/2.13.0.json", lambda d: d["ops"]["aten::abs"].update(keys="CPU"), "ops.aten::abs.keys"),
        ("torch_npu/2.13.0.json", lambda d: d["ops"]["aten::abs"].update(extra=1), "extra"),
        ("torch_npu/2.13.0.json", lambda d: d.pop("torch"), "torch"),
        ("cann/9.1.0/ascend910b.json", lambda d: d["apis"]["aclnnAbs"].update(supported=1), "apis.aclnnAbs.supported"),
        ("observed/2.13.0/ascend910b.json", lambda d: d.update(rows=[]), "rows"),
        ("torchair/2.13.0.json", lambda d: d["ops"]["aten::abs"].update(status="maybe"), "status"),
        ("onnx/9.1.0.json", lambda d: d["ops"]["ai.onnx::Abs"].update(opsets=["18"]), "opsets"),
        ("releases.json", lambda d: d.update(cann_order="9.1.0"), "cann_order"),
        ("socs.json", lambda d: d.update(schema=2), "schema"),
    ],
)
def test_what_does_not_fit_its_form_is_named(
    tmp_path: Path, name: str, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    found = edited(tmp_path, name, change)
    assert found
    assert all(problem.startswith(f"{name}: ") for problem in found)
    assert any(said in problem for problem in found)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe{}", b"null", b'{"schema": 1'])
def test_what_is_no_json_object_is_a_problem_not_an_error(tmp_path: Path, content: bytes) -> None:
    write_matrix(tmp_path, *SOUND)
    (tmp_path / "onnx/9.1.0.json").write_bytes(content)
    (problem,) = lint((tmp_path,))
    assert problem.file == "onnx/9.1.0.json"
    assert problem.message


def test_of_two_equal_keys_one_is_lost_unseen(tmp_path: Path) -> None:
    write_matrix(tmp_path, *SOUND)
    path = tmp_path / "torch_npu/2.13.0.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"ops": {', '"ops": {"aten::abs": {"keys":["CPU"]},'), encoding="utf-8")
    (problem,) = lint((tmp_path,))
    assert problem.file == "torch_npu/2.13.0.json"
    assert "aten::abs" in problem.message
    assert "twice" in problem.message


@pytest.mark.parametrize(
    ("file", "place", "said"),
    [
        (ADAPTER, "torch_npu/2.12.0.json", "release: is '2.13.0', but the file lies at '2.12.0'"),
        (TABLE, "cann/8.5.0/ascend910b.json", "release: is '9.1.0', but the file lies at '8.5.0'"),
        (TABLE, "cann/9.1.0/ascend910.json", "soc: is 'ascend910b', but the file lies at 'ascend910'"),
        (CONVERTERS, "torchair/2.12.0.json", "release: is '2.13.0', but the file lies at '2.12.0'"),
        (PARSER, "onnx/8.5.0.json", "release: is '9.1.0', but the file lies at '8.5.0'"),
    ],
)
def test_a_file_at_the_wrong_place(tmp_path: Path, file: msgspec.Struct, place: str, said: str) -> None:
    write_matrix(tmp_path, *SOUND)
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place_of(file)).rename(tmp_path / place)
    assert [str(problem) for problem in lint((tmp_path,))] == [f"{place}: {said}"]


def test_a_file_where_no_file_belongs(tmp_path: Path) -> None:
    write_matrix(tmp_path, *SOUND)
    (tmp_path / "cann/9.1.0.json").write_bytes((tmp_path / "cann/9.1.0/ascend910b.json").read_bytes())
    (tmp_path / "torch-npu").mkdir()
    (tmp_path / "torch-npu/2.12.0.json").write_bytes(b"{}")
    assert [str(problem) for problem in lint((tmp_path,))] == [
        "cann/9.1.0.json: no file of the matrix lies here",
        "torch-npu/2.12.0.json: no file of the matrix lies here",
    ]


# --- releases and SoCs ----------------------------------------------------------------------------------------


def test_releases_and_socs_that_nobody_lists(tmp_path: Path) -> None:
    unknown = adapter("2.99.0", {}), cann("9.9.9", {}), cann("9.1.0", {}, soc="ascend123")
    found = problems(tmp_path, *SOUND, *unknown, releases(*SOUND))
    assert found[:3] == [
        "torch_npu/2.99.0.json: no torch_npu release 2.99.0 in releases.json or socs.json",
        "cann/9.9.9/ascend910b.json: no CANN release 9.9.9 in releases.json or socs.json",
        "cann/9.1.0/ascend123.json: no SoC ascend123 in releases.json or socs.json",
    ]


def test_tables_that_are_said_to_exist(tmp_path: Path) -> None:
    known = releases(*SOUND)
    promised = msgspec.structs.replace(
        known,
        torch_npu_order=("2.12.0", "2.13.0"),
        torch_npu={**known.torch_npu, "2.12.0": TorchNpuRelease("2.12.0", True)},
        cann={"9.1.0": CannRelease(("ascend910b", "ascend910"), ("8.8.8",))},
    )
    assert problems(tmp_path, *SOUND, promised) == [
        "releases.json: torch_npu/2.12.0.json: is said to exist, but there is no such file",
        "releases.json: cann/9.1.0/ascend910.json: is said to exist, but there is no such file",
        "releases.json: cann.9.1.0.nearest: no CANN release 8.8.8",
    ]


def test_overrides_name_what_exists_and_themselves_once(tmp_path: Path) -> None:
    made = (
        statement("a", "unknown", socs=("ascend123",)),
        statement("b", "unknown", dtypes=("int8",), cann=("9.9.9",)),
        statement("c", "unknown", dtypes=("int4",), torch_npu=("2.99.0",)),
        statement("c", "unknown", dtypes=("bool",)),
    )
    assert problems(tmp_path, *SOUND, OverridesFile(SCHEMA, statements=made)) == [
        "overrides/all.json: a: no SoC ascend123 in the matrix",
        "overrides/all.json: b: no CANN release 9.9.9 in the matrix",
        "overrides/all.json: c: no torch_npu release 2.99.0 in the matrix",
        "overrides/all.json: c: two overrides have this id",
    ]


# --- kernels --------------------------------------------------------------------------------------------------


def kernels_of(reason: tuple[Unresolved, ...]) -> tuple[msgspec.Struct, ...]:
    return (
        adapter("2.13.0", {"aten::abs": native("aclnnFar")}),
        observed("2.13.0", {"aten::abs": (row("float32", "aclnnSeen[T:float32]", "GE Seen[float32 > float32]"),)}),
        cann("9.1.0", {"aclnnAbs": api("float32")}, {"Abs": ge("float32")}),
        torchair("2.13.0", {"aten::abs": Converter("implemented", ("Emitted",))}),
        onnx("9.1.0", {"ai.onnx::Abs": OnnxOp((18,), ("Parsed", "Const"))}),
        ExceptionsFile(SCHEMA, unresolved=reason),
    )


ALL = ("aclnnFar", "aclnnSeen", "GE Seen", "GE Emitted", "GE Parsed")


def test_kernels_that_are_in_no_table(tmp_path: Path) -> None:
    said = "is in no table of CANN, and exceptions.json does not say why"
    assert sorted(problems(tmp_path, *kernels_of(()))) == [
        f"observed/2.13.0/ascend910b.json: ops.aten::abs: GE Seen {said}",
        f"observed/2.13.0/ascend910b.json: ops.aten::abs: aclnnSeen {said}",
        f"onnx/9.1.0.json: ops.ai.onnx::Abs: GE Parsed {said}",
        f"torch_npu/2.13.0.json: ops.aten::abs: aclnnFar {said}",
        f"torchair/2.13.0.json: ops.aten::abs: GE Emitted {said}",
    ]


def test_kernels_whose_absence_is_explained(tmp_path: Path) -> None:
    assert problems(tmp_path, *kernels_of((Unresolved(ALL, "withdrawn"),))) == []


def test_an_explanation_that_is_no_longer_needed(tmp_path: Path) -> None:
    stale = Unresolved((*ALL, "aclnnAbs", "GE Abs"), "withdrawn")
    assert problems(tmp_path, *kernels_of((stale,))) == [
        "exceptions.json: unresolved: GE Abs is in a table now",
        "exceptions.json: unresolved: aclnnAbs is in a table now",
    ]


def test_older_releases_may_reach_what_was_withdrawn(tmp_path: Path) -> None:
    older = adapter("2.12.0", {"aten::abs": native("aclnnWithdrawn")})
    assert problems(tmp_path, older, *SOUND) == []


def test_a_correction_of_an_api_that_nobody_has(tmp_path: Path) -> None:
    correction = Correction("fix", "aclnnNever", ("ascend910b",), "evidence", "page @0", "2026-01-01", supported=True)
    assert problems(tmp_path, *SOUND, OverridesFile(SCHEMA, (correction,))) == [
        "overrides/all.json: fix: aclnnNever is in no table of CANN"
    ]


# --- contradictions -------------------------------------------------------------------------------------------


def changed(made: Api, **changes: object) -> Api:
    return msgspec.structs.replace(made, **changes)


def listed(*dtypes: str, **changes: Any) -> Api:
    return changed(api(), params={"self": Parameter("in", dtypes, **changes), "out": Parameter("out", dtypes)})


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (api("float32"), ABSENT, "an earlier release documents it as supported, and nothing is disputed here"),
        (api("float32"), changed(ABSENT, disputed="CANN 9.0.0 has it"), None),
        (api("float32"), changed(ABSENT, corrected="fix"), None),
        (ABSENT, api("float32"), None),
        (changed(api("float32"), borrowed="8.1.RC1"), ABSENT, None),
        (
            listed("float32", "int8", "bool"),
            listed("float32"),
            "self took bool, int8 at an earlier release, and that is not disputed here",
        ),
        (listed("float32", "int8"), listed("float32", disputed=("int8",)), None),
        (listed("float32", "int8"), listed("float32", corrected="fix"), None),
        (listed("float32", "int8"), listed("float32", borrowed="9.0.0"), None),
        (listed("float32", "int8"), listed(), None),  # no list is no refusal
        (listed("float32"), listed("float32", "int8"), None),
    ],
)
def test_what_a_release_silently_drops(tmp_path: Path, before: Api, after: Api, said: str | None) -> None:
    files = ADAPTER, cann("9.0.0", {"aclnnAbs": before}), cann("9.1.0", {"aclnnAbs": after})
    # A count that falls is another problem.
    found = [p for p in problems(tmp_path, *files) if "entries" not in p]
    assert found == ([f"cann/9.1.0/ascend910b.json: apis.aclnnAbs: {said}"] if said else [])


def test_what_came_back_and_is_dropped_again(tmp_path: Path) -> None:
    """The newest release that supports it counts, not the one just before."""
    files = [cann(r, {"aclnnAbs": a}) for r, a in (("8.5.0", api("int8")), ("9.0.0", api("int8")))]
    found = problems(tmp_path, ADAPTER, *files, cann("9.1.0", {"aclnnAbs": listed("float32")}))
    assert found == [
        "cann/9.1.0/ascend910b.json: apis.aclnnAbs: self took int8 at an earlier release, and that is not disputed here"
    ]


@pytest.mark.parametrize(
    ("changes", "contradicts"),
    [
        ({}, True),
        ({"dtypes": ("float32",)}, False),
        ({"ops": ("aten::abs",)}, False),  # one for an operator comes before one for all
        ({"socs": ("ascend910",)}, False),
        ({"cann": ("9.1.0",)}, True),
        ({"torch_npu": ("2.13.0",)}, True),
    ],
)
def test_reviewed_answers_that_contradict_each_other(
    tmp_path: Path, changes: dict[str, object], contradicts: bool
) -> None:
    two = statement("a", "unknown"), statement("b", "unsupported", **changes)
    found = problems(tmp_path, *SOUND, OverridesFile(SCHEMA, statements=two))
    assert found == (["overrides/all.json: a: says unknown where b says unsupported"] if contradicts else [])


def test_answers_that_say_the_same_do_not_contradict(tmp_path: Path) -> None:
    two = statement("a", "unknown"), statement("b", "unknown")
    assert problems(tmp_path, *SOUND, OverridesFile(SCHEMA, statements=two)) == []


def test_answers_for_different_releases_do_not_contradict(tmp_path: Path) -> None:
    two = statement("a", "unknown", torch_npu=("2.13.0",)), statement("b", "supported", torch_npu=("2.12.0",))
    files = adapter("2.12.0", {"aten::abs": native("aclnnAbs")}), *SOUND
    assert problems(tmp_path, *files, OverridesFile(SCHEMA, statements=two)) == []


# --- counts ---------------------------------------------------------------------------------------------------

HUNDRED = {f"aten::op{i}": native() for i in range(100)}


def without(count: int) -> dict[str, Any]:
    """A hundred operators, of which the first few have lost their kernel."""
    return {name: CPU_ONLY if place < count else op for place, (name, op) in enumerate(HUNDRED.items())}


def post(release: str, lost: int, op_plugin: str = "26.0") -> RegistrationsFile:
    return adapter(release, without(lost), op_plugin)


@pytest.mark.parametrize(("lost", "complains"), [(0, False), (2, False), (3, True)])
def test_two_in_a_hundred_may_be_missing_without_a_word(tmp_path: Path, lost: int, complains: bool) -> None:
    found = problems(tmp_path, post("2.13.0", 0), post("2.13.0.post1", lost), TABLE)
    message = "torch_npu at 2.13.0.post1: aten: 97 entries, 100 at 2.13.0: state the reason in exceptions.json"
    assert found == ([message] if complains else [])


def test_a_stated_reason_is_accepted_and_must_be_needed(tmp_path: Path) -> None:
    files = post("2.13.0", 0), post("2.13.0.post1", 10), TABLE
    drop = Drop("torch_npu aten", "2.13.0.post1", "moved")
    assert problems(tmp_path / "1", *files, ExceptionsFile(SCHEMA, (drop,))) == []
    stale = Drop("torch_npu npu", "2.13.0.post1", "moved")
    assert problems(tmp_path / "2", *files, ExceptionsFile(SCHEMA, (drop, stale))) == [
        "exceptions.json: drops: torch_npu npu did not fall at 2.13.0.post1"
    ]


def test_the_first_release_of_a_torch_is_compared_with_one_of_the_same_kernels(tmp_path: Path) -> None:
    old_line = post("2.12.0", 0), post("2.12.0.post9", 0, "27.0")
    assert problems(tmp_path / "1", *old_line, post("2.13.0", 50, "25.0"), TABLE) == []
    found = problems(tmp_path / "2", *old_line, post("2.13.0", 50, "26.0"), TABLE)
    assert found == ["torch_npu at 2.13.0: aten: 50 entries, 100 at 2.12.0: state the reason in exceptions.json"]


def test_converters_apis_operators_and_parsers_are_counted_too(tmp_path: Path) -> None:
    def files(release: str, torch_npu: str, count: int) -> tuple[msgspec.Struct, ...]:
        converters = {f"aten::op{i}": Converter("implemented", ("Abs",)) for i in range(count)}
        apis = {f"aclnn{i}": api("float32") for i in range(count)}
        return (
            adapter(torch_npu, HUNDRED),
            torchair(torch_npu, converters),
            cann(release, apis, {"Abs": ge("float32"), **{f"Op{i}": ge("float32") for i in range(count)}}),
            onnx(release, {f"ai.onnx::Op{i}": OnnxOp((18,), ("Abs",)) for i in range(count)}),
        )

    found = problems(tmp_path, *files("9.0.0", "2.13.0", 100), *files("9.1.0", "2.13.0.post1", 50))
    assert {problem.partition(", ")[0] for problem in found} == {
        "torchair at 2.13.0.post1: implemented: 50 entries",
        "cann/ascend910b at 9.1.0: apis: 50 entries",
        "cann/ascend910b at 9.1.0: ge: 51 entries",
        "onnx at 9.1.0: ops: 50 entries",
    }


def test_what_is_documented_as_absent_does_not_count(tmp_path: Path) -> None:
    two = {"aclnnAbs": api("float32"), "aclnnNeg": api("float32")}
    gone = {"aclnnAbs": api("float32"), "aclnnNeg": changed(ABSENT, disputed="9.0.0 has it")}
    engine = {"Abs": ge("float32"), "Neg": ge("float32")}
    fewer = {"Abs": ge("float32"), "Neg": GeOp(absent=True)}
    found = problems(tmp_path, ADAPTER, cann("9.0.0", two, engine), cann("9.1.0", gone, fewer))
    assert [problem.partition(", ")[0] for problem in found] == [
        "cann/ascend910b at 9.1.0: apis: 1 entries",
        "cann/ascend910b at 9.1.0: ge: 1 entries",
    ]


# --- betas ----------------------------------------------------------------------------------------------------


def betas(root: Path, beta: dict[str, Api], release: str = "9.2.0-beta.1") -> list[str]:
    many = {f"aclnn{i}": api("float32") for i in range(100)}
    before = cann("9.1.0", {**many, "aclnnAbs": api("float32"), "aclnnGone": ABSENT})
    return problems(root, ADAPTER, before, cann(release, {**many, **beta}))


def test_what_a_beta_leaves_out(tmp_path: Path) -> None:
    assert betas(tmp_path / "1", {}) == [
        "cann/9.2.0-beta.1/ascend910b.json: apis.aclnnAbs: is missing, and CANN 9.1.0 has it"
    ]
    inherited = changed(api("float32"), borrowed="9.1.0")
    assert betas(tmp_path / "2", {"aclnnAbs": inherited}) == []


def test_a_release_proper_may_leave_out(tmp_path: Path) -> None:
    assert betas(tmp_path, {}, "9.2.0") == []


def test_a_beta_of_a_soc_that_is_new(tmp_path: Path) -> None:
    files = ADAPTER, cann("9.1.0", {"aclnnAbs": api("float32")}), cann("9.2.0-beta.1", {}, soc="ascend910")
    assert problems(tmp_path, *files) == []


def test_the_packaged_exceptions_state_their_reasons() -> None:
    stated = msgspec.json.decode((support_matrix_dir() / "exceptions.json").read_bytes(), type=ExceptionsFile)
    assert all(len(entry.reason) > 20 for entry in (*stated.drops, *stated.unresolved))
