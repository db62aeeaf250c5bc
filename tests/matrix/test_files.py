"""Damaged files, and the schemas of all files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from opscan.errors import MatrixError
from opscan.matrix import Matrix
from opscan.matrix.files import SCHEMA, CannFile, load
from opscan.matrix.schema import check_schemas, load_schema
from opscan.target import Target


def _file(path: Path, **changes: object) -> Path:
    document = {"schema": SCHEMA, "release": "9.1.0", "soc": "ascend910b", "sources": [], "apis": {}}
    path.write_text(json.dumps({**document, **changes}), encoding="utf-8")
    return path


def test_a_sound_file_loads(tmp_path: Path) -> None:
    assert load(_file(tmp_path / "x.json"), CannFile).release == "9.1.0"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"schema": SCHEMA + 1}, "schema"),
        ({"apis": {"aclnnAbs": {"supported": "yes"}}}, "apis.aclnnAbs"),
        ({"apis": {"aclnnAbs": {}}}, "supported"),
        ({"release": 9}, "release"),
    ],
)
def test_a_fault_names_file_and_key(tmp_path: Path, changes: dict[str, object], key: str) -> None:
    path = _file(tmp_path / "x.json", **changes)
    with pytest.raises(MatrixError) as caught:
        load(path, CannFile)
    assert str(path) in caught.value.message
    assert key in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"apis": {}}'])
def test_what_is_no_matrix_file_is_an_error_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(MatrixError, match=r"x\.json"):
        load(path, CannFile)


def test_a_folder_without_a_matrix_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r"releases\.json: No such file"):
        Matrix.load(Target("2.13.0", "9.1.0", "ascend910b"), tmp_path)


def test_a_truncated_file_of_the_tree_is_named(tmp_path: Path, root: Path) -> None:
    copy = tmp_path / "support_matrix"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("sources"))
    damaged = copy / "cann" / "9.1.0" / "ascend910b.json"
    damaged.write_bytes(damaged.read_bytes()[:5000])
    with pytest.raises(MatrixError, match=r"9\.1\.0.ascend910b\.json"):
        Matrix.load(Target("2.13.0", "9.1.0", "ascend910b"), copy)


def test_every_file_fits_its_schema(root: Path) -> None:
    assert check_schemas(root) == []


def test_a_schema_refuses_what_it_does_not_know(tmp_path: Path, root: Path) -> None:
    shutil.copytree(root / "schema", tmp_path / "schema")
    (tmp_path / "releases.json").write_text('{"schema": 1, "extra": 0}', encoding="utf-8")
    problems = check_schemas(tmp_path)
    assert any("extra" in problem for problem in problems)
    assert all(problem.startswith("releases.json: ") for problem in problems)


def test_schemas_are_of_the_current_draft(root: Path) -> None:
    for path in (root / "schema").glob("*.schema.json"):
        schema = load_schema(root, path.name.removesuffix(".schema.json"))
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_override_cites_its_evidence(root: Path) -> None:
    seen: set[str] = set()
    for path in (root / "overrides").glob("*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        for claim in [*document.get("corrections", []), *document.get("statements", [])]:
            assert claim["id"] not in seen
            seen.add(claim["id"])
            assert len(claim["evidence"]) > 40
            assert "@" in claim["source"]
    assert len(seen) > 50
