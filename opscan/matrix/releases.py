"""Which torch_npu release, CANN release and SoC a scan is for: defaults, aliases, and what is not documented."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

from msgspec.structs import replace
from packaging.version import Version

from opscan.errors import MatrixError, UsageError
from opscan.matrix.data import find_table, is_there, matrix_roots
from opscan.matrix.files import CannRelease, OverridesFile, ReleasesFile, SocsFile, TorchNpuRelease, load, remedy
from opscan.target import Route, Target
from opscan.text import Text

DEFAULT_SOC = "ascend910b"


def resolve_target(
    torch_npu: str | None = None,
    cann: str | None = None,
    soc: str | None = None,
    route: str = "eager",
    host_torch: str | None = None,
) -> tuple[Target, tuple[Text, ...]]:
    """The target in canonical spellings, and warnings about it.

    ``None`` takes the default: the newest torch_npu release of the matrix for ``host_torch`` (else the newest of all),
    the CANN release it is documented for (else the newest of the matrix), ascend910b. Raises UsageError for what is
    unknown.
    """
    roots = matrix_roots()
    releases = load_releases(roots)
    chosen_npu = _torch_npu(torch_npu, host_torch, releases)
    chosen_cann = _cann(cann, chosen_npu, releases)
    chosen_soc, warnings = _soc(DEFAULT_SOC if soc is None else soc, load_socs(roots))
    if route not in get_args(Route):
        raise _unknown("route", route, get_args(Route))
    warnings += _pairing(chosen_npu, chosen_cann, releases) + _without_table(roots, chosen_cann, chosen_soc)
    warnings += without_soc(roots, chosen_npu, chosen_soc) if route != "offline" else ()
    return Target(chosen_npu, chosen_cann, chosen_soc, route), warnings  # type: ignore[arg-type]


def installed_torch() -> str | None:
    """The version of the torch that is installed, without importing it."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def part_of(name: str) -> str:
    """Which part of a target ``name`` names: ``torch_npu``, ``cann`` or ``soc``. Raises UsageError for none of them."""
    roots = matrix_roots()
    releases = load_releases(roots)
    if name in releases.torch_npu:
        return "torch_npu"
    if name in releases.cann:
        return "cann"
    socs = load_socs(roots)
    try:
        _soc(name, socs)
    except UsageError as error:
        known = [*torch_npu_releases(roots), *releases.cann_order, *socs.socs]
        raise _unknown("torch_npu release, CANN release or SoC", name, known) from error
    return "soc"


def canonical_soc(name: str, socs: SocsFile) -> str:
    """The SoC of the matrix that a name or alias stands for; empty where it stands for none."""
    try:
        return _soc(name, socs)[0]
    except UsageError:
        return ""


def is_documented(torch_npu: str, cann: str, releases: ReleasesFile) -> bool:
    """Whether the documents of a torch_npu release, or of the one it is like, name a CANN release as one to run on."""
    entry = documented_entry(torch_npu, releases)
    lines = {re.sub(r"\d+$", "X", cann)}
    return cann in entry.cann or bool(({cann} | lines) & set(entry.compatible))


def load_releases(roots: tuple[Path, ...]) -> ReleasesFile:
    """``releases.json`` of the matrix, with the releases that a user's own tables add.

    Raises MatrixError for a damaged file, or one whose parts do not fit each other.
    """
    *own, last = (root / "releases.json" for root in roots)
    merged = _load_releases(last)
    for file in (_load_releases(path) for path in reversed(own) if is_there(path)):
        merged = replace(
            merged,
            torch_npu={**merged.torch_npu, **file.torch_npu},
            cann={**merged.cann, **{r: _united(merged.cann.get(r), entry) for r, entry in file.cann.items()}},
            torch_npu_order=_merged(merged.torch_npu_order, file.torch_npu_order, Version),
            cann_order=_merged(merged.cann_order, file.cann_order, cann_key),
        )
    return merged


def _load_releases(path: Path) -> ReleasesFile:
    file = load(path, ReleasesFile)
    for key, order, known, parse in (
        ("torch_npu", file.torch_npu_order, file.torch_npu, Version),
        ("cann", file.cann_order, file.cann, cann_key),
    ):
        if set(order) != set(known):
            odd = min(set(order) ^ set(known))
            raise MatrixError(f"{path}: {odd} is in only one of {key} and {key}_order", remedy(path))
        for release in order:
            try:
                parse(release)
            except ValueError as error:
                raise MatrixError(f"{path}: key {key}.{release}: {error}", remedy(path)) from error
    return file


def _united(one: CannRelease | None, other: CannRelease) -> CannRelease:
    """What both say of one release: tables of either are there."""
    if one is None:
        return other
    return CannRelease(tuple(sorted({*one.socs, *other.socs})), other.nearest or one.nearest)


def _merged(order: tuple[str, ...], more: tuple[str, ...], key: Callable[[str], Any]) -> tuple[str, ...]:
    return order if set(more) <= set(order) else tuple(sorted({*order, *more}, key=key))


def load_overrides(roots: tuple[Path, ...]) -> list[OverridesFile]:
    """Every file of reviewed claims, in the order of ``roots``, then of names."""
    return [load(path, OverridesFile) for root in roots for path in sorted((root / "overrides").glob("*.json"))]


def load_socs(roots: tuple[Path, ...]) -> SocsFile:
    """``socs.json`` of the matrix."""
    return load(roots[-1] / "socs.json", SocsFile)


def torch_npu_releases(roots: tuple[Path, ...] | None = None) -> tuple[str, ...]:
    """torch_npu releases with a table, from the oldest to the newest."""
    releases = load_releases(roots or matrix_roots())
    return tuple(r for r in releases.torch_npu_order if releases.torch_npu[r].table)


def nearness(releases: ReleasesFile, release: str, other: str) -> tuple[int, int]:
    """A key that sorts torch_npu releases by how near they are to ``release``; of two equally near, the newer first."""
    order = {r: place for place, r in enumerate(releases.torch_npu_order)}
    here, there = order.get(release, len(order)), order.get(other, -len(order))
    return abs(here - there), -there


def cann_tables(roots: tuple[Path, ...], cann: str, soc: str) -> tuple[Path, ...]:
    """The table of a CANN release and SoC; where there is none, those of the nearest releases that have one."""
    own = find_table(roots, f"cann/{cann}/{soc}.json")
    if own is not None:
        return (own,)
    entry = load_releases(roots).cann.get(cann)
    near = (find_table(roots, f"cann/{r}/{soc}.json") for r in (entry.nearest if entry else ()))
    return tuple(path for path in near if path is not None)


def cann_key(release: str) -> tuple[int, int, bool, int, bool, str]:
    """The order of CANN releases: 8.0.RC3 comes before 8.0.0, 9.2.0-beta.1 before 9.2.0; a line (8.5.X) counts as its
    first release.
    """
    match = re.fullmatch(r"(\d+)\.(\d+)\.(RC)?(\d+|X)(.*)", release)
    if match is None:
        raise ValueError(f"not a CANN release: {release}")
    last = 0 if match[4] == "X" else int(match[4])
    candidate, final = bool(match[3]), not match[5].startswith("-")
    return int(match[1]), int(match[2]), not candidate, last, final, match[5]


def measured_tables(roots: tuple[Path, ...], torch_npu: str, soc: str) -> tuple[Path, ...]:
    """What probes measured with a torch_npu release on a SoC, the user's own first."""
    paths = (root / f"measured/{torch_npu}/{soc}.json" for root in roots)
    return tuple(path for path in paths if is_there(path))


def soc_of(name: str) -> str:
    """The matrix's name of a SoC, without a warning. Raises UsageError for one that it does not know."""
    return _soc(name, load_socs(matrix_roots()))[0]


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
        named = documented_entry(torch_npu, releases).cann
        documented = [r for r in releases.cann_order if r in named]
        return (documented or [r for r in releases.cann_order if releases.cann[r].socs and "-" not in r])[-1]
    if asked in releases.cann:
        return asked
    raise _unknown("CANN release", asked, releases.cann_order)


def documented_entry(torch_npu: str, releases: ReleasesFile) -> TorchNpuRelease:
    """The release itself; where no CANN release is documented for it, the one that it is most like."""
    entry = releases.torch_npu[torch_npu]
    return entry if entry.cann or entry.like not in releases.torch_npu else releases.torch_npu[entry.like]


def _soc(asked: str, socs: SocsFile) -> tuple[str, tuple[Text, ...]]:
    """The canonical SoC. Its exact spelling never warns: ``Ascend910B`` does, ``ascend910b`` does not."""
    if asked in socs.socs:
        return asked, ()
    for soc, entry in socs.socs.items():
        for alias, warning in entry.warned.items():
            if _plain(alias) == _plain(asked):
                return soc, (Text(warning, entry.warned_zh.get(alias, warning)),)
    for soc, entry in socs.socs.items():
        if _plain(asked) in {_plain(name) for name in (soc, *entry.aliases)}:
            return soc, ()
    names = [name for soc, entry in socs.socs.items() for name in (*entry.warned, *entry.aliases, soc)]
    raise _unknown("SoC", asked, names, shown=tuple(socs.socs))


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-]", "", name).lower()


def _pairing(torch_npu: str, cann: str, releases: ReleasesFile) -> tuple[Text, ...]:
    entry = documented_entry(torch_npu, releases)
    if is_documented(torch_npu, cann, releases):
        return ()
    en, zh = (
        f"torch_npu {torch_npu} is not documented for CANN {cann}",
        f"torch_npu {torch_npu} 的文档未提及 CANN {cann}",
    )
    if not entry.cann:
        return (Text(f"{en}: no CANN release is documented for it.", f"{zh}：没有文档说明它对应的 CANN 版本。"),)
    named, like = ", ".join(entry.cann), releases.torch_npu[torch_npu].like
    if releases.torch_npu[torch_npu].cann:
        return (Text(f"{en}: its documents name CANN {named}.", f"{zh}：其文档写明的是 CANN {named}。"),)
    return (
        Text(
            f"{en}: those of {like}, which it is like, name CANN {named}.",
            f"{zh}：与其同源的 {like} 的文档写明的是 CANN {named}。",
        ),
    )


def _without_table(roots: tuple[Path, ...], cann: str, soc: str) -> tuple[Text, ...]:
    if find_table(roots, f"cann/{cann}/{soc}.json") is not None:
        return ()
    near = [path.parent.name for path in cann_tables(roots, cann, soc)]
    en, zh = f"The matrix has no table of CANN {cann} on {soc}", f"支持矩阵没有 CANN {cann} 在 {soc} 上的数据表"
    if not near:
        return (Text(f"{en}: what kernels accept is unknown.", f"{zh}：内核接受的类型未知。"),)
    return (
        Text(
            f"{en}: the nearest, {' and '.join(near)}, answer where they agree.",
            f"{zh}：由最接近的版本 {'、'.join(near)} 在一致时作答。",
        ),
    )


def without_soc(roots: tuple[Path, ...], torch_npu: str, soc: str) -> tuple[Text, ...]:
    """The reviewed statement about every operator and dtype that the release does not know the SoC."""
    statements = [statement for file in load_overrides(roots) for statement in file.statements]
    if not any({"any"} <= {*s.ops} & {*s.dtypes} and soc in s.socs and torch_npu in s.torch_npu for s in statements):
        return ()
    return (
        Text(
            f"torch_npu {torch_npu} does not know {soc}: it raises before anything runs.",
            f"torch_npu {torch_npu} 不认识 {soc}：在运行任何算子之前就会报错。",
        ),
    )


def _unknown(what: str, asked: str, names: tuple[str, ...] | list[str], shown: tuple[str, ...] = ()) -> UsageError:
    """Names the nearest spelling, and lists what there is."""
    spelled = {name.lower(): name for name in names}
    near = difflib.get_close_matches(asked.lower(), spelled, n=10, cutoff=0.5)
    # Of look-alikes the one that begins alike: 2.6.0.post5 for 2.6.0.post4, not 2.9.0.post4.
    best = max(near, key=lambda name: _alike(name, asked.lower()), default=None)
    hint = f"Did you mean {spelled[best]}? " if best else ""
    return UsageError(f"unknown {what} {asked!r}", f"{hint}Known: {', '.join(shown or names)}.")


def _alike(one: str, other: str) -> int:
    """How many characters two names begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
