"""Finding the parts of an installed CANN toolkit, its release and its SoCs. Nothing of it is executed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from opscan.errors import MatrixError, UsageError

#: Operator packages of the toolkits from CANN 8.5 on. Each brings its own AI Core list, as
#: ``aic-<soc>-ops-info-nn.json``; older toolkits have one list of everything, ``aic-<soc>-ops-info.json``.
PACKAGES = frozenset({"cv", "legacy", "math", "nn", "transformer"})

#: Where the AI Core lists lie below ``built-in`` and below a folder of ``vendors``.
AI_CORE = "op_impl/ai_core/tbe"

#: Folders of SoCs whose name is not that of the matrix.
_FOLDERS = {"ascend950": ("ascend950dt", "ascend950pr"), "ascend910_95": ("ascend950dt", "ascend950pr")}

#: ``8.1.RC1``, ``8.5.0``, ``9.2.0-beta.1``; the four and five numbers of internal versions do not fit.
_RELEASE = re.compile(r"\d+\.\d+\.(?:RC)?\d+(?:[.-]?(?:alpha|beta)\.?\d*)?")

_ASK = (
    "Pass the folder that ASCEND_HOME_PATH names after sourcing set_env.sh, as /usr/local/Ascend/ascend-toolkit/latest."
)


@dataclass(frozen=True, slots=True)
class Toolkit:
    """``root``: its folder. ``opp``: the folder of its operators. ``arch``: as ``aarch64``; empty: unknown."""

    root: Path
    opp: Path
    release: str
    arch: str

    def name(self, path: Path) -> str:
        """A file as the matrix names it: below the toolkit, without the place where the toolkit lies."""
        for base, prefix in ((self.opp, "opp/"), (self.root, "")):
            if path.is_relative_to(base):
                return prefix + path.relative_to(base).as_posix()
        return path.name

    def files(self, *patterns: str) -> list[Path]:
        """Files below the toolkit, sorted; a file that several links lead to counts once."""
        found: dict[Path, Path] = {}
        for pattern in patterns:
            base, below = (self.opp, pattern[4:]) if pattern.startswith("opp/") else (self.root, pattern)
            for path in sorted(base.glob(below)):
                if path.is_file():
                    found.setdefault(path.resolve(), path)
        return sorted(found.values())

    def ai_core_lists(self, folder: str) -> list[Path]:
        """The built-in AI Core lists of a SoC."""
        return self.files(f"opp/built-in/{AI_CORE}/config/{folder}/aic-*-ops-info*.json")

    def is_complete(self, folder: str) -> bool:
        """Whether the AI Core lists of a SoC leave nothing out: one of everything, or those of all packages."""
        parts = {path.stem.partition("-ops-info")[2].removeprefix("-") for path in self.ai_core_lists(folder)}
        return "" in parts or parts >= PACKAGES


def find_toolkit(directory: Path, release: str | None = None) -> Toolkit:
    """The toolkit at ``directory``: its own folder, the one above with ``latest`` or a single release, or its ``opp``.

    Raises UsageError where there is none, where there are several, or where no file tells the release.
    """
    if release is not None and not _RELEASE.fullmatch(release):
        raise UsageError(f"{release!r} is no CANN release", "Releases look like 8.1.RC1, 8.5.0 or 9.2.0-beta.1.")
    try:
        root, opp = _root(directory)
        found, arch = release or _release(root, opp), _arch(root, opp)
    except OSError as error:
        raise UsageError(f"{error.filename or directory}: {error.strerror or error}", _ASK) from error
    if found is None:
        raise UsageError(
            f"{directory}: no file tells the release of this toolkit (looked for version= in"
            " *-linux/ascend_toolkit_install.info, version_dir= in opp/version.info and share/info/*/version.info,"
            " and version.cfg)",
            "Name it: --cann 8.1.RC1.",
        )
    return Toolkit(root, opp, found, arch)


def soc_folders(toolkit: Toolkit) -> list[str]:
    """Folders of SoCs with lists of AI Core operators, built-in or custom."""
    configs = [toolkit.opp / "built-in" / AI_CORE / "config", *toolkit.opp.glob(f"vendors/*/{AI_CORE}/config")]
    inside = [path for config in configs if config.is_dir() for path in config.iterdir()]
    return sorted({path.name for path in inside if any(path.glob("*.json"))})


def socs_of(folder: str, known: frozenset[str]) -> tuple[str, ...]:
    """The SoCs of the matrix that a folder stands for; none where the matrix does not know it."""
    names = _FOLDERS.get(folder.lower(), (folder.lower(),))
    return tuple(name for name in names if name in known)


def read_json(toolkit: Toolkit, path: Path) -> dict[str, Any]:
    """A JSON file of the toolkit whose top is an object. Raises MatrixError with file and key."""
    try:
        document = msgspec.json.decode(read_bytes(toolkit, path))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise damaged(toolkit, path, str(error)) from error
    if not isinstance(document, dict):
        raise damaged(toolkit, path, "expected an object")
    return document


def read_operators(toolkit: Toolkit, path: Path) -> dict[str, dict[str, Any]]:
    """A list of operators: operator → its entry."""
    document = read_json(toolkit, path)
    for key, entry in document.items():
        if not isinstance(entry, dict):
            raise damaged(toolkit, path, "expected an object", key)
    return document


def read_text(toolkit: Toolkit, path: Path) -> str:
    """A header; what is no UTF-8 in its comments does no harm."""
    return read_bytes(toolkit, path).decode("utf-8", "replace")


def read_bytes(toolkit: Toolkit, path: Path) -> bytes:
    """A file of the toolkit. Raises MatrixError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise damaged(toolkit, path, error.strerror or str(error)) from error


def damaged(toolkit: Toolkit, path: Path, what: str, key: str = "") -> MatrixError:
    """The complaint about one file of the toolkit, and the key in it. Nothing is built from the rest."""
    where = f"{toolkit.root / toolkit.name(path)}: " + (f"key {key}: " if key else "")
    return MatrixError(where + what, "The toolkit is damaged: install it again. Nothing was written.")


def _root(directory: Path) -> tuple[Path, Path]:
    if not directory.is_dir():
        raise UsageError(f"{directory} is no folder", _ASK)
    if _is_opp(directory):
        return directory.absolute().parent, directory
    near = [directory, directory.parent] if directory.name.endswith("-linux") else [directory]
    for root in (*near, directory / "latest", directory / "cann", directory / "ascend-toolkit" / "latest"):
        if _is_opp(root / "opp"):
            return root, root / "opp"
    inside = {p.resolve(): p for p in (*directory.iterdir(), *directory.glob("ascend-toolkit/*")) if _is_opp(p / "opp")}
    if len(inside) == 1:
        (root,) = inside.values()
        return root, root / "opp"
    if inside:
        names = ", ".join(sorted(path.name for path in inside.values()))
        raise UsageError(f"{directory} holds several toolkits: {names}", "Pass the folder of one of them.")
    raise UsageError(f"{directory} is no CANN toolkit: it has no opp/built-in/op_impl and no opp/vendors", _ASK)


def _is_opp(path: Path) -> bool:
    return (path / "built-in" / "op_impl").is_dir() or any(path.glob(f"vendors/*/{AI_CORE}/config"))


def _release(root: Path, opp: Path) -> str | None:
    """From the most telling file to the name of the folder."""
    sources = (
        (sorted(root.glob("*-linux/ascend_toolkit_install.info")), r"^version\s*=\s*(\S+)"),
        ([opp / "version.info"], r"^version_dir\s*=\s*(\S+)"),
        (sorted(root.glob("share/info/*/version.info")), r"^(?:version_dir|Version)\s*=\s*(\S+)"),
        (
            [root / "version.cfg", root.parent / "latest" / "version.cfg"],
            r"_running_version\s*=\s*\[[^\]:]*:([^\]]+)\]",
        ),
    )
    for paths, pattern in sources:
        for path in paths:
            text = path.read_text("utf-8", "replace") if path.is_file() else ""
            for value in re.findall(pattern, text, re.MULTILINE):
                if _RELEASE.fullmatch(named := value.strip("\"'").removeprefix("cann-")):
                    return str(named)
    named = root.resolve().name.removeprefix("cann-")
    return named if _RELEASE.fullmatch(named) else None


def _arch(root: Path, opp: Path) -> str:
    for path in (*sorted(root.glob("*-linux/ascend_toolkit_install.info")), opp / "scene.info"):
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        if match := re.search(r"^arch\s*=\s*(\w+)", text, re.MULTILINE):
            return match[1]
    names = sorted({path.resolve().name for path in root.glob("*-linux") if path.is_dir()})
    return names[0].removesuffix("-linux") if len(names) == 1 else ""
