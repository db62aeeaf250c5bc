"""Operator repositories on disk: work trees, unpacked archives and bare git snapshots, read alike."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from opscan.errors import UsageError

#: Names by which CANN's operator repositories are known, wherever they lie.
_KNOWN = re.compile(r"ops-(?:math|nn|cv|transformer)")

#: What only an operator repository has.
_OPERATORS = re.compile(r"^(?:[^/]+/){2,4}(?:op_host/[^/]+_def\.cpp|docs?/aclnn[^/]+\.md)$")

#: Folders of a work tree that hold nothing to read.
_SKIPPED = frozenset({".git", "build", "third_party", "output"})


@dataclass(frozen=True, slots=True)
class Tree:
    """One repository at one state. ``ref``: the git object to read from; empty: the files as they lie there.

    ``exact``: a snapshot has a tag or branch of the release asked for. A work tree is taken for what the user says.
    """

    path: Path
    name: str
    commit: str
    ref: str = ""
    exact: bool = True

    def files(self) -> list[str]:
        """Every file, as a path below the top, sorted."""
        if self.ref:
            listed = _git(self.path, "ls-tree", "-r", "-z", "--name-only", self.ref)
            return sorted(filter(None, listed.decode("utf-8", "replace").split("\0")))
        found = []
        for folder, folders, names in os.walk(self.path):
            folders[:] = [name for name in folders if name not in _SKIPPED]
            found += [(Path(folder) / name).relative_to(self.path).as_posix() for name in names]
        return sorted(found)

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """(path, text); what is no UTF-8 is replaced, what cannot be read is left out."""
        if self.ref:
            yield from self._from_git(list(paths))
            return
        for path in paths:
            try:
                yield path, (self.path / path).read_text("utf-8", "replace")
            except OSError:
                continue

    def _from_git(self, paths: list[str]) -> Iterator[tuple[str, str]]:
        asked = "\n".join(f"{self.ref}:{path}" for path in paths if "\n" not in path)
        answer, position = _git(self.path, "cat-file", "--batch", given=asked.encode()), 0
        for path in paths:
            end = answer.index(b"\n", position)
            header = answer[position:end].split()
            if len(header) != 3:
                position = end + 1
                continue
            size = int(header[2])
            yield path, answer[end + 1 : end + 1 + size].decode("utf-8", "replace")
            position = end + 2 + size


def find_trees(directory: Path, release: str) -> list[Tree]:
    """The operator repositories at ``directory`` or up to two folders below it, by name.

    Of a bare snapshot the tag (``v9.1.0``) or branch of the release is read; its HEAD where it has neither. Raises
    UsageError where there is none.
    """
    if not directory.is_dir():
        raise UsageError(f"{directory}: not a folder", "Give a checkout of CANN operator repositories.")
    candidates = [directory, *sorted(directory.glob("*")), *sorted(directory.glob("*/*"))]
    trees: list[Tree] = []
    for path in candidates:
        if path.is_dir() and not any(path.is_relative_to(tree.path) for tree in trees):
            tree = _tree(path, release)
            if tree is not None:
                trees.append(tree)
    if not trees:
        raise UsageError(
            f"{directory}: no CANN operator repository (looked for <family>/<operator>/op_host or docs/aclnn….md)",
            "Give a checkout of ops-math, ops-nn, ops-cv or ops-transformer, or a folder that holds some.",
        )
    return sorted(trees, key=lambda tree: tree.name)


def _tree(path: Path, release: str) -> Tree | None:
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        ref = next((r for r in (f"v{release}", release, "HEAD") if _commit(path, r)), "")
        tree = Tree(path, _name(path), _commit(path, ref), ref, ref != "HEAD")
        return tree if ref and any(map(_OPERATORS.search, tree.files())) else None
    if any(path.glob("*/*/op_host")) or any(path.glob("*/*/docs/aclnn*.md")):
        return Tree(path, _name(path), _commit(path, "HEAD") if (path / ".git").exists() else "")
    return None


def _name(path: Path) -> str:
    for folder in (path, *list(path.resolve().parents)[:2]):
        if match := _KNOWN.search(folder.name):
            return match[0]
    return path.resolve().name


def _commit(path: Path, ref: str) -> str:
    """The commit of a ref; empty where there is none."""
    try:
        return _git(path, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
    except UsageError:
        return ""


def _git(path: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", "-c", f"safe.directory={path.resolve()}", "-C", str(path), *arguments]
    try:
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout
    except FileNotFoundError as error:
        raise UsageError("git is not installed", "Install git, or give an unpacked checkout without .git.") from error
    except subprocess.CalledProcessError as error:
        message = error.stderr.decode("utf-8", "replace").strip()
        raise UsageError(f"{path}: git {arguments[0]}: {message}", "Check that the snapshot is complete.") from error
