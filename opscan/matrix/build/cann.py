"""``cann/<release>/<soc>.json``: what each aclnn API and graph-engine operator accepts, after every correction."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from opscan.matrix.build.aclnn import Documentation, Dtypes, documentation
from opscan.matrix.build.ai_cpu import CONVERTERS, ai_core_casts, ai_cpu_dtypes
from opscan.matrix.build.graph_engine import GraphEngine, graph_engine
from opscan.matrix.build.tables import CANN_RELEASES, INSTALLED, MASTER
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, Api, CannFile, Correction, GeOp, Parameter, Source
from opscan.matrix.releases import load_overrides

SOCS = ("ascend310b", "ascend310p", "ascend910", "ascend910b", "ascend910_93", "ascend950pr", "ascend950dt")

#: SoCs on which the adapter compiles graph-engine operators: there, an API may be absent and its operator present.
_LEGACY = frozenset({"ascend310b", "ascend310p", "ascend910"})

#: SoCs that came after the installed release.
_LATER = frozenset({"ascend950pr", "ascend950dt"})

#: (CANN release, SoC) of every file.
TARGETS = tuple(
    (release, soc)
    for release in CANN_RELEASES
    for soc in SOCS
    if release != MASTER and not (release == INSTALLED and soc in _LATER)
)

_SOURCES = (
    Source("aclnn_by_soc.csv.gz"),
    Source("aclnn_notes.csv.gz", "lists after the notes below the parameter tables"),
    Source("aclnn_signatures.csv.gz"),
    Source("aclnn_headers_8.1.RC1.csv.gz", "existence"),
    Source("ge_ops_by_soc.csv.gz", "graph-engine operators"),
    Source("ge_kernels_8.1.RC1.csv.gz", "dtypes that op-info leaves open"),
    Source("ge_implementations_8.1.RC1.csv.gz", "the same, as implementations state them"),
    Source("aclnn_engines.csv.gz", "ai_cpu"),
    Source("aicore_casts.csv.gz", "ai_core_casts"),
)


def build(root: Path) -> dict[str, bytes]:
    files = {}
    for soc in SOCS:
        pages, operators = documentation(root, soc), graph_engine(root, soc)
        for release in (r for r, s in TARGETS if s == soc):
            file = cann_file(root, release, soc, pages, operators)
            files[f"cann/{release}/{soc}.json"] = render(file, ("apis", "ge"))
    return files


def cann_file(root: Path, release: str, soc: str, pages: Documentation, operators: GraphEngine) -> CannFile:
    """The table of one release and SoC; overrides and the tables of engines lie below ``root``."""
    slow, casts = ai_cpu_dtypes(root, release, soc), ai_core_casts(root, release, soc)
    corrections = corrections_for(root, release, soc)
    apis, ge = {}, operators.ops(release)
    installed = operators.ops(INSTALLED) if soc in _LEGACY else {}
    for name, api in pages.apis(release).items():
        if _came_later(name, api, release, installed):
            continue
        entry = bare_if_absent(corrected(name, api, corrections))
        entry = with_ai_cpu(entry, slow.get(name, frozenset()))
        if not entry.supported and not entry.disputed and soc not in _LEGACY:
            entry = replace(entry, disputed=_defined(name, ge))
        apis[name] = replace(entry, ai_core_casts=casts) if name in CONVERTERS else entry
    return CannFile(SCHEMA, release, soc, _SOURCES, apis, ge)


def _came_later(name: str, api: Api, release: str, installed: Mapping[str, GeOp]) -> bool:
    """Whether an API's only page is a later release's, and the installed release lacked its operator on the SoC: when
    it came is not known.
    """
    later = CANN_RELEASES[CANN_RELEASES.index(release) + 1 :]
    operator = installed.get(name.removeprefix("aclnn").removeprefix("Inplace"))
    return api.borrowed in later and operator is not None and operator.absent


def _defined(api: str, ge: Mapping[str, GeOp]) -> str:
    """What the operator definitions of a release say against the documented absence of an API on the same SoC.

    An API and its operator may be capitalised differently: ``aclnnHardshrink`` launches ``HardShrink``.
    """
    base = api.removeprefix("aclnn").removeprefix("Inplace")
    backward = base.removesuffix("Backward")
    names = (base,) if backward == base else (base, f"{backward}Grad", f"{backward}V2Grad", f"{backward}GradV2")
    folded = {name.casefold() for name in names}
    for name in (operator for operator in ge if operator.casefold() in folded):
        for kernel in ge[name].kernels:
            if kernel.engine == "ai_core" and not kernel.borrowed and not kernel.experimental:
                return f"the definition of {name} has an AI Core kernel for it ({kernel.source})"
    return ""


def documented(root: Path, release: str, soc: str) -> frozenset[str]:
    """The APIs that a CANN release has, as far as documents of it, of earlier releases and installed headers tell."""
    return frozenset(documentation(root, soc).apis(release))


def corrections_for(root: Path, release: str, soc: str) -> list[Correction]:
    """Reviewed corrections that are meant for a release and SoC."""
    files = load_overrides((root,))
    return [c for f in files for c in f.corrections if soc in c.socs and (not c.cann or release in c.cann)]


def corrected(name: str, entry: Api, corrections: list[Correction]) -> Api:
    """The entry of an API after the corrections of it."""
    for c in corrections:
        if c.api != name:
            continue
        params = {**entry.params, **{p: _changed(entry.params.get(p), c) for p in c.parameters}}
        entry = replace(
            entry,
            supported=entry.supported if c.supported is None else c.supported,
            signatures=(c.signature, *entry.signatures) if c.signature else entry.signatures,
            params=params,
            corrected=entry.corrected if c.parameters else c.id,
            disputed=c.disputed or entry.disputed,
        )
    return entry


def _changed(old: Parameter | None, c: Correction) -> Parameter:
    """A correction settles what it names; its other disputed dtypes stay so."""
    old = old or Parameter("in")
    dtypes = set(c.dtypes or old.dtypes) | set(c.add)
    return replace(
        old,
        dtypes=tuple(sorted(dtypes - set(c.remove))),
        borrowed="" if c.dtypes else old.borrowed,
        disputed=() if c.dtypes else tuple(d for d in old.disputed if d not in {*c.add, *c.remove}),
        contested=tuple(sorted({*old.contested, *c.contested})),
        corrected=c.id,
    )


def bare_if_absent(entry: Api) -> Api:
    """What is not there takes no dtypes, whatever its page lists for other SoCs."""
    return entry if entry.supported else replace(entry, signatures=(), params={})


def with_ai_cpu(entry: Api, dtypes: Dtypes) -> Api:
    """Only dtypes that an input of the API accepts without dispute; ``self:int64`` is for that input alone."""
    inputs = {name: p for name, p in entry.params.items() if p.io != "out"}
    disputed = {d for p in inputs.values() for d in p.contested}
    accepted = {(name, d) for name, p in inputs.items() for d in p.dtypes if d not in disputed}
    known = {d for _, d in accepted} | {f"{name}:{d}" for name, d in accepted}
    return replace(entry, ai_cpu=tuple(sorted(dtypes & known)))
