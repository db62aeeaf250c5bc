"""``cann/<release>/<soc>.json``: what each aclnn API accepts, with borrowing and conflicts between releases settled."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from opscan.matrix.build.ai_cpu import CONVERTERS, ai_core_casts, ai_cpu_dtypes, operator_of
from opscan.matrix.build.legacy import legacy_apis
from opscan.matrix.build.tables import DOCUMENTED_RELEASES, read_table
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, Api, CannFile, Correction, OverridesFile, Parameter, Source, load

TARGETS = (("8.5.0", "ascend910b"), ("9.1.0", "ascend910b"))

#: Kind letters of the launch log. Floating-point parameters are left out: the log does not see them.
_KINDS = {
    "aclTensor*": "T",
    "clTensor*": "T",  # a misprint of one page
    "aclTensorList*": "L",
    "aclScalar*": "S",
    "aclScalarList*": "Z",
    "aclIntArray*": "I",
    "aclBoolArray*": "B",
    "aclFloatArray*": "F",
}
_UNSEEN = frozenset({"double", "float"})
#: Not parameters of the operator: the trailing out-pointers of every ``GetWorkspaceSize`` that some pages leave in.
_TRAILING = frozenset({"uint64_t*", "aclOpExecutor**"})

Dtypes = frozenset[str]


class Page(NamedTuple):
    """What one release's documentation says of one API on one SoC. A parameter without a list has None."""

    supported: bool
    params: dict[str, tuple[str, Dtypes | None]]
    source: str


def build(root: Path) -> dict[str, bytes]:
    signatures = _signatures(root)
    corrections = [
        c for path in sorted((root / "overrides").glob("*.json")) for c in load(path, OverridesFile).corrections
    ]
    files, headers = {}, _headers(root)
    for release, soc in TARGETS:
        pages = _pages(root, soc)
        slow = ai_cpu_dtypes(root, release)
        apis = {}
        for api, by_release in pages.items():
            origin = _origin(api, by_release, release, headers)
            if origin is not None:
                entry = _api(by_release, _ordered(signatures[api], release), release, origin)
                entry = _corrected(api, entry, corrections, release, soc)
                apis[api] = _with_ai_cpu(entry, slow.get(operator_of(api), frozenset()))
        for api in CONVERTERS:
            apis[api] = replace(apis[api], ai_core_casts=ai_core_casts(root, release))
        apis |= legacy_apis(root, release, soc)
        file = CannFile(SCHEMA, release, soc, _SOURCES, apis)
        files[f"cann/{release}/{soc}.json"] = render(file, ("apis",))
    return files


_SOURCES = (
    Source("aclnn_by_soc.csv.gz"),
    Source("aclnn_signatures.csv.gz"),
    Source("aclnn_headers_8.1.RC1.csv.gz", "existence"),
    Source("ge_ops_ascend910b.csv.gz", "ai_cpu and the legacy path"),
    Source("aicore_dtypes_ascend910b.csv.gz", "ai_cpu"),
)


def documented(root: Path, release: str, soc: str) -> frozenset[str]:
    """The APIs that a CANN release has, as far as documents of it, of earlier releases and installed headers tell."""
    pages, old = _pages(root, soc), _headers(root)
    return frozenset(api for api, by_release in pages.items() if _origin(api, by_release, release, old) is not None)


def _headers(root: Path) -> frozenset[str]:
    """APIs declared by the headers of an installed CANN 8.1.RC1, older than every documented release."""
    return frozenset(read_table(root, "aclnn_headers_8.1.RC1")["aclnn_api"])


def _origin(api: str, pages: dict[str, Page], release: str, headers: frozenset[str]) -> str | None:
    """The release whose page tells of an API at ``release``; None where nothing shows that it exists there.

    Its own page, else the newest earlier one; else, where installed headers show that the API is older than its first
    page, that page.
    """
    order = DOCUMENTED_RELEASES.index(release)
    if release in pages:
        return release
    earlier = [r for r in DOCUMENTED_RELEASES[:order] if r in pages and pages[r].supported]
    if earlier:
        return earlier[-1]
    later = [r for r in DOCUMENTED_RELEASES[order:] if r in pages and pages[r].supported]
    return later[0] if later and api in headers else None


def _signatures(root: Path) -> dict[str, list[tuple[str, tuple[tuple[str, str], ...]]]]:
    """API → [(release, ((kind, name), …))]. Parameters of other C types have kind ``v``."""
    found: dict[str, list[tuple[str, tuple[tuple[str, str], ...]]]] = defaultdict(list)
    for row in read_table(root, "aclnn_signatures").to_dict("records"):
        matches = [re.match(r"(?:const\s+)?(.+?)\s*(\w+)$", part.strip()) for part in row["signature"].split(";")]
        typed = [(m[1].replace(" ", ""), m[2]) for m in matches if m]
        kinds = tuple((_KINDS.get(t, "v"), name) for t, name in typed if t not in _UNSEEN | _TRAILING)
        found[row["aclnn_api"]].append((row["cann_release"], kinds))
    return found


def _ordered(
    signatures: list[tuple[str, tuple[tuple[str, str], ...]]], release: str
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Distinct signatures, this release's first."""
    return tuple(dict.fromkeys(s for _, s in sorted(signatures, key=lambda s: s[0] != release)))


def _pages(root: Path, soc: str) -> dict[str, dict[str, Page]]:
    """API → release → page. Repeated parameters are united; ``-`` or nothing is no list."""
    table = read_table(root, "aclnn_by_soc")
    pages: dict[str, dict[str, Page]] = defaultdict(dict)
    for row in table[table["soc"] == soc].to_dict("records"):
        source = f"{row['repo']} {row['source']} @{row['commit'][:12]}"
        page = pages[row["aclnn_api"]].setdefault(row["cann_release"], Page(row["supported"] == "1", {}, source))
        for part in filter(None, row["param_dtypes"].split(";")):
            declared, _, listed = part.partition("=")
            io, _, name = declared.partition(" ")
            dtypes = frozenset("float64" if d == "double" else d for d in listed.split("|"))
            known = None if dtypes & {"-", ""} else dtypes
            if name in page.params:
                before = page.params[name][1]
                known = None if known is None or before is None else known | before
            page.params[name] = io, known
    return pages


def _api(pages: dict[str, Page], signatures: tuple[tuple[tuple[str, str], ...], ...], release: str, origin: str) -> Api:
    """The entry of one API at one release, told by the page of release ``origin``."""
    own = pages[origin]
    borrowed = "" if origin == release else origin
    params = {name: _parameter(name, io, known, pages, release, borrowed) for name, (io, known) in own.params.items()}
    disputed = "" if own.supported else _contradiction(pages, release)
    return Api(own.supported, signatures, params, borrowed=borrowed, disputed=disputed, source=own.source)


def _contradiction(pages: dict[str, Page], release: str) -> str:
    """What an earlier release says against a documented absence."""
    order = DOCUMENTED_RELEASES.index(release)
    earlier = [r for r in DOCUMENTED_RELEASES[:order] if r in pages and pages[r].supported]
    return f"CANN {earlier[-1]} documents it as supported" if earlier else ""


def _parameter(
    name: str, io: str, known: Dtypes | None, pages: dict[str, Page], release: str, borrowed: str
) -> Parameter:
    order = DOCUMENTED_RELEASES.index(release)
    before, after = DOCUMENTED_RELEASES[:order][::-1], DOCUMENTED_RELEASES[order + 1 :]
    listed = {r: pages[r].params[name][1] for r in (*before, *after) if r in pages and name in pages[r].params}
    if known is None:
        for other, dtypes in listed.items():
            if dtypes:
                return Parameter(io, tuple(sorted(dtypes)), other)
        return Parameter(io)
    if io == "out":
        return Parameter(io, tuple(sorted(known)), borrowed)
    disputed: set[str] = set()
    for other, dtypes in listed.items():
        if dtypes and (other in before or (len(known) == 1 and len(dtypes) >= 3)):
            disputed |= dtypes - known
    return Parameter(io, tuple(sorted(known)), borrowed, tuple(sorted(disputed)))


def _corrected(api: str, entry: Api, corrections: list[Correction], release: str, soc: str) -> Api:
    """The entry after every reviewed correction that is meant for it."""
    for c in corrections:
        if c.api != api or soc not in c.socs or (c.cann and release not in c.cann):
            continue
        params = {**entry.params, **{name: _changed(entry.params.get(name), c) for name in c.parameters}}
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


def _with_ai_cpu(entry: Api, dtypes: Dtypes) -> Api:
    """Only dtypes that an input of the API accepts without dispute."""
    inputs = [p for p in entry.params.values() if p.io != "out"]
    accepted = {d for p in inputs for d in p.dtypes} - {d for p in inputs for d in p.contested}
    return replace(entry, ai_cpu=tuple(sorted(dtypes & accepted)))
