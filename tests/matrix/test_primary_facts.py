"""Facts read by hand from primary sources, not from the tables that the matrix is built from: it must agree with them.

Each entry of ``facts/*.toml`` holds a question, its answer and where that was read. Where a built table disagrees, read
the source again: one of the two is wrong.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from opscan.errors import UsageError
from opscan.matrix import Matrix
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import (
    Api,
    CannFile,
    GeKernel,
    GeOp,
    OnnxFile,
    RegistrationsFile,
    ReleasesFile,
    TorchairFile,
    load,
)
from opscan.matrix.releases import resolve_target
from opscan.routes.routes import answer
from opscan.target import Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Fact = dict[str, Any]

FACTS = Path(__file__).with_name("facts")
ROOT = support_matrix_dir()


def facts(name: str, *spread: str) -> list[Any]:
    """The entries of ``facts/<name>.toml``; an entry that names several of ``spread`` is one fact for each of them."""
    found: list[Fact] = tomllib.loads((FACTS / f"{name}.toml").read_text(encoding="utf-8"))["fact"]
    for key in spread:
        found = [{**fact, key: value} for fact in found for value in fact[key]]
    keys = (*spread, "op", "api", "torch_npu")
    return [
        pytest.param(fact, id="-".join(dict.fromkeys(str(fact[k]) for k in keys if k in fact)) or f"fact{index}")
        for index, fact in enumerate(found)
    ]


@cache
def registrations(release: str) -> RegistrationsFile:
    return load(ROOT / "torch_npu" / f"{release}.json", RegistrationsFile)


@cache
def torchair(release: str) -> TorchairFile:
    return load(ROOT / "torchair" / f"{release}.json", TorchairFile)


@cache
def cann(release: str, soc: str) -> CannFile:
    return load(ROOT / "cann" / release / f"{soc}.json", CannFile)


@cache
def onnx(release: str) -> OnnxFile:
    return load(ROOT / "onnx" / f"{release}.json", OnnxFile)


@cache
def releases() -> ReleasesFile:
    return load(ROOT / "releases.json", ReleasesFile)


@cache
def matrix(target: Target) -> Matrix:
    return Matrix.load(target)


@pytest.mark.parametrize("name", sorted(path.stem for path in FACTS.glob("*.toml")))
def test_every_fact_says_where_it_was_read(name: str) -> None:
    for fact in tomllib.loads((FACTS / f"{name}.toml").read_text(encoding="utf-8"))["fact"]:
        assert len(fact["source"]) > 10


@pytest.mark.parametrize("fact", facts("registrations", "releases"))
def test_registration(fact: Fact) -> None:
    entry = registrations(fact["releases"]).ops.get(fact["op"])
    keys = set(entry.keys) if entry else set()
    assert bool(keys & {"PrivateUse1", "AutogradPrivateUse1"}) is fact["registered"]
    assert set(fact.get("keys", ())) <= keys
    assert not set(fact.get("no_keys", ())) & keys
    if entry:
        assert set(fact.get("impl", ())) <= set(entry.impl)
        assert not set(fact.get("no_impl", ())) & set(entry.impl)
        assert entry.hidden_cpu is fact.get("hidden_cpu", entry.hidden_cpu)


@pytest.mark.parametrize("fact", facts("torchair", "releases"))
def test_converter(fact: Fact) -> None:
    converter = torchair(fact["releases"]).ops.get(fact["op"])
    assert (converter.status if converter else "absent") == fact["status"]
    if converter:
        assert set(fact.get("ge", ())) <= set(converter.ge)
        assert set(fact.get("declared", ())) <= {dtype for case in converter.declared for dtype in case}


@pytest.mark.parametrize("fact", facts("aclnn", "cann", "socs"))
def test_api(fact: Fact) -> None:
    api = cann(fact["cann"], fact["socs"]).apis.get(fact["api"])
    if fact["supported"] == "unknown":
        assert api is None or api.borrowed or api.disputed
        return
    assert api is not None
    assert api.supported is fact["supported"]
    if "parameter" in fact:
        _check_parameter(api, fact)


def _check_parameter(api: Api, fact: Fact) -> None:
    parameter = api.params[fact["parameter"]]
    accepted = set(parameter.dtypes)
    assert set(fact.get("listed", ())) <= accepted - set(parameter.disputed)
    assert not set(fact.get("refused", ())) & (accepted - set(parameter.contested))
    assert parameter.ranks == fact.get("ranks", parameter.ranks)
    assert not set(fact.get("ai_core", ())) & set(api.ai_cpu)
    assert set(fact.get("ai_cpu", ())) <= set(api.ai_cpu)
    for dtype in fact.get("doubtful", ()):
        assert dtype in {*parameter.contested, *parameter.disputed} or (dtype not in accepted and parameter.corrected)


@pytest.mark.parametrize("fact", facts("graph_engine", "cann", "socs"))
def test_graph_engine_operator(fact: Fact) -> None:
    op = cann(fact["cann"], fact["socs"]).ge.get(fact["op"])
    if fact["kernel"] == "unknown":
        assert op is None or not op.absent
        return
    assert op is not None
    assert _engine(op) == fact["kernel"]
    if "parameter" in fact:
        kernels = [kernel for kernel in op.kernels if kernel.engine == fact["kernel"] and not kernel.experimental]
        accepted = {dtype for kernel in kernels for dtype in _dtypes(kernel, fact["parameter"])}
        assert set(fact.get("listed", ())) <= accepted
        assert not set(fact.get("refused", ())) & accepted


def _engine(op: GeOp) -> str:
    if op.absent:
        return "none"
    engines = {kernel.engine for kernel in op.kernels if not kernel.experimental}
    return "ai_core" if "ai_core" in engines else "ai_cpu" if "ai_cpu" in engines else "unknown"


def _dtypes(kernel: GeKernel, parameter: str) -> tuple[str, ...]:
    return next((p.dtypes for p in kernel.params if p.name == parameter), ())


@pytest.mark.parametrize("fact", facts("onnx", "cann"))
def test_onnx_operator(fact: Fact) -> None:
    op = onnx(fact["cann"]).ops.get(fact["op"])
    assert (op is not None) is fact.get("parsed", True)
    if op:
        assert set(fact.get("accepts", ())) <= set(op.opsets)
        assert not set(fact.get("refuses", ())) & set(op.opsets)
        assert set(fact.get("ge", ())) <= set(op.ge)
        assert op.subgraph is fact.get("subgraph", op.subgraph)


@pytest.mark.parametrize("fact", facts("releases"))
def test_releases(fact: Fact) -> None:
    known = releases()
    assert not set(fact.get("no_such_cann", ())) & {*known.cann_order, *known.cann}
    for key in ("cann_order", "torch_npu_order"):
        assert [r for r in getattr(known, key) if r in fact.get(key, ())] == fact.get(key, [])
    if "torch_npu" not in fact:
        return
    release = known.torch_npu[fact["torch_npu"]]
    assert release.torch == fact["torch"]
    assert list(release.cann) == fact.get("cann", list(release.cann))
    assert not set(fact.get("no_cann", ())) & set(release.cann)
    assert set(fact.get("python", ())) <= set(release.python)
    assert not set(fact.get("no_python", ())) & set(release.python)
    assert "driver" not in fact or any(driver.startswith(fact["driver"]) for driver in release.driver)


@pytest.mark.parametrize("fact", facts("socs", "names"))
def test_soc(fact: Fact) -> None:
    if not fact["soc"]:
        with pytest.raises(UsageError):
            resolve_target(soc=fact["names"])
        return
    target, warnings = resolve_target("2.13.0", "9.1.0", fact["names"])
    assert target.soc == fact["soc"]
    named = {w.en for w in warnings if "not documented for CANN" not in w.en}
    assert bool(named) is fact.get("warns", False)


@pytest.mark.parametrize("fact", facts("verdicts", "torch_npu", "cann", "socs", "dtypes"))
def test_verdict(fact: Fact) -> None:
    target = Target(fact["torch_npu"], fact["cann"], fact["socs"], fact["route"])
    given = answer(matrix(target), fact["route"], fact["op"], fact["dtypes"])
    assert given.ruling.verdict in fact["verdict"], given.ruling
