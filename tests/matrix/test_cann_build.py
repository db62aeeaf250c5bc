"""Reviewed corrections and the AI CPU's dtypes, as they change the entry of an API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from small_matrix import api, write_matrix

from opscan.matrix.build.cann import (
    SOCS,
    TARGETS,
    _came_later,
    _defined,
    bare_if_absent,
    corrected,
    corrections_for,
    with_ai_cpu,
)
from opscan.matrix.files import SCHEMA, Api, Correction, GeKernel, GeOp, OverridesFile, Parameter


def correction(ident: str = "fix", **changes: Any) -> Correction:
    about = {"api": "aclnnAbs", "socs": ("ascend910b",), "evidence": "e", "source": "page @0", "date": "2026-01-01"}
    return Correction(ident, **{**about, **changes})


def changed(old: Parameter, **changes: Any) -> Parameter:
    entry = corrected("aclnnAbs", Api(True, params={"self": old}), [correction(parameters=("self",), **changes)])
    assert entry.corrected == ""  # the parameter says it
    return entry.params["self"]


def test_a_list_is_replaced_and_then_settled() -> None:
    old = Parameter("in", ("bool",), "8.5.0", disputed=("int8",))
    assert changed(old, dtypes=("int8", "float32")) == Parameter("in", ("float32", "int8"), corrected="fix")


def test_dtypes_are_added_and_removed_and_the_rest_stays_as_doubtful_as_it_was() -> None:
    old = Parameter("in", ("bool", "float32"), "8.5.0", disputed=("int8", "int16"))
    assert changed(old, add=("int8",), remove=("bool",)) == Parameter(
        "in", ("float32", "int8"), "8.5.0", disputed=("int16",), corrected="fix"
    )


def test_contested_dtypes_stay_listed() -> None:
    old = Parameter("in", ("bool", "float32"))
    assert changed(old, contested=("bool",)) == Parameter(
        "in", ("bool", "float32"), contested=("bool",), corrected="fix"
    )


def test_a_parameter_that_no_page_lists() -> None:
    entry = corrected("aclnnAbs", Api(True), [correction(parameters=("other",), dtypes=("bool",))])
    assert entry.params == {"other": Parameter("in", ("bool",), corrected="fix")}


def test_an_api_is_declared_absent_present_or_disputed() -> None:
    absent = corrected("aclnnAbs", api("float32"), [correction(supported=False)])
    assert (absent.supported, absent.corrected) == (False, "fix")
    disputed = corrected("aclnnAbs", Api(False), [correction(disputed="the adapter launches it")])
    assert (disputed.supported, disputed.disputed, disputed.corrected) == (False, "the adapter launches it", "fix")


def test_an_api_that_is_there_after_all_takes_what_its_page_lists() -> None:
    page = msgspec.structs.replace(api("float32"), supported=False)
    present = bare_if_absent(corrected("aclnnAbs", page, [correction(supported=True)]))
    assert present == msgspec.structs.replace(api("float32"), corrected="fix")
    assert bare_if_absent(page) == Api(False, source=page.source)


def test_the_true_signature_comes_first() -> None:
    old, true = (("T", "self"),), (("T", "self"), ("T", "out"))
    entry = corrected("aclnnAbs", Api(True, (old,)), [correction(signature=true)])
    assert entry.signatures == (true, old)


def test_other_apis_stay_as_they_are() -> None:
    entry = api("float32")
    assert corrected("aclnnNeg", entry, [correction(supported=False)]) is entry


@pytest.mark.parametrize(
    ("release", "soc", "found"),
    [("9.1.0", "ascend910b", ["all", "one"]), ("8.5.0", "ascend910b", ["all"]), ("9.1.0", "ascend910", [])],
)
def test_corrections_of_a_release_and_soc(tmp_path: Path, release: str, soc: str, found: list[str]) -> None:
    file = OverridesFile(
        SCHEMA, (correction("all", supported=True), correction("one", supported=True, cann=("9.1.0",)))
    )
    write_matrix(tmp_path, file)
    assert [c.id for c in corrections_for(tmp_path, release, soc)] == found


def test_the_ai_cpu_computes_only_what_the_api_accepts_without_dispute() -> None:
    entry = Api(
        True,
        params={
            "self": Parameter("in", ("float32", "int64", "complex64"), contested=("complex64",)),
            "out": Parameter("out", ("float64",)),
        },
    )
    assert with_ai_cpu(entry, frozenset({"int64", "float64", "complex64", "int8"})).ai_cpu == ("int64",)


def test_there_is_a_table_for_each_soc_from_its_first_release_on() -> None:
    assert {soc for release, soc in TARGETS if release == "9.1.0"} == set(SOCS)
    assert {soc for release, soc in TARGETS if release == "8.1.RC1"} == set(SOCS) - {"ascend950pr", "ascend950dt"}
    assert not any(release == "master" for release, _ in TARGETS)


def test_a_definition_of_the_same_soc_disputes_a_documented_absence() -> None:
    """On chips that take aclnn; on those of the legacy path an API may be absent and its operator there."""
    kernel = GeKernel("ai_core", source="softplus_def.cpp")
    ge = {"Softplus": GeOp((kernel,)), "Gather": GeOp((replace(kernel, borrowed="8.1.RC1"),))}
    assert "softplus_def.cpp" in _defined("aclnnSoftplus", ge)
    assert _defined("aclnnInplaceSoftplus", ge) == _defined("aclnnSoftplus", ge)
    assert "softplus_def.cpp" in _defined("aclnnSoftPlus", ge)  # spelled in two ways
    assert _defined("aclnnGather", ge) == _defined("aclnnErfc", ge) == ""


def test_a_later_page_tells_nothing_of_what_the_installed_release_lacked() -> None:
    later, own = Api(True, borrowed="9.1.0"), Api(True)
    lacked = {"Gate": GeOp(absent=True, source="op-info"), "Abs": GeOp((GeKernel("ai_core"),))}
    assert _came_later("aclnnGate", later, "8.5.0", lacked)
    assert not _came_later("aclnnGate", own, "9.1.0", lacked)
    assert not _came_later("aclnnGate", later, "9.2.0-beta.1", lacked)  # borrowed from an earlier one
    assert not _came_later("aclnnAbs", later, "8.5.0", lacked)
    assert not _came_later("aclnnOther", later, "8.5.0", lacked)
