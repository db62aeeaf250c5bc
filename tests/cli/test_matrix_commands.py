"""``opscan matrix list|query|diff|lint|build``: what they print, where, and how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ended_commands import COMMAND, Opscan
from small_matrix import CPU_ONLY, adapter, api, cann, write_matrix
from small_matrix_commands import OPS, packaged, run

LOADED = """
import sys
sys.argv = ["opscan", *{arguments}]
from opscan.cli.main import main
try:
    main()
except SystemExit as ended:
    code = ended.code
heavy = {{"torch", "torch_npu", "pandas", "numpy", "onnx", "jinja2"}} & set(sys.modules)
print("loaded", code, sorted(heavy))
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's own tables, which does not exist yet, beside a packaged matrix of a few entries."""
    root = packaged(tmp_path / "packaged")
    monkeypatch.setattr("opscan.matrix.data.support_matrix_dir", lambda: root)
    monkeypatch.setattr("opscan.cli.matrix_command.installed_torch", lambda: "2.13.0")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "opscan" / "support_matrix"


def parsed(*arguments: str, code: int = 0) -> Any:
    ended = run(*arguments, "--json")
    assert ended.code == code, ended.err
    return json.loads(ended.out)


# --- query ----------------------------------------------------------------------------------------------------


def test_a_query_for_a_target() -> None:
    ended = run("query", "aten::abs", "--cann", "9.1.0", "--dtype", "float32", "--dtype", "int8")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "aten::abs  torch_npu 2.13.0, CANN 9.1.0, ascend910b"
    assert [line.split() for line in lines[3:7]] == [
        ["eager", "float32", "supported", "aclnnAbs"],
        ["eager", "int8", "unsupported", "OPS104", "aclnnAbs"],
        ["graph", "float32", "supported", "Abs"],
        ["graph", "int8", "unsupported", "OPS104", "Abs"],
    ]
    assert "eager int8: " in ended.out
    assert "observed/2.13.0/ascend910b.json" in ended.out
    assert "repo page.md @0123" in ended.out


def test_the_same_as_json() -> None:
    found = parsed("query", "aten::abs", "--cann", "9.1.0", "--dtype", "int8")
    assert list(found) == ["operator", "target", "warnings", "answers"]
    assert found["target"] == {"torch_npu": "2.13.0", "cann": "9.1.0", "soc": "ascend910b", "route": "eager"}
    eager, graph = found["answers"]
    assert (eager["route"], eager["dtype"]) == ("eager", "int8")
    ruling = eager["ruling"]
    assert (ruling["verdict"], ruling["rule"], ruling["kernels"]) == ("unsupported", "OPS104", ["aclnnAbs"])
    assert "int8" in ruling["reason"]
    assert [case["name"] for case in eager["cases"]] == ["int8 → int8"]
    assert graph["ruling"]["verdict"] == "unsupported"


@pytest.mark.parametrize(
    "spelling", ["aten::abs", "abs", "aten.abs", "torch.ops.aten.abs", "aten::abs.default", " aten::abs "]
)
def test_spellings_of_an_operator(spelling: str) -> None:
    assert parsed("query", spelling, "--cann", "9.1.0")["operator"] == "aten::abs"


def test_a_dtype_asked_for_twice_is_answered_once() -> None:
    found = parsed("query", "aten::abs", "--dtype", "torch.float32", "--dtype", "float32")
    assert [(a["route"], a["dtype"]) for a in found["answers"]] == [("eager", "float32"), ("graph", "float32")]


def test_without_a_target_the_history() -> None:
    ended = run("query", "aten::add.Tensor")
    assert ended.code == 0
    assert "registered (op_api)  2.13.0" in ended.out
    assert "CPU fallback         2.12.0" in ended.out
    assert "converter raises  2.13.0" in ended.out
    found = parsed("query", "aten::add.Tensor")
    assert found["eager"][0] == {"first": "2.12.0", "last": "2.12.0", "state": "CPU fallback"}
    assert found["cann"] == [["8.5.0", "supported"], ["9.1.0", "supported"]]


def test_any_option_of_the_target_ends_the_history() -> None:
    for option in (("--torch-npu", "2.13.0"), ("--soc", "A2"), ("--dtype", "int8"), ("--opset", "17")):
        assert "answers" in parsed("query", "aten::abs", *option)


def test_a_kernel() -> None:
    ended = run("query", "aclnnAdd", "--cann", "9.1.0")
    assert ended.code == 0
    assert ended.out.startswith("aclnnAdd  CANN 9.1.0, ascend910b: supported\n")
    assert [line.split()[1:4] for line in ended.out.splitlines()[3:6]] == [
        ["in", "self", "float32"],
        ["in", "other", "float32"],
        ["out", "out", "float32"],
    ]
    assert parsed("query", "GE Abs", "--cann", "9.1.0")["state"] == "supported"
    assert run("query", "aclnnAbz").out == (
        "aclnnAbz  CANN 9.1.0, ascend910b: unknown\nno table lists it\nlook-alikes: aclnnAbs, aclnnAdd\n"
    )


@pytest.mark.parametrize(("opset", "verdict"), [("17", "supported"), ("11", "unsupported"), ("99", "unsupported")])
def test_an_onnx_operator_at_an_opset(opset: str, verdict: str) -> None:
    (answer,) = parsed("query", "Abs", "--opset", opset, "--dtype", "float32")["answers"]
    assert (answer["route"], answer["ruling"]["verdict"]) == ("offline", verdict)


@pytest.mark.parametrize("opset", ["0", "-1", "x", ""])
def test_what_is_no_opset(opset: str) -> None:
    ended = run("query", "Abs", "--opset", opset)
    assert ended.code == 2
    assert "--opset" in ended.err


# --- warnings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [False, True])
def test_warnings_go_to_stderr(as_json: bool) -> None:
    ended = run("query", "aten::abs", "--cann", "8.3.RC1", "--soc", "Ascend910B", *(["--json"] if as_json else []))
    assert ended.code == 0
    assert ended.err.splitlines() == [
        "opscan: warning: Ascend910B is also a name of the older chip.",
        "opscan: warning: torch_npu 2.13.0 is not documented for CANN 8.3.RC1: no CANN release is documented for it.",
        "opscan: warning: The matrix has no table of CANN 8.3.RC1 on ascend910b: the nearest, 8.5.0, answer where they"
        " agree.",
    ]
    assert "warning:" not in ended.out
    if as_json:
        assert len(json.loads(ended.out)["warnings"]) == 3


def test_a_soc_without_a_table_is_answered_with_unknown() -> None:
    ended = run("query", "aten::abs", "--cann", "9.1.0", "--soc", "A1", "--dtype", "float32")
    assert ended.code == 0
    assert "The matrix has no table of CANN 9.1.0 on ascend910: what kernels accept is unknown." in ended.err
    assert "OPS305" in ended.out


# --- usage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["query", "aten::abz"], "no table of the target knows an operator 'aten::abz'", "Did you mean aten::abs?"),
        (["query", ""], "no table of the target knows an operator ''", "Names look like aten::add.Tensor or"),
        (["query", "a\nb"], r"knows an operator 'a\nb'", "Names look like"),
        (["query", "aten::abs\x1b[31m"], r"'aten::abs\x1b[31m'", "Did you mean"),
        (["query", "aten::abs", "--dtype", "flaot32"], "--dtype flaot32: no such choice.", "Did you mean float32?"),
        (["query", "aten::abs", "--dtype", "\x1b]0;x\x07"], r"--dtype \x1b]0;x\x07", "Choose one of: float32"),
        (["query", "aten::abs", "--soc", "\x1b[31mA2"], r"unknown SoC '\x1b[31mA2'", "Known: ascend910"),
        (["query", "aten::abs", "--soc", ""], "unknown SoC ''", "Known: ascend910"),
        (["query", "aten::abs", "--torch-npu", "2.2.0"], "unknown torch_npu release '2.2.0'", "Did you mean 2.12.0?"),
        (["query", "aten::abs", "--torch-npu", ""], "unknown torch_npu release ''", "Known: 2.12.0, 2.13.0."),
        (["query", "aten::abs", "--cann", "9.1"], "unknown CANN release '9.1'", "Did you mean 9.1.0?"),
        (
            ["diff", "8.5.0", "ascend910b"],
            "only releases of one kind can be compared: 8.5.0 is a CANN release, ascend910b is a SoC",
            "Name two of a kind.",
        ),
        (["diff", "9.1.0", "9.2"], "unknown torch_npu release, CANN release or SoC '9.2'", "Did you mean 9.1.0?"),
        (["diff", "2.12.0", "2.13.0", "--torch-npu", "2.13.0"], "A and B already name the torch_npu release", "Leave"),
        (
            ["diff", "8.5.0", "9.1.0", "--route", "sideways"],
            "--route sideways: no such choice.",
            "eager, graph, offline",
        ),
        (["diff", "8.5.0", "9.1.0", "--dtype", "f32"], "--dtype f32: no such choice.", "Choose one of"),
        (["diff", "7.0.0", "9.1.0"], "there is nothing to compare with: the matrix has no table of CANN 7.0.0", "list"),
        (["build", "--check", "--wheel", "2.13.0"], "--check compares a checkout with its sources", "Leave out"),
        (["build", "--wheel", "x", "--source", "y"], "each build tables of their own", "Give one at a time."),
        (["build", "--source", "y"], "--source does not tell its CANN release", "Add --cann RELEASE"),
        (["build", "--cann-home", "nowhere"], "nowhere", ""),
        (["build"], "is built from support_matrix/sources/, which an installed opscan does not carry", "--wheel"),
    ],
)
def test_what_cannot_be_used_says_what_to_do(arguments: list[str], message: str, hint: str) -> None:
    ended = run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    lines = ended.err[ended.err.index("opscan: error: ") :].splitlines()
    assert message in lines[0]
    assert hint in lines[1]
    assert "\x1b" not in ended.err


@pytest.mark.parametrize("arguments", [[], ["query"], ["diff"], ["diff", "9.1.0"], ["nothing"], ["query", "a", "b"]])
def test_missing_and_surplus_arguments(arguments: list[str]) -> None:
    ended = run(*arguments)
    assert ended.code == 2
    assert "Usage: " in ended.out + ended.err


# --- diff -----------------------------------------------------------------------------------------------------


def test_a_diff() -> None:
    ended = run("diff", "8.5.0", "9.1.0", "--dtype", "float32")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[:2] == [
        "from  torch_npu 2.13.0, CANN 8.5.0, ascend910b, eager",
        "to    torch_npu 2.13.0, CANN 9.1.0, ascend910b, eager",
    ]
    assert lines[3] == "Gained support: 1 operator"
    assert lines[5].startswith("aten::abs  float32  unsupported → supported  ")


def test_a_diff_as_json_says_what_was_not_named() -> None:
    found = parsed("diff", "2.12.0", "2.13.0", "--cann", "9.1.0", "--dtype", "float32")
    assert (found["before"]["torch_npu"], found["after"]["torch_npu"]) == ("2.12.0", "2.13.0")
    assert {found[side][key] for side in ("before", "after") for key in ("cann", "soc")} == {"9.1.0", "ascend910b"}
    assert [(c["kind"], c["operator"], c["before"], c["after"]) for c in found["changes"]] == [
        ("gained", "aten::add.Tensor", "fallback", "supported")
    ]


def test_a_diff_of_the_graph_route() -> None:
    found = parsed("diff", "9.1.0", "8.5.0", "--route", "graph", "--dtype", "float32")
    assert [(c["kind"], c["operator"], c["after"]) for c in found["changes"]] == [("undecided", "aten::abs", "unknown")]


def test_a_diff_of_a_release_with_itself() -> None:
    ended = run("diff", "9.1.0", "9.1.0")
    assert ended.code == 0
    assert ended.out.endswith("no operator changes its verdict\n")
    assert parsed("diff", "9.1.0", "9.1.0")["changes"] == []


# --- list -----------------------------------------------------------------------------------------------------


def test_the_list() -> None:
    ended = run("list")
    assert ended.code == 0
    rows = [line.split() for line in ended.out.splitlines()]
    assert ["2.13.0", "2.13.0", "dispatcher", "2", "0", "0", "1", "1", "ascend910b"] in rows
    assert ["9.1.0", "ascend910b", "2", "0", "1", "1"] in rows
    assert "CANN 8.3.RC1 has no table; answers come from 8.5.0." in ended.out
    found = parsed("list")
    assert found["adapters"][1]["registered"] == {"aten": 2}
    assert found["without_table"] == {"8.3.RC1": ["8.5.0"]}


def test_the_list_marks_tables_of_the_users_own(own: Path) -> None:
    write_matrix(own, adapter("2.14.0", OPS), cann("9.1.0", {"aclnnAbs": api("int8")}))
    ended = run("list")
    assert "dispatcher, yours" in next(line for line in ended.out.splitlines() if line.startswith("2.14.0"))
    assert "9.1.0 (yours)" in ended.out
    assert "8.5.0 (yours)" not in ended.out


# --- the user's own -------------------------------------------------------------------------------------------


def test_a_query_asks_the_users_own_table_first(own: Path) -> None:
    arguments = "query", "aten::abs", "--cann", "9.1.0", "--dtype", "int8"
    assert parsed(*arguments)["answers"][0]["ruling"]["verdict"] == "unsupported"
    write_matrix(own, cann("9.1.0", {"aclnnAbs": api("int8")}))
    assert parsed(*arguments)["answers"][0]["ruling"]["verdict"] == "supported"


def test_a_history_with_a_release_of_the_users_own(own: Path) -> None:
    write_matrix(own, adapter("2.14.0", {"aten::abs": CPU_ONLY}))
    assert parsed("query", "aten::abs")["eager"][-1] == {"first": "2.14.0", "last": "2.14.0", "state": "CPU fallback"}


DAMAGES = {
    "empty": b"",
    "truncated": b'{"schema": 1, "sources": [',
    "not UTF-8": b'{"schema": 1, "release": "\xff\xfe"}',
    "not JSON": b"hello",
    "an array": b"[]",
    "nothing but zeros": bytes(64),
    "nested without end": b"[" * 100_000,
    "of a newer opscan": b'{"schema": 2}',
    "of no schema": b'{"release": "9.1.0"}',
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "name",
    [
        "releases.json",
        "torch_npu/2.13.0.json",
        "cann/9.1.0/ascend910b.json",
        "torchair/2.13.0.json",
        "overrides/x.json",
    ],
)
def test_a_damaged_file_of_the_users_own_is_named(own: Path, name: str, damage: str) -> None:
    (own / name).parent.mkdir(parents=True, exist_ok=True)
    (own / name).write_bytes(DAMAGES[damage])
    ended = run("query", "aten::abs", "--torch-npu", "2.13.0", "--cann", "9.1.0")
    assert (ended.code, ended.out) == (2, "")
    message, hint = ended.message.splitlines()
    assert message.startswith(f"opscan: error: {own / name}: ")
    assert "Upgrade opscan." in hint if "newer" in damage else "delete it" in hint
    checked = run("lint")
    assert checked.code == 1
    assert checked.out.startswith(f"{own / name}: ")


@pytest.mark.parametrize("name", ["releases.json", "cann/9.1.0/ascend910b.json", "torch_npu/2.13.0.json"])
@pytest.mark.parametrize("kind", ["folder", "loop", "dangling link"])
def test_what_stands_in_the_place_of_a_file_is_not_passed_over(own: Path, name: str, kind: str) -> None:
    path = own / name
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path.name if kind == "loop" else "nowhere")
    ended = run("query", "aten::abs", "--torch-npu", "2.13.0", "--cann", "9.1.0")
    assert ended.code == 2
    assert str(path) in ended.message
    assert run("lint").code == 1


def test_folders_that_cannot_be_read(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.parent.mkdir(parents=True)
    own.symlink_to(own.name)
    ended = run("query", "aten::abs", "--cann", "9.1.0")
    assert ended.code == 2
    assert f"{own / 'releases.json'}: Too many levels of symbolic links" in ended.message
    assert "cannot be read" in ended.message

    def refuse(path: Path) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "lstat", refuse)
    ended = run("list")
    assert ended.code == 2
    assert f"{own / 'releases.json'}: Permission denied" in ended.message


def test_a_file_that_lies_at_anothers_place(own: Path) -> None:
    write_matrix(own, adapter("2.12.0", OPS))
    (own / "torch_npu/2.12.0.json").rename(own / "torch_npu/2.13.0.json")
    (own / "releases.json").unlink()
    ended = run("query", "aten::abs", "--torch-npu", "2.13.0", "--cann", "9.1.0")
    assert ended.code == 2
    assert "torch_npu/2.13.0.json: key release is '2.12.0', but the file lies where '2.13.0' belongs" in ended.message


def test_a_wrong_type_in_one_entry_names_its_key_where_it_is_asked_for(own: Path) -> None:
    write_matrix(own, cann("9.1.0", {"aclnnAbs": api("float32"), "aclnnAdd": api("float32")}))
    path = own / "cann/9.1.0/ascend910b.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["apis"]["aclnnAbs"]["params"]["self"]["dtypes"] = "float32"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert run("query", "aten::add.Tensor", "--cann", "9.1.0").code == 0
    ended = run("query", "aten::abs", "--cann", "9.1.0")
    assert (ended.code, ended.out) == (2, "")
    assert f"{path}: key apis.aclnnAbs: " in ended.message
    assert "params[...].dtypes" in ended.message


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"torch_npu_order": ["2.99.0"]}, "2.99.0 is in only one of torch_npu and torch_npu_order"),
        ({"cann": {"9.9.9": {}}}, "9.9.9 is in only one of cann and cann_order"),
        (
            {"torch_npu_order": ["new"], "torch_npu": {"new": {"torch": "2.13.0", "table": False}}},
            "key torch_npu.new: Invalid version: 'new'",
        ),
        ({"cann_order": ["new"], "cann": {"new": {}}}, "key cann.new: not a CANN release: new"),
        ({"cann": {"9.1.0": {"socs": "ascend910b"}}, "cann_order": ["9.1.0"]}, "key cann.9.1.0: "),
    ],
)
def test_releases_that_do_not_fit_each_other(own: Path, changes: dict[str, object], said: str) -> None:
    own.mkdir(parents=True)
    empty = {"schema": 1, "sources": [], "torch_npu_order": [], "cann_order": [], "torch_npu": {}, "cann": {}}
    (own / "releases.json").write_text(json.dumps({**empty, **changes}), encoding="utf-8")
    for command in (["list"], ["query", "aten::abs"], ["diff", "8.5.0", "9.1.0"]):
        ended = run(*command)
        assert ended.code == 2
        assert f"{own / 'releases.json'}: {said}" in ended.message


def test_a_table_that_is_promised_and_not_there(own: Path) -> None:
    write_matrix(own, adapter("2.14.0", OPS))
    (own / "torch_npu/2.14.0.json").unlink()
    ended = run("list")
    assert ended.code == 2
    assert f"{own / 'torch_npu/2.14.0.json'}: there is no such file, but releases.json names it" in ended.message
    ended = run("query", "aten::abs", "--torch-npu", "2.14.0")
    assert ended.code == 2
    assert ended.message.endswith("hint: Build it: opscan matrix build --wheel 2.14.0\n")


# --- lint -----------------------------------------------------------------------------------------------------


def test_lint_of_a_sound_matrix() -> None:
    ended = run("lint")
    assert (ended.code, ended.out) == (1, LINT)
    assert [p["file"] for p in parsed("lint", code=1)["problems"]] == ["cann/9.1.0/ascend910b.json"]


LINT = """\
cann/9.1.0/ascend910b.json: apis.aclnnAbs: self took float16 at an earlier release, and that is not disputed here
1 problem
"""


def test_lint_where_nothing_is_wrong(own: Path) -> None:
    """What the user's own table says of a release replaces what the packaged one says."""
    write_matrix(own, cann("8.5.0", {"aclnnAbs": api("float32"), "aclnnAdd": api("float32")}))
    ended = run("lint")
    assert (ended.code, ended.out) == (0, "nothing to complain about\n")


# --- what is loaded -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["matrix", "query", "aten::add.Tensor", "--cann", "9.1.0"],
        ["matrix", "query", "aten::add.Tensor"],
        ["matrix", "query", "aclnnAdd", "--json"],
        ["matrix", "list"],
        ["matrix", "diff", "9.1.0", "9.1.0", "--dtype", "float32"],
        ["explain", "aten::add.Tensor"],
    ],
)
def test_queries_load_neither_torch_nor_pandas(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED.format(arguments=arguments)], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "loaded 0 []", done.stdout[-500:] + done.stderr


# --- the installed command, over the matrix that it carries ---------------------------------------------------


@pytest.mark.install
def test_the_installed_command_lists_what_it_carries(installed: Opscan) -> None:
    found = json.loads(installed("matrix", "list", "--json").out)
    assert {"2.1.0.post17", "2.6.0.post5", "2.13.0"} <= {a["release"] for a in found["adapters"]}
    tables = {(c["release"], c["soc"]) for c in found["cann"]}
    assert {("8.1.RC1", "ascend310p"), ("8.5.0", "ascend910b"), ("9.1.0", "ascend950dt")} <= tables
    assert found["without_table"]["8.3.RC1"] == ["8.1.RC1", "8.5.0"]
    assert not any(entry["own"] for entry in (*found["adapters"], *found["cann"]))


@pytest.mark.install
def test_the_installed_command_answers_in_every_route(installed: Opscan) -> None:
    arguments = "--torch-npu", "2.13.0", "--cann", "9.1.0", "--dtype", "float32", "--json"
    ended = installed("matrix", "query", "aten::addmm", *arguments)
    assert ended.code == 0
    answers = {a["route"]: a["ruling"] for a in json.loads(ended.out)["answers"]}
    assert answers["eager"]["verdict"] == "supported"
    assert answers["eager"]["kernels"] == ["aclnnAddmm"]
    assert set(answers) == {"eager", "graph", "offline"}
    index = json.loads(
        installed("matrix", "query", "aten::index.Tensor", *arguments[:4], "--dtype", "complex64", "--json").out
    )
    assert next(a["ruling"]["verdict"] for a in index["answers"] if a["route"] == "eager") == "unsupported"


@pytest.mark.install
def test_the_installed_command_compares_cann_releases(installed: Opscan) -> None:
    ended = installed("matrix", "diff", "8.5.0", "9.1.0", "--torch-npu", "2.13.0", "--dtype", "float32")
    assert ended.code == 0
    assert ended.out.startswith(
        "from  torch_npu 2.13.0, CANN 8.5.0, ascend910b, eager\nto    torch_npu 2.13.0, CANN 9.1.0"
    )
    assert "opscan: warning: " in ended.err


@pytest.mark.install
def test_the_installed_matrix_has_no_problems(installed: Opscan) -> None:
    ended = installed("matrix", "lint", "--json")
    assert json.loads(ended.out) == {"problems": []}
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.install
@pytest.mark.parametrize("lang", ["C.UTF-8", "zh_CN.UTF-8", "C"])
def test_the_installed_command_explains_an_operator_in_any_locale(installed: Opscan, lang: str) -> None:
    ended = installed("explain", "aten::grid_sampler_2d", env={"LANG": lang, "COLUMNS": "40"})
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("aten::grid_sampler_2d\n")
    assert ("已注册" if lang.startswith("zh") else "registered") + " (acl_op, op_api)" in ended.out


@pytest.mark.install
@pytest.mark.parametrize("command", ["list", "query aten::addmm", "query aten::addmm --json", "list --json"])
def test_a_reader_that_has_seen_enough_is_no_error(command: str) -> None:
    program = f"{COMMAND} matrix {command} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.install
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_output_that_nobody_takes(options: list[str]) -> None:
    command = f"{COMMAND} matrix query aten::addmm {' '.join(options)}"
    closed = subprocess.run(["bash", "-c", f"{command} >&-"], capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")
    full = subprocess.run(["bash", "-c", f"{command} > /dev/full"], capture_output=True, text=True)
    assert full.returncode == 2
    assert full.stderr.startswith("opscan: error: No space left on device")
