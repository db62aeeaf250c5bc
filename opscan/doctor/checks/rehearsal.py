"""What a rehearsal needs: an environment with a torch_npu, and a C compiler."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from opscan.doctor.checks.interface import Check, same
from opscan.doctor.checks.matching import adapters_for
from opscan.doctor.facts import Facts
from opscan.matrix.files import ReleasesFile
from opscan.text import Text


def check_rehearsal(facts: Facts, releases: ReleasesFile) -> Iterator[Check]:
    """The environments at hand, and the compiler."""
    if facts.rehearsals:
        own, made = Text("here", "当前环境"), Text("managed", "托管环境")
        parts = [(each.torch_npu, made if each.managed else own) for each in facts.rehearsals]
        yield Check(
            "rehearsal",
            "ok",
            Text(
                *(
                    ", ".join(f"torch_npu {release} ({kind.in_(lang)})" for release, kind in parts)
                    for lang in ("en", "zh")
                )
            ),
        )
    else:
        fit = adapters_for(releases, torch=facts.torch_release, python=facts.python_line)
        fit = fit or adapters_for(releases, python=facts.python_line)
        yield Check(
            "rehearsal",
            "missing",
            Text("no environment with a torch_npu", "没有带 torch_npu 的环境"),
            Text(f"Run `opscan rehearse --setup {fit[-1]}`.", f"运行 `opscan rehearse --setup {fit[-1]}`。")
            if fit
            else None,
        )
    yield _compiler(facts)


def _compiler(facts: Facts) -> Check:
    if facts.compiler:
        return Check("compiler", "ok", same(facts.compiler))
    if importlib.util.find_spec("ziglang") is not None:
        return Check("compiler", "ok", same("ziglang"))
    return Check(
        "compiler",
        "missing",
        Text("no C compiler, which builds the simulated runtime", "没有用于构建模拟运行时的 C 编译器"),
        Text(
            "Install gcc or clang, or run `python -m pip install 'opscan-npu[rehearse]'`.",
            "安装 gcc 或 clang，或运行 `python -m pip install 'opscan-npu[rehearse]'`。",
        ),
    )
