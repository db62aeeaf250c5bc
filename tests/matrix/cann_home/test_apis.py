from __future__ import annotations

from pathlib import Path

from opscan.matrix.build.cann_home.headers import signatures

from .trees import ADD, CORE, HEADER, build, library, old_toolkit, put, table


def test_signatures_of_headers() -> None:
    assert signatures(HEADER) == {
        "aclnnAdd": (("T", "self"), ("T", "other"), ("S", "alpha"), ("v", "flag"), ("I", "dim"), ("T", "out")),
        "aclnnNew": (("L", "x"),),
    }


def test_an_api_without_a_header_is_absent(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    gone = table(tmp_path, "ascend910b").apis["aclnnGone"]
    assert (gone.supported, gone.source) == (False, "headers of the installed toolkit")
    assert not gone.params


def test_an_api_that_a_library_exports_exists(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    symbols = library(b"\x00aclnnGoneGetWorkspaceSize\x00")
    put(root, f"{CORE}/op_api/lib/linux/aarch64/libopapi.so", symbols)
    build(root, tmp_path)
    assert table(tmp_path, "ascend910b").apis["aclnnGone"].supported


def test_without_headers_nothing_is_absent(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    (root / f"{CORE}/op_api/include/aclnnop/aclnn_add.h").unlink()
    told = build(root, tmp_path)
    assert table(tmp_path, "ascend910b").apis["aclnnGone"].supported
    assert "the toolkit has no aclnn headers: the packaged tables answer" in told


def test_a_documented_signature_of_the_same_kinds_keeps_its_names(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    add = table(tmp_path, "ascend910b").apis["aclnnAdd"]
    assert add.signatures[0] == ADD
    assert len(add.signatures) == 2
    assert add.params["self"].dtypes == ("float16",)


def test_a_signature_that_only_the_header_has_comes_first(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    declared = "aclnnStatus aclnnAddGetWorkspaceSize(const aclTensorList* x, uint64_t* size, aclOpExecutor** e);"
    put(root, f"{CORE}/op_api/include/aclnnop/aclnn_add.h", declared)
    build(root, tmp_path)
    assert table(tmp_path, "ascend910b").apis["aclnnAdd"].signatures[0] == (("L", "x"),)


def test_a_header_does_not_tell_that_a_soc_supports_an_api(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    new = table(tmp_path, "ascend910b").apis["aclnnNew"]
    assert (new.supported, new.disputed, new.source) == (False, "", "a page")
    assert table(tmp_path, "ascend310p").apis == {}, "no documents of this SoC: unknown"


def test_dtypes_of_the_nearest_release_are_marked(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path, "8.2.RC1"), tmp_path)
    apis = table(tmp_path, "ascend910b", "8.2.RC1").apis
    assert apis["aclnnAdd"].borrowed == apis["aclnnAdd"].params["self"].borrowed == "8.1.RC1"
    assert apis["aclnnNew"].disputed == (
        "only CANN 8.1.RC1 documents that, and the headers of the installed toolkit declare it"
    )


def test_an_older_release_than_every_table_takes_the_oldest(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path, "8.0.RC3"), tmp_path, tables="8.5.0")
    assert table(tmp_path, "ascend910b", "8.0.RC3").apis["aclnnAdd"].borrowed == "8.5.0"
