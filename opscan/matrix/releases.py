"""Which torch_npu release, CANN release and SoC a scan is for: defaults, aliases, and what is not documented."""

from __future__ import annotations

import difflib
import re
from typing import get_args

from opscan.errors import UsageError
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import ReleasesFile, SocsFile, load
from opscan.target import Route, Target

DEFAULT_SOC = "ascend910b"


def resolve_target(
    torch_npu: str | None = None,
    cann: str | None = None,
    soc: str | None = None,
    route: str = "eager",
    host_torch: str | None = None,
) -> tuple[Target, tuple[str, ...]]:
    """The target in canonical spellings, and warnings about it.

    ``None`` takes the default: the newest torch_npu release of the matrix for ``host_torch`` (else the newest of all),
    the CANN release it is documented for (else the newest of the matrix), ascend910b. Raises UsageError for what is
    unknown.
    """
    root = support_matrix_dir()
    releases = load(root / "releases.json", ReleasesFile)
    chosen_npu = _torch_npu(torch_npu, host_torch, releases)
    chosen_cann = _cann(cann, chosen_npu, releases)
    chosen_soc, warnings = _soc(soc or DEFAULT_SOC, load(root / "socs.json", SocsFile))
    if route not in get_args(Route):
        raise _unknown("route", route, get_args(Route))
    warnings += _pairing(chosen_npu, chosen_cann, releases)
    return Target(chosen_npu, chosen_cann, chosen_soc, route), warnings  # type: ignore[arg-type]


def torch_npu_releases() -> tuple[str, ...]:
    """torch_npu releases of the matrix, from the oldest to the newest."""
    releases = load(support_matrix_dir() / "releases.json", ReleasesFile)
    return tuple(r for r in releases.torch_npu_order if releases.torch_npu[r].table)


def _torch_npu(asked: str | None, host_torch: str | None, releases: ReleasesFile) -> str:
    tables = [r for r in releases.torch_npu_order if releases.torch_npu[r].table]
    if asked is None:
        host = (host_torch or "").partition("+")[0]
        return [r for r in tables if releases.torch_npu[r].torch == host or not _has(host, tables, releases)][-1]
    if asked in tables:
        return asked
    if asked in releases.torch_npu:
        raise UsageError(
            f"torch_npu {asked} exists, but the support matrix holds no registrations of it",
            f"Releases in the matrix: {', '.join(tables)}.",
        )
    raise _unknown("torch_npu release", asked, tables)


def _has(host: str, tables: list[str], releases: ReleasesFile) -> bool:
    return any(releases.torch_npu[r].torch == host for r in tables)


def _cann(asked: str | None, torch_npu: str, releases: ReleasesFile) -> str:
    if asked is None:
        documented = [r for r in releases.cann_order if r in releases.torch_npu[torch_npu].cann]
        return (documented or [r for r in releases.cann_order if releases.cann[r].socs])[-1]
    if asked in releases.cann:
        return asked
    raise _unknown("CANN release", asked, releases.cann_order)


def _soc(asked: str, socs: SocsFile) -> tuple[str, tuple[str, ...]]:
    """The canonical SoC. Its exact spelling never warns: ``Ascend910B`` does, ``ascend910b`` does not."""
    if asked in socs.socs:
        return asked, ()
    for soc, entry in socs.socs.items():
        for alias, warning in entry.warned.items():
            if _plain(alias) == _plain(asked):
                return soc, (warning,)
    for soc, entry in socs.socs.items():
        if _plain(asked) in {_plain(name) for name in (soc, *entry.aliases)}:
            return soc, ()
    names = [name for soc, entry in socs.socs.items() for name in (*entry.warned, *entry.aliases, soc)]
    raise _unknown("SoC", asked, names, shown=tuple(socs.socs))


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-]", "", name).lower()


def _pairing(torch_npu: str, cann: str, releases: ReleasesFile) -> tuple[str, ...]:
    entry = releases.torch_npu[torch_npu]
    lines = {re.sub(r"\d+$", "X", cann)}
    if cann in entry.cann or ({cann} | lines) & set(entry.compatible):
        return ()
    documented = (
        f"its documents name CANN {', '.join(entry.cann)}" if entry.cann else "no CANN release is documented for it"
    )
    return (f"torch_npu {torch_npu} is not documented for CANN {cann}: {documented}.",)


def _unknown(what: str, asked: str, names: tuple[str, ...] | list[str], shown: tuple[str, ...] = ()) -> UsageError:
    """Names the nearest spelling, and lists what there is."""
    spelled = {name.lower(): name for name in names}
    near = difflib.get_close_matches(asked.lower(), spelled, n=1, cutoff=0.5)
    hint = f"Did you mean {spelled[near[0]]}? " if near else ""
    return UsageError(f"unknown {what} {asked!r}", f"{hint}Known: {', '.join(shown or names)}.")
