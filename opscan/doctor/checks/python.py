"""Python, torch and torch_npu: whether there are wheels for this Python, and whether the two are a pair."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from opscan.doctor.checks.interface import Check, same
from opscan.doctor.checks.matching import adapters_for, pair
from opscan.doctor.facts import Facts
from opscan.matrix.files import ReleasesFile
from opscan.text import Text

#: From here on torch loads an installed torch_npu by itself.
_AUTOLOADS = Version("2.5.0")

_MACHINES = ("x86_64", "aarch64")


def check_python(facts: Facts, releases: ReleasesFile) -> Iterator[Check]:
    """Python and torch, torch_npu, and what importing torch does with it."""
    yield _python(facts, releases)
    yield _torch(facts, releases)
    yield _torch_npu(facts, releases)
    if facts.torch_release and facts.torch_npu and not facts.toolkits and _loads_by_itself(facts.torch_release):
        yield _autoload(facts)


def _python(facts: Facts, releases: ReleasesFile) -> Check:
    says = f"{facts.python} ({facts.platform})"
    if not facts.platform.startswith("Linux") or facts.machine not in _MACHINES:
        return Check(
            "python",
            "warning",
            Text(
                f"{says}: torch_npu has wheels for Linux on {' and '.join(_MACHINES)} only.",
                f"{says}：torch_npu 只有 Linux（{'、'.join(_MACHINES)}）的安装包。",
            ),
            Text("A scan works here; a rehearsal needs Linux.", "此处可以扫描；预演需要 Linux。"),
        )
    entry = releases.torch_npu.get(facts.torch_npu or "")
    if entry and entry.python and facts.python_line not in entry.python:
        fit = adapters_for(releases, torch=facts.torch_release, python=facts.python_line)
        return Check(
            "python",
            "problem",
            Text(
                f"{says}: torch_npu {facts.torch_npu} is made for Python {', '.join(entry.python)}.",
                f"{says}：torch_npu {facts.torch_npu} 适用于 Python {'、'.join(entry.python)}。",
            ),
            _either(
                f"Use Python {entry.python[-1]}",
                f"使用 Python {entry.python[-1]}",
                "install torch_npu",
                "安装 torch_npu",
                fit,
            ),
        )
    return Check("python", "ok", same(says))


def _torch(facts: Facts, releases: ReleasesFile) -> Check:
    if facts.torch is None:
        entry = releases.torch_npu.get(facts.torch_npu or "")
        wanted = f"torch=={entry.torch}" if entry else "torch"
        return Check(
            "torch",
            "problem" if facts.torch_npu else "missing",
            Text("not installed", "未安装"),
            Text(f"Run `python -m pip install {wanted}`.", f"运行 `python -m pip install {wanted}`。"),
        )
    told = facts.torch.build == facts.torch.version.partition("+")[2]
    build = f" ({facts.torch.build})" if facts.torch.build and not told else ""
    return Check("torch", "ok", same(f"{facts.torch.version}{build}"))


def _torch_npu(facts: Facts, releases: ReleasesFile) -> Check:
    release = facts.torch_npu
    fit = adapters_for(releases, torch=facts.torch_release, python=facts.python_line)
    if release is None:
        return Check("torch_npu", "missing", Text("not installed", "未安装"), _install(facts, releases, fit))
    if facts.torch_release and not pair(release, facts.torch_release):
        return _not_a_pair(facts, release, fit, releases)
    if release not in releases.torch_npu:
        return Check(
            "torch_npu",
            "warning",
            Text(f"{release}: this opscan does not know the release.", f"{release}：此 opscan 不认识该版本。"),
            Text("Install a newer opscan.", "安装更新的 opscan。"),
        )
    return Check("torch_npu", "ok", same(release))


def _not_a_pair(facts: Facts, release: str, fit: list[str], releases: ReleasesFile) -> Check:
    own = facts.torch_release
    wanted = _torch_of(release, releases)
    if wanted is None:
        says = Text(f"{release} and torch {own} are no pair.", f"{release} 与 torch {own} 不配套。")
        step = Text(f"Install torch_npu {fit[-1]}.", f"安装 torch_npu {fit[-1]}。") if fit else None
        return Check("torch_npu", "problem", says, step)
    says = Text(
        f"{release} pairs with torch {wanted} exactly, and torch {own} is installed.",
        f"{release} 只与 torch {wanted} 配套，而当前安装的是 torch {own}。",
    )
    pip = f"`python -m pip install torch=={wanted}`"
    return Check(
        "torch_npu", "problem", says, _either(f"Run {pip}", f"运行 {pip}", "install torch_npu", "安装 torch_npu", fit)
    )


def _torch_of(torch_npu: str, releases: ReleasesFile) -> str | None:
    """The torch release that a torch_npu release pairs with; None where its version says nothing of it."""
    if torch_npu in releases.torch_npu:
        return releases.torch_npu[torch_npu].torch
    try:
        version = Version(torch_npu)
    except InvalidVersion:
        return None
    return version.base_version if len(version.release) == 3 else None


def _install(facts: Facts, releases: ReleasesFile, fit: list[str]) -> Text:
    """How to get a torch_npu, where there is one for this torch and Python; which torch has one, where not."""
    if not fit:
        line = facts.python_line
        newest = next(reversed(adapters_for(releases, python=line)), None)
        needs = f"torch {releases.torch_npu[newest].torch} (torch_npu {newest})" if newest else "?"
        return Text(
            f"There is no torch_npu for this torch and Python {line}; the newest for this Python needs {needs}.",
            f"没有适用于该 torch 与 Python {line} 的 torch_npu；适用于此 Python 的最新版本需要 {needs}。",
        )
    release = _for_toolkit(facts, releases, fit)
    return Text(
        f"On a machine with an NPU, run `python -m pip install torch_npu=={release}`.",
        f"在有 NPU 的机器上运行 `python -m pip install torch_npu=={release}`。",
    )


def _for_toolkit(facts: Facts, releases: ReleasesFile, fit: list[str]) -> str:
    """Of the releases that fit the newest that is documented for the installed CANN, else the newest."""
    toolkit = facts.toolkit
    documented = adapters_for(releases, cann=toolkit.release) if toolkit and toolkit.release else []
    return ([release for release in fit if release in documented] or fit)[-1]


def _autoload(facts: Facts) -> Check:
    if facts.variables.get("TORCH_DEVICE_BACKEND_AUTOLOAD") == "0":
        return Check(
            "autoload",
            "ok",
            Text(
                "TORCH_DEVICE_BACKEND_AUTOLOAD=0: torch does not load torch_npu by itself, which needs CANN.",
                "TORCH_DEVICE_BACKEND_AUTOLOAD=0：torch 不会自动加载需要 CANN 的 torch_npu。",
            ),
        )
    return Check(
        "autoload",
        "problem",
        Text(
            "torch loads an installed torch_npu by itself, which fails without CANN: `import torch` raises here.",
            "torch 会自动加载已安装的 torch_npu，而没有 CANN 时加载失败：此处 `import torch` 会报错。",
        ),
        Text(
            "Install CANN, or run `export TORCH_DEVICE_BACKEND_AUTOLOAD=0`.",
            "安装 CANN，或运行 `export TORCH_DEVICE_BACKEND_AUTOLOAD=0`。",
        ),
    )


def _loads_by_itself(torch: str) -> bool:
    try:
        return Version(torch) >= _AUTOLOADS
    except InvalidVersion:
        return False


def _either(first: str, first_zh: str, verb: str, verb_zh: str, fit: list[str]) -> Text:
    """One way to go, and the other where a release fits what is installed."""
    if not fit:
        return Text(f"{first}.", f"{first_zh}。")
    return Text(f"{first}, or {verb} {fit[-1]}.", f"{first_zh}，或{verb_zh} {fit[-1]}。")
