"""What CANN's API pages say of each aclnn API on one SoC, with borrowing and conflicts between releases settled."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from opscan.matrix.build.tables import CANN_RELEASES, INSTALLED, read_table
from opscan.matrix.files import Api, Parameter

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
Signature = tuple[tuple[str, str], ...]


class Listed(NamedTuple):
    """One parameter on a page. ``dtypes`` is None where the page gives no list; without those that a note excludes."""

    io: str
    dtypes: Dtypes | None
    ranks: str = ""
    excluded: Dtypes = frozenset()


class Page(NamedTuple):
    """What one release's documentation says of one API on one SoC."""

    supported: bool
    params: dict[str, Listed]
    source: str


#: API → release → page.
Pages = dict[str, dict[str, Page]]


@dataclass(frozen=True, slots=True)
class Documentation:
    """The pages of one SoC over all releases, and which APIs the installed CANN 8.1.RC1 declares."""

    pages: Pages
    signatures: dict[str, list[tuple[str, Signature]]]
    headers: frozenset[str]

    def apis(self, release: str) -> dict[str, Api]:
        """The APIs that ``release`` has, as far as documents of any release and installed headers tell."""
        found = {}
        for api, by_release in self.pages.items():
            origin = self.origin(api, release)
            if origin is not None:
                found[api] = _api(by_release, _ordered(self.signatures.get(api, []), release), release, origin)
        return found

    def origin(self, api: str, release: str) -> str | None:
        """The release whose page tells of an API at ``release``; None where nothing shows that it exists there.

        Its own page, else the newest earlier one (a beta documents less than it holds); else, where installed headers
        show that the API is older than its first page, that page. A borrowed page tells of support only, never of
        absence.
        """
        pages, order = self.pages[api], CANN_RELEASES.index(release)
        if release in pages:
            return release
        earlier = [r for r in CANN_RELEASES[:order] if r in pages and pages[r].supported]
        if earlier:
            return earlier[-1]
        later = [r for r in CANN_RELEASES[order:] if r in pages and pages[r].supported]
        return later[0] if later and api in self.headers else None


def documentation(root: Path, soc: str) -> Documentation:
    """What the raw tables hold of one SoC."""
    headers = frozenset(read_table(root, f"aclnn_headers_{INSTALLED}")["aclnn_api"])
    pages = read_pages(read_table(root, "aclnn_by_soc"), soc, _notes(read_table(root, "aclnn_notes"), soc))
    return Documentation(pages, read_signatures(read_table(root, "aclnn_signatures")), headers)


#: (API, release, page) → parameters whose lists are not those of ``aclnn_by_soc``.
Notes = dict[tuple[str, str, str], dict[str, "Listed"]]


def _notes(table: pd.DataFrame, soc: str) -> Notes:
    """The lists that notes below the parameter tables, or a product's own line, change for one SoC."""
    found: Notes = defaultdict(dict)
    for row in table.to_dict("records"):
        if soc in row["socs"].split():
            listed = Listed(_io(row["io"], row["parameter"]), frozenset(row["dtypes"].split("|")))
            found[row["aclnn_api"], row["cann_release"], row["source"]][row["parameter"]] = listed
    return found


def read_signatures(table: pd.DataFrame) -> dict[str, list[tuple[str, Signature]]]:
    """API → [(release, ((kind, name), …))]. Parameters of other C types have kind ``v``."""
    found: dict[str, list[tuple[str, Signature]]] = defaultdict(list)
    for row in table.to_dict("records"):
        matches = [re.match(r"(?:const\s+)?(.+?)\s*(\w+)$", part.strip()) for part in row["signature"].split(";")]
        typed = [(m[1].replace(" ", ""), m[2]) for m in matches if m]
        kinds = tuple((_KINDS.get(t, "v"), name) for t, name in typed if t not in _UNSEEN | _TRAILING)
        found[row["aclnn_api"]].append((row["cann_release"], kinds))
    return found


def _ordered(signatures: list[tuple[str, Signature]], release: str) -> tuple[Signature, ...]:
    """Distinct signatures, this release's first."""
    return tuple(dict.fromkeys(s for _, s in sorted(signatures, key=lambda s: s[0] != release)))


def read_pages(table: pd.DataFrame, soc: str, notes: Notes) -> Pages:
    """The pages of one SoC. Of several pages for one API those that support it count, united."""
    pages: Pages = defaultdict(dict)
    for row in table[table["soc"] == soc].to_dict("records"):
        api, release, supported = row["aclnn_api"], row["cann_release"], row["supported"] == "1"
        source = f"{row['repo']} {row['source']} @{row['commit'][:12]}"
        listed = _united(_listed(row), notes.get((api, release, row["source"]), {}), replacing=True)
        before = pages[api].get(release)
        if before is None or (supported and not before.supported):
            pages[api][release] = Page(supported, listed, source)
        elif supported or not before.supported:
            pages[api][release] = before._replace(params=_united(before.params, listed))
    return pages


def _listed(row: dict[Any, Any]) -> dict[str, Listed]:
    """The parameters of a row. Repeated ones are united; ``-`` or nothing is no list."""
    ranks = dict(part.partition(":")[::2] for part in filter(None, row["ranks"].split(";")))
    found: dict[str, Listed] = {}
    for part in filter(None, row["param_dtypes"].split(";")):
        declared, _, listed = part.partition("=")
        io, _, name = declared.partition(" ")
        dtypes = frozenset("float64" if d == "double" else d for d in listed.split("|"))
        known = None if dtypes & {"-", ""} else dtypes
        found = _united(found, {name: Listed(_io(io, name), known, read_ranks(ranks.get(name, "")))})
    return found


def _io(io: str, name: str) -> str:
    """What an in-place API changes is its input too, though some pages call it a result alone."""
    return "in" if name == "selfRef" else io


def _united(one: dict[str, Listed], other: dict[str, Listed], *, replacing: bool = False) -> dict[str, Listed]:
    """Parameters of both; a list of ``other`` is added to that of ``one``, or takes its place."""
    found = dict(one)
    for name, listed in other.items():
        old = found.get(name, listed)
        both = None if listed.dtypes is None or old.dtypes is None else listed.dtypes | old.dtypes
        dtypes = listed.dtypes if replacing else both
        excluded = old.excluded | listed.excluded | ((old.dtypes or frozenset()) if replacing else frozenset())
        found[name] = Listed(listed.io, dtypes, old.ranks, excluded - (dtypes or frozenset()))
    return found


#: Numbers of dimensions as pages write them: ``0-8``, ``1、2``, "at most 8 dimensions" in Chinese.
_RANKS = re.compile(r"(\d)(?:-(\d))?")
_AT_MOST = re.compile(r"不(?:超过|大于)(\d)维?")


def read_ranks(text: str) -> str:
    """Ranks as ``0-8`` or ``1|2``; empty where the page says it in another way."""
    text = text.strip().replace("~", "-")
    if match := _AT_MOST.fullmatch(text):
        return f"0-{match[1]}"
    parts = re.split(r"[、,，/]", text)
    return "|".join(parts) if all(_RANKS.fullmatch(part) for part in parts) else ""


def _api(pages: dict[str, Page], signatures: tuple[Signature, ...], release: str, origin: str) -> Api:
    """The entry of one API at one release, told by the page of release ``origin``."""
    own = pages[origin]
    borrowed = "" if origin == release else origin
    disputed = "" if own.supported else _contradiction(pages, release)
    params = {name: _parameter(name, listed, pages, release, borrowed) for name, listed in own.params.items()}
    return Api(own.supported, signatures, params, borrowed=borrowed, disputed=disputed, source=own.source)


def _contradiction(pages: dict[str, Page], release: str) -> str:
    """What an earlier release says against a documented absence."""
    order = CANN_RELEASES.index(release)
    earlier = [r for r in CANN_RELEASES[:order] if r in pages and pages[r].supported]
    return f"CANN {earlier[-1]} documents it as supported" if earlier else ""


def _parameter(name: str, listed: Listed, pages: dict[str, Page], release: str, borrowed: str) -> Parameter:
    order = CANN_RELEASES.index(release)
    before, after = CANN_RELEASES[:order][::-1], CANN_RELEASES[order + 1 :]
    others = {r: pages[r].params[name].dtypes for r in (*before, *after) if r in pages and name in pages[r].params}
    io, known, ranks, excluded = listed
    if known is None:
        for other, dtypes in others.items():
            if dtypes:
                return Parameter(io, tuple(sorted(dtypes)), other, ranks=ranks)
        return Parameter(io, ranks=ranks)
    if io == "out":
        return Parameter(io, tuple(sorted(known)), borrowed, ranks=ranks)
    disputed: set[str] = set()
    for other, dtypes in others.items():
        if dtypes and (other in before or (len(known) == 1 and len(dtypes) >= 3)):
            disputed |= dtypes - known
    by_note = tuple(sorted(excluded))
    return Parameter(io, tuple(sorted(known)), borrowed, tuple(sorted(disputed)), ranks=ranks, excluded=by_note)
