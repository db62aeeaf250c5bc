"""``torch_npu/<release>.json``: what a release registers, and which kernels are reachable from its implementation.

Dispatch keys come from the dispatcher of a process that loaded the wheel, where there is such a dump; else from the
nearest release before, changed by what the two wheels' lists of functions differ in.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from packaging.version import Version

from opscan.matrix.build.op_plugin import Fit, OpPlugin
from opscan.matrix.build.tables import dispatch_releases, read_dispatch
from opscan.matrix.build.wheel import RawWheel, load_raw, raw_releases
from opscan.matrix.build.wheel_members import Function
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, OpEntry, RegistrationsFile, Source

NPU, AUTOGRAD = "PrivateUse1", "AutogradPrivateUse1"

#: What runs by default. The lists also name ``dvm``, a fusion of kernels that users opt in to.
_IMPLEMENTATIONS = ("acl_op", "op_api")

Keys = Mapping[str, tuple[str, ...]]


def build(root: Path) -> dict[str, bytes]:
    plugin = OpPlugin(root)
    releases, dumped = raw_releases(root), dispatch_releases(root)
    files = {r: _from_dump(root, load_raw(root, r), plugin) for r in releases if r in dumped}
    listed = {
        r: _from_list(load_raw(root, r), files[nearest_before(r, tuple(files))], plugin)
        for r in releases
        if r not in dumped
    }
    return {f"torch_npu/{release}.json": render(file, ("ops",)) for release, file in (files | listed).items()}


def _from_dump(root: Path, wheel: RawWheel, plugin: OpPlugin) -> RegistrationsFile:
    keys = {name: tuple(found) for name, found in read_dispatch(root, wheel.release).items()}
    return _from_plugin(wheel, keys, plugin, Source(f"dispatch/{wheel.release}.json.gz"), "dispatcher")


def _from_list(wheel: RawWheel, base: RegistrationsFile, plugin: OpPlugin) -> RegistrationsFile:
    note = f"changed by what the functions of {base.release} and {wheel.release} differ in"
    source = Source(f"dispatch/{base.release}.json.gz", note)
    return _from_plugin(wheel, changed_keys(base.ops, wheel.operators()), plugin, source, "yaml")


def nearest_before(release: str, releases: tuple[str, ...]) -> str:
    """The newest of ``releases`` that is older than ``release``; the oldest where none is."""
    ordered = sorted(releases, key=Version)
    return ([r for r in ordered if Version(r) < Version(release)] or ordered[:1])[-1]


def changed_keys(base: Mapping[str, OpEntry], functions: Mapping[str, Function]) -> Keys:
    """Dispatch keys after another release's, by the functions that the wheel's own list names.

    What it names gains the NPU key; what the other release's list named (it has an implementation) and this one does
    not loses it. Whatever is in neither list stays as it was.
    """
    keys = {}
    for name, entry in base.items():
        gone = bool(entry.impl) and function_of(name, functions) is None
        keys[name] = tuple(key for key in entry.keys if not (gone and key in (NPU, AUTOGRAD)))
    for name, function in functions.items():
        if function.key in ("", AUTOGRAD):
            keys[name] = tuple(dict.fromkeys((*keys.get(name, ()), NPU, *filter(None, [function.key]))))
        elif name not in keys:
            keys[name] = (function.key,)
    return keys


def function_of(name: str, functions: Mapping[str, Function]) -> Function | None:
    """The function of a qualified overload. Older releases have their own operators in ``aten`` too."""
    library, _, bare = name.partition("::")
    if library not in ("aten", "npu"):
        return None
    return functions.get(name) or functions.get(f"{'npu' if library == 'aten' else 'aten'}::{bare}")


def implementations(function: Function | None) -> tuple[str, ...]:
    """What may run without the user's opting in to more."""
    return tuple(name for name in function.impl if name in _IMPLEMENTATIONS) if function else ()


def _from_plugin(
    wheel: RawWheel, keys: Keys, plugin: OpPlugin, source: Source, basis: Literal["dispatcher", "yaml"]
) -> RegistrationsFile:
    """With kernels and hidden computing on the CPU by the op-plugin release that the wheel is built from."""
    fit = plugin.fit(wheel)
    aclnn, hidden, functions = plugin.aclnn(fit.release), plugin.hidden_cpu(fit.release), wheel.operators()
    ops = {}
    for name, found in keys.items():
        function = function_of(name, functions)
        library, _, bare = name.partition("::")
        impl = implementations(function)
        chosen = "op_api" if "op_api" in impl else "acl_op"
        inside = NPU in found and (chosen, _function_name(name)) in hidden and name not in plugin.observed_to_compute
        ops[name] = OpEntry(found, impl, aclnn.get(bare, ()) if library in ("aten", "npu") else (), inside)
    sources = (
        source,
        Source(f"wheels/{wheel.release}.json.gz", "implementations"),
        Source("aten_to_aclnn.csv.gz", _fitting(fit)),
        Source("opplugin_hidden_cpu.csv.gz", _fitting(fit)),
    )
    return RegistrationsFile(SCHEMA, wheel.release, wheel.metadata.torch, fit.release, sources, ops, basis)


def _fitting(fit: Fit) -> str:
    if fit.stated:
        return f"op-plugin {fit.release}"
    return f"op-plugin {fit.release}, the nearest: {fit.differing} functions differ"


def _function_name(name: str) -> str:
    """The C++ function of an overload: out variants of ``aten::x`` are ``x_out``."""
    base, _, variant = name.partition("::")[2].partition(".")
    return f"{base}_out" if variant == "out" or variant.endswith("_out") else base
