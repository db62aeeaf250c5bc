"""``torchair/<release>.json``: what the graph route does with each operator, by the converters in the wheel."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from packaging.version import Version

from opscan.matrix.build.tables import dispatch_releases, read_dispatch
from opscan.matrix.build.torch_npu import nearest_before
from opscan.matrix.build.wheel import RawWheel, load_raw, raw_releases
from opscan.matrix.build.wheel_converters import RawConverter
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, Converter, Source, TorchairFile

#: Libraries that torchair itself, or Python, defines: a process that has not imported torchair lacks them.
_OWN = frozenset({"air", "higher_order", "npu_define", "npu_inference"})

#: The folder of most converters; an entry's source is a path below it.
_FOLDER = "torchair._ge_concrete_graph.ge_converter."


def build(root: Path) -> dict[str, bytes]:
    dumped = tuple(dispatch_releases(root))
    files = {}
    for release in sorted(raw_releases(root), key=Version):
        known = read_dispatch(root, release if release in dumped else nearest_before(release, dumped))
        wheel = load_raw(root, release)
        file = converters(wheel, {*known, *wheel.operators()})
        files[f"torchair/{release}.json"] = render(file, ("ops",))
    return files


def converters(wheel: RawWheel, known: Collection[str]) -> TorchairFile:
    """The table of one wheel. ``known``: the overloads of its torch and torch_npu.

    Converters of overloads that are not known are left out: those of TorchScript's scalar operators, which no graph
    has, and those of operators that other releases of torch have.
    """
    ops: dict[str, Converter] = {}
    for raw in wheel.torchair.converters:
        name = qualified_name(raw.op)
        if name in known or name.partition("::")[0] in _OWN:
            ops[name] = _converter(raw)
    packets = {name.partition(".")[0]: name for name in ops}
    for op in wheel.torchair.decomposed:
        name = qualified_name(op)
        if name in known or name.partition("::")[0] in _OWN or name in packets:
            ops[name] = Converter("decomposed", source="torchair")
    source = Source(f"wheels/{wheel.release}.json.gz", "torchair's sources")
    return TorchairFile(SCHEMA, wheel.release, (source,), ops, wheel.torchair.automatic)


def _converter(raw: RawConverter) -> Converter:
    source = raw.module.removeprefix(_FOLDER).replace(".", "/") + ".py"
    return Converter("raises" if raw.raises else "implemented", raw.ge, raw.declared, source)


def qualified_name(op: str) -> str:
    """``aten.add.Tensor`` → ``aten::add.Tensor``; ``aten.addmm.default`` → ``aten::addmm``; higher-order ones have no
    overload.
    """
    library, _, rest = op.partition(".")
    return f"{library}::{rest.removesuffix('.default')}"
