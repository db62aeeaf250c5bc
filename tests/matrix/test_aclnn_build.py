"""From API pages to what an API accepts on a SoC: borrowing, conflicts, notes, signatures."""

from __future__ import annotations

import pandas as pd
import pytest

from opscan.matrix.build.aclnn import Documentation, Listed, Notes, read_pages, read_ranks, read_signatures
from opscan.matrix.files import Api, Parameter

COLUMNS = ("cann_release", "aclnn_api", "soc", "supported", "param_dtypes", "ranks", "repo", "source", "commit")


def page(
    release: str, params: str, supported: str = "1", soc: str = "ascend910b", api: str = "aclnnAbs", **more: str
) -> tuple[str, ...]:
    place = more.get("source", "abs.md")
    return (release, api, soc, supported, params, more.get("ranks", ""), "ops-math", place, "0123456789abcdef")


def apis(
    release: str, *rows: tuple[str, ...], headers: tuple[str, ...] = (), notes: Notes | None = None
) -> dict[str, Api]:
    pages = read_pages(pd.DataFrame(rows, columns=COLUMNS), "ascend910b", notes or {})
    return Documentation(pages, {}, frozenset(headers)).apis(release)


def parameter(release: str, *rows: tuple[str, ...], notes: Notes | None = None) -> Parameter:
    return apis(release, *rows, notes=notes)["aclnnAbs"].params["self"]


def test_a_page() -> None:
    found = apis("9.1.0", page("9.1.0", "in self=double|float16;out out=float16", ranks="self:0-8;out:1、2"))
    assert found == {
        "aclnnAbs": Api(
            True,
            params={
                "self": Parameter("in", ("float16", "float64"), ranks="0-8"),
                "out": Parameter("out", ("float16",), ranks="1|2"),
            },
            source="ops-math abs.md @0123456789ab",
        )
    }


def test_pages_of_other_socs_say_nothing() -> None:
    assert apis("9.1.0", page("9.1.0", "in self=float32", soc="ascend910")) == {}


def test_a_documented_absence() -> None:
    found = apis("9.1.0", page("9.1.0", "in self=float32", "0"))["aclnnAbs"]
    assert (found.supported, found.disputed) == (False, "")
    # For a reviewed correction that the SoC has it after all.
    assert found.params == {"self": Parameter("in", ("float32",))}


def test_an_absence_that_an_earlier_release_contradicts_is_disputed() -> None:
    rows = page("8.5.0", "in self=float32"), page("9.1.0", "in self=float32", "0")
    assert apis("9.1.0", *rows)["aclnnAbs"].disputed == "CANN 8.5.0 documents it as supported"


@pytest.mark.parametrize(
    ("asked", "documented", "headers", "borrowed"),
    [
        ("9.2.0-beta.1", ("8.5.0", "9.1.0"), (), "9.1.0"),  # the newest earlier one
        ("8.1.RC1", ("9.0.0", "9.1.0"), ("aclnnAbs",), "9.0.0"),  # older than its first page
        ("8.1.RC1", ("9.0.0",), (), None),
        ("9.0.0", ("9.1.0",), (), None),
    ],
)
def test_a_release_without_a_page(
    asked: str, documented: tuple[str, ...], headers: tuple[str, ...], borrowed: str | None
) -> None:
    found = apis(asked, *(page(r, "in self=float32") for r in documented), headers=headers)
    if borrowed is None:
        assert found == {}
    else:
        assert found["aclnnAbs"].borrowed == borrowed
        assert found["aclnnAbs"].params["self"] == Parameter("in", ("float32",), borrowed)


def test_an_absence_is_not_borrowed() -> None:
    assert apis("9.2.0-beta.1", page("9.1.0", "in self=float32", "0")) == {}


def test_a_list_that_is_left_out_is_taken_from_the_release_before_else_after() -> None:
    before, bare, after = (page(r, f"in self={d}") for r, d in (("8.5.0", "int8"), ("9.0.0", "-"), ("9.1.0", "bool")))
    assert parameter("9.0.0", before, bare, after) == Parameter("in", ("int8",), "8.5.0")
    assert parameter("9.0.0", bare, after) == Parameter("in", ("bool",), "9.1.0")
    assert parameter("9.0.0", bare) == Parameter("in")


def test_what_an_earlier_release_lists_is_disputed() -> None:
    rows = page("8.5.0", "in self=float32|int8"), page("9.1.0", "in self=float32|bool")
    assert parameter("9.1.0", *rows) == Parameter("in", ("bool", "float32"), disputed=("int8",))
    assert parameter("8.5.0", *rows) == Parameter("in", ("float32", "int8"))  # what is new later is no conflict


def test_one_dtype_where_a_later_release_has_several_is_disputed() -> None:
    rows = page("9.0.0", "in self=bool"), page("9.1.0", "in self=float32|float16|int8")
    assert parameter("9.0.0", *rows).disputed == ("float16", "float32", "int8")


def test_results_are_never_disputed() -> None:
    rows = page("8.5.0", "out out=float32|int8"), page("9.1.0", "out out=float32")
    assert apis("9.1.0", *rows)["aclnnAbs"].params["out"] == Parameter("out", ("float32",))


def test_repeated_parameters_and_pages_are_united() -> None:
    assert parameter("9.1.0", page("9.1.0", "in self=float32;in self=int8")).dtypes == ("float32", "int8")
    two = page("9.1.0", "in self=float32"), page("9.1.0", "in self=bool", source="other.md")
    assert parameter("9.1.0", *two).dtypes == ("bool", "float32")


def test_of_two_pages_the_one_that_supports_it_counts() -> None:
    rows = page("9.1.0", "in self=int8", "0"), page("9.1.0", "in self=float32", source="other.md")
    for ordered in (rows, rows[::-1]):
        found = apis("9.1.0", *ordered)["aclnnAbs"]
        assert (found.supported, found.params["self"].dtypes) == (True, ("float32",))


def test_a_note_below_the_table_replaces_its_list() -> None:
    notes: Notes = {("aclnnAbs", "9.1.0", "abs.md"): {"self": Listed("in", frozenset({"float32"}))}}
    rows = page("9.1.0", "in self=float32|complex64"), page("8.5.0", "in self=float32|complex64")
    assert parameter("9.1.0", *rows, notes=notes) == Parameter(
        "in", ("float32",), disputed=("complex64",), excluded=("complex64",)
    )
    assert parameter("8.5.0", *rows, notes=notes).dtypes == ("complex64", "float32")


def test_signatures() -> None:
    text = (
        "const aclTensor * self;aclTensorList *list;aclScalar* alpha;const aclIntArray *dims;double eps;bool keep;"
        "aclTensor* out;uint64_t* workspaceSize;aclOpExecutor** executor"
    )
    table = pd.DataFrame([("9.1.0", "aclnnX", text)], columns=["cann_release", "aclnn_api", "signature"])
    signature = (("T", "self"), ("L", "list"), ("S", "alpha"), ("I", "dims"), ("v", "keep"), ("T", "out"))
    assert read_signatures(table) == {"aclnnX": [("9.1.0", signature)]}


def test_the_releases_own_signature_comes_first() -> None:
    one, other = (("T", "self"),), (("T", "self"), ("T", "out"))
    pages = read_pages(pd.DataFrame([page("9.1.0", "in self=float32")], columns=COLUMNS), "ascend910b", {})
    documentation = Documentation(pages, {"aclnnAbs": [("8.5.0", one), ("9.1.0", other), ("9.2.0", one)]}, frozenset())
    assert documentation.apis("9.1.0")["aclnnAbs"].signatures == (other, one)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("0-8", "0-8"),
        (" 1~8", "1-8"),
        ("2、3,4/5", "2|3|4|5"),
        ("不超过8维", "0-8"),
        ("不大于8", "0-8"),
        ("same as self", ""),
        ("", ""),
    ],
)
def test_ranks(text: str, ranks: str) -> None:
    assert read_ranks(text) == ranks


def test_what_an_in_place_api_changes_is_its_input() -> None:
    changed = apis("9.1.0", page("9.1.0", "out selfRef=float32;out out=int8"))["aclnnAbs"].params
    assert (changed["selfRef"].io, changed["out"].io) == ("in", "out")
