"""API pages as tables: notes in place of lists, several pages for one API; and the AI Core lists of each SoC."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from opscan.matrix.build.aclnn import Listed, Notes, read_pages
from opscan.matrix.build.ai_cpu import ai_core_casts, ai_cpu_dtypes


def _row(soc: str, supported: str, dtypes: str, source: str = "fold.md", ranks: str = "") -> dict[str, str]:
    row = {"cann_release": "9.1.0", "aclnn_api": "aclnnFold", "soc": soc, "supported": supported}
    return {**row, "param_dtypes": dtypes, "ranks": ranks, "repo": "ops", "source": source, "commit": "c" * 40}


def test_a_list_after_the_notes_takes_the_place_of_the_listed_one() -> None:
    table = pd.DataFrame([_row("a", "1", "in self=double|bool;in other=-", ranks="self:0-8")])
    notes: Notes = {
        ("aclnnFold", "9.1.0", "fold.md"): {
            "self": Listed("in", frozenset({"float64"})),
            "other": Listed("in", frozenset({"int8"})),
        },
        ("aclnnFold", "9.0.0", "fold.md"): {"self": Listed("in", frozenset({"int4"}))},
    }
    page = read_pages(table, "a", notes)["aclnnFold"]["9.1.0"]
    assert page.params["self"] == Listed("in", frozenset({"float64"}), "0-8", frozenset({"bool"}))
    assert page.params["other"].dtypes == {"int8"}
    assert read_pages(table, "b", notes) == {}


def test_of_two_pages_those_that_support_the_api_count() -> None:
    rows = [_row("a", "0", "in self=int8", "one.md"), _row("a", "1", "in self=bool", "two.md")]
    rows += [_row("a", "1", "in self=float16", "three.md"), _row("a", "0", "in self=int4", "four.md")]
    page = read_pages(pd.DataFrame(rows), "a", {})["aclnnFold"]["9.1.0"]
    assert page.supported
    assert page.params["self"].dtypes == {"bool", "float16"}
    assert page.source == "ops two.md @cccccccccccc"


def _write(root: Path, name: str, head: str, *rows: str) -> None:
    (root / "sources").mkdir(exist_ok=True)
    pd.DataFrame([row.split(",") for row in rows], columns=head.split(",")).to_csv(
        root / "sources" / f"{name}.csv.gz", index=False
    )


def test_what_the_ai_cpu_computes_differs_by_soc(tmp_path: Path) -> None:
    head = "cann_release,soc,aclnn_api,ai_cpu,depends"
    slow, fast = "9.1.0,ascend910b,aclnnFold,float64|int64,", "9.1.0,ascend950,aclnnFold,,int64"
    _write(tmp_path, "aclnn_engines", head, slow, fast, "9.1.0,ascend950,aclnnBend,int8,")
    _write(tmp_path, "aicore_casts", "cann_release,soc,from,to", "9.1.0,ascend950,int8,float16")
    assert ai_cpu_dtypes(tmp_path, "9.1.0", "ascend910b") == {"aclnnFold": frozenset({"float64", "int64"})}
    assert ai_cpu_dtypes(tmp_path, "9.1.0", "ascend950dt") == {"aclnnBend": frozenset({"int8"})}
    assert ai_cpu_dtypes(tmp_path, "9.1.0", "ascend310p") == {}
    assert ai_core_casts(tmp_path, "9.1.0", "ascend950pr") == (("int8", "float16"),)
    assert ai_core_casts(tmp_path, "8.5.0", "ascend950pr") == ()


def test_the_installed_release_is_as_slow_as_the_first_one_with_sources(tmp_path: Path) -> None:
    _write(tmp_path, "aclnn_engines", "cann_release,soc,aclnn_api,ai_cpu,depends", "8.5.0,ascend910b,aclnnMul,int8,")
    _write(tmp_path, "aicore_casts", "cann_release,soc,from,to", "8.5.0,ascend910b,int8,float16")
    assert ai_cpu_dtypes(tmp_path, "8.1.RC1", "ascend910b") == {"aclnnMul": frozenset({"int8"})}
    assert ai_core_casts(tmp_path, "8.1.RC1", "ascend910b") == (("int8", "float16"),)
    assert ai_cpu_dtypes(tmp_path, "9.0.0", "ascend910b") == {}
