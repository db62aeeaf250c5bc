"""What a source tree says, as rows of the raw tables: the same columns as ``aclnn_by_soc``, ``aclnn_signatures``,
``ge_ops_by_soc`` and ``onnx_ops``, with the notes of a page already applied.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from opscan.matrix.build.source_tree.definitions import Kernel, read_ai_cpu_json, read_definition
from opscan.matrix.build.source_tree.documents import Api, Document, read_document
from opscan.matrix.build.source_tree.onnx_plugins import read_plugin
from opscan.matrix.build.source_tree.tree import Tree, find_trees

Row = dict[str, str]

_TESTS = re.compile(r"(?:^|/)(?:tests?|examples?|scripts?|cmake)/")
_DOCUMENT = re.compile(r"(?:^|/)docs?/aclnn[A-Z][^/]*\.md$")
_EXPERIMENTAL = re.compile(r"(?:^|/)experimental/")


@dataclass(slots=True)
class Summary:
    """What was read and what was not: pages, definitions and plugins with a reason each."""

    counts: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, Counter[str]] = field(default_factory=dict)

    def skip(self, what: str, reason: str) -> None:
        self.left_out.setdefault(what, Counter())[reason] += 1

    def lines(self) -> list[str]:
        """One line for each kind of file."""
        found = []
        for what in sorted({*self.counts, *self.left_out}):
            skipped = self.left_out.get(what, Counter())
            reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
            found.append(f"{what}: {self.counts[what]} read" + (f", not used: {reasons}" if reasons else ""))
        return found


@dataclass(slots=True)
class SourceRows:
    """``trees``: name and commit of every repository."""

    aclnn: list[Row] = field(default_factory=list)
    signatures: list[Row] = field(default_factory=list)
    ge: list[Row] = field(default_factory=list)
    onnx: list[Row] = field(default_factory=list)
    trees: list[tuple[str, str]] = field(default_factory=list)
    summary: Summary = field(default_factory=Summary)


def read_source(directory: Path, release: str) -> SourceRows:
    """Every row that the repositories at ``directory`` hold, labelled as ``release``.

    A snapshot without a tag of the release is left out where others have one. Raises UsageError where there is no
    repository.
    """
    rows, trees = SourceRows(), find_trees(directory, release)
    if any(tree.exact for tree in trees):
        for tree in (t for t in trees if not t.exact):
            rows.summary.skip("repositories", f"{tree.name} without a tag or branch of {release}")
        trees = [tree for tree in trees if tree.exact]
    rows.summary.counts["repositories"] = len(trees)
    for tree in trees:
        rows.trees.append((tree.name, tree.commit))
        files = [path for path in tree.files() if not _TESTS.search(path)]
        _documents(tree, files, release, rows)
        _definitions(tree, files, release, rows)
        _plugins(tree, files, release, rows)
    return rows


def _origin(tree: Tree, release: str, path: str) -> Row:
    return {"cann_release": release, "repo": tree.name, "source": path, "commit": tree.commit}


def _documents(tree: Tree, files: list[str], release: str, rows: SourceRows) -> None:
    pages = [path for path in files if _DOCUMENT.search(path) and not _EXPERIMENTAL.search(path)]
    for path, text in tree.read(pages):
        document, origin = read_document(text), _origin(tree, release, path)
        if document.problem:
            rows.summary.skip("API pages", document.problem)
        else:
            rows.summary.counts["API pages"] += 1
        rows.summary.counts["notes of API pages"] += sum(len(api.notes) for api in document.apis)
        for skipped in document.skipped:
            rows.summary.skip("notes of API pages", skipped.reason)
        rows.aclnn += _aclnn(document, origin)
        for api, declared in document.signatures.items():
            rows.signatures.append({**origin, "aclnn_api": api, "signature": ";".join(declared)})


def _aclnn(document: Document, origin: Row) -> list[Row]:
    return [
        {
            **origin,
            "aclnn_api": api.name,
            "soc": soc,
            "supported": "1" if supported else "0",
            "param_dtypes": _param_dtypes(api, soc),
            "ranks": ";".join(f"{p.name}:{p.ranks}" for p in api.parameters if p.ranks),
        }
        for api in document.apis
        for soc, supported in document.supported.items()
    ]


def _param_dtypes(api: Api, soc: str) -> str:
    accepted = api.accepted(soc)
    return ";".join(f"{p.io} {p.name}={'|'.join(accepted[p.name] or ('-',))}" for p in api.parameters)


def _definitions(tree: Tree, files: list[str], release: str, rows: SourceRows) -> None:
    sources = [path for path in files if path.endswith("_def.cpp")]
    described = [path for path in files if path.endswith(".json") and "/op_kernel_aicpu/" in f"/{path}"]
    for path, text in tree.read([*sources, *described]):
        if path.endswith(".json"):
            kernels = read_ai_cpu_json(text)
        else:
            kernels = read_definition(text, ai_cpu=path.endswith("_aicpu_def.cpp"))
        if kernels:
            rows.summary.counts["operator definitions"] += 1
        else:
            rows.summary.skip("operator definitions", "without a kernel in a known form")
        rows.ge += [_ge(kernel, _origin(tree, release, path)) for kernel in kernels]


def _ge(kernel: Kernel, origin: Row) -> Row:
    return {
        **origin,
        "ge_op": kernel.op,
        "soc": kernel.soc,
        "dtypes": kernel.dtypes(),
        "n_dtype_combos": str(kernel.combinations()),
        "engine": kernel.engine,
        "experimental": "1" if _EXPERIMENTAL.search(origin["source"]) else "0",
        "evidence": kernel.evidence,
    }


def _plugins(tree: Tree, files: list[str], release: str, rows: SourceRows) -> None:
    sources = [path for path in files if path.endswith(".cpp") and re.search(r"onnx|(?:^|/)framework/", path)]
    for path, text in tree.read(sources):
        found = read_plugin(text)
        rows.summary.counts["ONNX plugins"] += bool(found)
        rows.onnx += [
            {
                **_origin(tree, release, path),
                "domain": one.domain,
                "op": one.op,
                "opset_min": str(one.opsets[0]),
                "opset_max": str(one.opsets[-1]),
                "opsets": " ".join(map(str, one.opsets)),
                "ge_op": one.ge,
                "expands_to_subgraph": "1" if one.subgraph else "0",
            }
            for one in found
        ]
