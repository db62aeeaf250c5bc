from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_matrix import adapter, api, cann, native, observed, row, write_matrix

from opscan.errors import UsageError
from opscan.inventory import OpCall, TensorSpec
from opscan.matrix import Matrix
from opscan.matrix.files import MeasuredFile, load
from opscan.matrix.schema import problems_of
from opscan.probing.measurements import build_from_probe
from opscan.probing.probed import Probed, ProbedOp, render_probed, summarise
from opscan.probing.protocol import Outcome, Versions
from opscan.probing.results import ResultsError, ResultStore
from opscan.probing.signature import Signature, TensorArgument
from opscan.target import Target
from opscan.verdict import Judge

VERSIONS = Versions("2.13.0", "2.13.0+git1a2b", "9.1.0", "Ascend910B3")


def signature(name: str = "aten::add.Tensor", dtype: str = "float32") -> Signature:
    return Signature(name, (TensorArgument("self", dtype, (2, 3)), TensorArgument("other", dtype, (2, 3))))


def probed(*pairs: tuple[Signature, Outcome], versions: Versions = VERSIONS) -> Probed:
    ops = tuple(ProbedOp(s.key, s, 1, outcome) for s, outcome in pairs)
    return Probed(
        tool="0.1", model="model.py", versions=versions, devices=(), complete=True, interrupted=False,
        summary=summarise(ops), ops=ops,
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pairs = (
        (signature(), Outcome("native", kernels=("aclnnAdd", "aclnnAdd"), versions=VERSIONS)),
        (signature(dtype="float16"), Outcome("wrong", "relative error 0.5", versions=VERSIONS)),
        (signature("aten::mul.Tensor"), Outcome("refused", "dtype is not\nsupported", "161002", versions=VERSIONS)),
        (signature("aten::sub.Tensor"), Outcome("timeout", versions=VERSIONS)),
    )
    path = tmp_path / "probe.json"
    path.write_text(render_probed(probed(*pairs)))
    return path


def test_a_probe_becomes_a_table_of_its_release_and_chip(file: Path, tmp_path: Path) -> None:
    (written,) = build_from_probe(str(file), tmp_path / "own")
    assert written == tmp_path / "own" / "measured" / "2.13.0" / "ascend910b.json"
    assert list(problems_of(written, "measured")) == []
    table = load(written, MeasuredFile)
    assert sorted(table.ops) == ["aten::add.Tensor", "aten::mul.Tensor"]
    first = next(r for r in table.ops["aten::add.Tensor"].rows if r.status == "native")
    assert (first.cann, first.dtypes, first.rank, first.kernels) == ("9.1.0", "float32 float32", 2, ("aclnnAdd",))
    assert table.ops["aten::mul.Tensor"].rows[0].detail == "161002: dtype is not supported"
    assert [source.table for source in table.sources] == ["probe.json"]


def test_a_scan_takes_it_with_its_provenance(file: Path, tmp_path: Path) -> None:
    ops = {name: native("aclnnAdd") for name in ("aten::add.Tensor", "aten::mul.Tensor")}
    launch = row("float32 float32", "aclnnAdd[T:float32 T:float32 T:float32]")
    root = write_matrix(
        tmp_path / "matrix",
        adapter("2.13.0", ops),
        observed("2.13.0", dict.fromkeys(ops, (launch,))),
        cann("9.1.0", {"aclnnAdd": api("float32", other=("float32",))}),
    )
    build_from_probe(str(file), root)
    judge = Judge(Matrix.load(Target("2.13.0", "9.1.0", "ascend910b"), root), {}, "2.13.0")

    def ruled(name: str, dtype: str) -> tuple[str, str | None, str]:
        spec = TensorSpec(dtype, (4, 5))
        ruling = judge.call(OpCall(name, "forward", (spec, spec), (spec,)))
        return ruling.verdict, ruling.rule, " ".join(e.kind for e in ruling.evidence if e.kind == "npu")

    assert ruled("aten::add.Tensor", "float32") == ("supported", None, "npu")
    assert ruled("aten::add.Tensor", "float16") == ("unsupported", "OPS109", "npu")
    assert ruled("aten::mul.Tensor", "float32") == ("unsupported", "OPS106", "npu")


def test_a_second_probe_is_added_and_a_newer_answer_counts(file: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    build_from_probe(str(file), own)
    later = tmp_path / "later.json"
    later.write_text(
        render_probed(
            probed(
                (signature(dtype="float16"), Outcome("native", versions=VERSIONS)),
                (signature("aten::div.Tensor"), Outcome("native", versions=VERSIONS)),
            )
        )
    )
    (written,) = build_from_probe(str(later), own)
    table = load(written, MeasuredFile)
    assert sorted(table.ops) == ["aten::add.Tensor", "aten::div.Tensor", "aten::mul.Tensor"]
    assert {r.status for r in table.ops["aten::add.Tensor"].rows} == {"native"}
    assert build_from_probe(str(later), own) == [written]
    assert load(written, MeasuredFile) == table


def test_the_cache_is_a_source_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = ResultStore.open(VERSIONS)
    store.put(signature(), Outcome("native", versions=VERSIONS))
    (from_cache,) = build_from_probe("cache", tmp_path / "a")
    (from_file,) = build_from_probe(str(store.path), tmp_path / "b")
    assert load(from_cache, MeasuredFile).ops == load(from_file, MeasuredFile).ops


def test_a_simulated_device_measures_nothing(tmp_path: Path) -> None:
    simulated = Versions("2.13.0", "2.13.0", "9.1.0", "Ascend910B3", simulated=True)
    path = tmp_path / "probe.json"
    path.write_text(render_probed(probed((signature(), Outcome("native", versions=simulated)), versions=simulated)))
    with pytest.raises(UsageError, match="simulated device"):
        build_from_probe(str(path), tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_a_chip_that_nobody_knows_is_named(tmp_path: Path) -> None:
    other = Versions("2.13.0", "2.13.0", "9.1.0", "Tensorium 9")
    path = tmp_path / "probe.json"
    path.write_text(render_probed(probed((signature(), Outcome("native", versions=other)), versions=other)))
    with pytest.raises(UsageError, match="Tensorium 9"):
        build_from_probe(str(path), tmp_path / "own")


def test_a_damaged_operation_is_named_by_its_line(file: Path, tmp_path: Path) -> None:
    lines = file.read_text().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if '"aten::mul.Tensor"' in line)
    lines[number - 1] = lines[number - 1].replace('"refused"', '"gone"')
    file.write_text("\n".join(lines))
    with pytest.raises(ResultsError, match=rf"probe\.json: line {number}: "):
        build_from_probe(str(file), tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_a_file_broken_off_is_named_with_its_line(file: Path, tmp_path: Path) -> None:
    whole = file.read_text()
    file.write_text(whole[: whole.index("aten::mul.Tensor")])
    with pytest.raises(ResultsError, match=r"probe\.json: line \d+: "):
        build_from_probe(str(file), tmp_path / "own")


def test_a_damaged_line_of_a_cache_file_is_named(tmp_path: Path) -> None:
    store = ResultStore.open(VERSIONS, folder=tmp_path)
    store.put(signature(), Outcome("native", versions=VERSIONS))
    store.path.write_text(store.path.read_text() + '{"method":\n')
    with pytest.raises(ResultsError, match=r"\.jsonl: line 2: "):
        build_from_probe(str(store.path), tmp_path / "own")


@pytest.mark.parametrize("content", ["[]", "{}", '{"schema": 9, "kind": "probe"}', "", '{"schema": 1, "kind": "scan"}'])
def test_what_is_no_file_of_a_probe_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(ResultsError, match=r"other\.json"):
        build_from_probe(str(path), tmp_path / "own")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"nothing\.json"):
        build_from_probe(str(tmp_path / "nothing.json"), tmp_path)


def test_rendered_files_read_back(file: Path) -> None:
    assert len(json.loads(file.read_text())["ops"]) == 4
