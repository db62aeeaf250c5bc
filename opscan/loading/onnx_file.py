"""An ONNX file to a model without weights. Needs onnx, not torch. The file is not trusted: see ``onnx_wire``."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx
from google.protobuf.message import DecodeError

from opscan.errors import LoadError
from opscan.loading.onnx_reference import OnnxFileReference
from opscan.loading.onnx_wire import MOST_NODES, without_weights

#: A message of protobuf has no more bytes; larger models keep their weights in other files.
_LARGEST = (1 << 31) - 1

#: ONNX has some two hundred operators, and no model has as many kinds of its own besides.
_MOST_OPERATORS = 2_000

#: What a number in a report can be; damaged sizes multiply to anything.
_MOST_ELEMENTS = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class LoadedOnnx:
    """``model`` has its nodes, types and small tensors; ``parameters`` are the elements of all initializers;
    ``notes`` say what is odd about the file without keeping it from being read."""

    model: onnx.ModelProto
    parameters: int
    notes: tuple[str, ...] = ()


def load_onnx(reference: OnnxFileReference) -> LoadedOnnx:
    """Read the file. Raises LoadError, with the place, for a file that is damaged, incomplete or hostile."""
    path = Path(reference.path)
    model = _parsed(path)
    try:
        return _checked(model, path)
    except UnicodeDecodeError as error:
        raise LoadError(
            f"{path.name} has a name that is no text: {error}.", "The file is damaged: export it again."
        ) from error


def _checked(model: onnx.ModelProto, path: Path) -> LoadedOnnx:
    _check(model, path.name)
    graph = model.graph
    elements = sum(math.prod(each.dims) for each in graph.initializer if all(d >= 0 for d in each.dims))
    elements += sum(math.prod(sparse.values.dims) for sparse in graph.sparse_initializer)
    missing = _check_external(model, path)
    notes = [f"Files of weights are not there, nor needed: {', '.join(missing)}."] if missing else []
    return LoadedOnnx(model, min(elements, _MOST_ELEMENTS), tuple(notes))


def _parsed(path: Path) -> onnx.ModelProto:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > _LARGEST:
                raise LoadError(
                    f"{path.name} has {size:,} bytes: an ONNX file cannot have more than {_LARGEST:,}.",
                    "Larger models keep their weights in a file beside: save_as_external_data=True of onnx.save.",
                )
            if size == 0:
                raise LoadError(f"{path.name} is empty.", "Export or copy the model again.")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                content = without_weights(mapped, path.name)
    except OSError as error:
        raise LoadError(f"Cannot read {path}: {error.strerror or error}.", "Check the file.") from error
    try:
        model: onnx.ModelProto = onnx.ModelProto.FromString(content)
    except (DecodeError, RecursionError) as error:
        raise LoadError(
            f"{path.name} is no ONNX model: {str(error) or type(error).__name__}.",
            "It may be damaged, of another kind, or nested too deeply. Export it again.",
        ) from error
    return model


def _check(model: onnx.ModelProto, name: str) -> None:
    """What every model must have."""
    if not model.HasField("graph"):
        raise LoadError(f"{name} is no ONNX model: it has no graph.", "It may be damaged or of another kind.")
    if not model.opset_import and model.ir_version >= 3:
        raise LoadError(
            f"{name} does not say of which opset its operators are (opset_import is empty).",
            "Export it again, or set model.opset_import.",
        )
    size_in_calls(model, name)
    for function in model.functions:
        where = f"{name}, function {function.name!r}"
        _check_nodes(function.node, where, None)
        _check_makers(function.node, set(function.input), where)
    _check_graph(model.graph, name, frozenset())


def _check_graph(graph: onnx.GraphProto, where: str, outer: frozenset[str] | None) -> None:
    names = {value.name for value in graph.input}
    names |= {tensor.name for tensor in graph.initializer}
    names |= {sparse.values.name for sparse in graph.sparse_initializer}
    names |= {output for node in graph.node for output in node.output}
    known = None if outer is None else outer | names
    _check_nodes(graph.node, where, known)
    _check_makers(graph.node, {tensor.name for tensor in graph.initializer}, where)
    for value in graph.output:
        if known is not None and value.name not in known:
            raise LoadError(
                f"{where}: nothing makes the output {value.name!r}.", "The file is damaged: export it again."
            )


def _check_nodes(nodes: Iterable[onnx.NodeProto], where: str, known: frozenset[str] | None) -> None:
    """``known``: all values that nodes may read; None where that is not looked at."""
    for index, node in enumerate(nodes):
        if not node.op_type:
            place = f"{where}, node {index} ({node.name!r})"
            raise LoadError(f"{place} does not say which operator it is.", "The file is damaged: export it again.")
        lost = next((value for value in node.input if value and known is not None and value not in known), None)
        if lost is not None:
            place = f"{where}, node {index} ({node.op_type} {node.name!r})"
            raise LoadError(f"{place} reads {lost!r}, which nothing makes.", "The file is damaged: export it again.")
        for graph in subgraphs(node):
            _check_graph(graph, f"{where}, node {index} ({node.op_type}), graph {graph.name!r}", known)


def _check_makers(nodes: Sequence[onnx.NodeProto], made: set[str], where: str) -> None:
    """Each value is made once, and not of itself; nodes may stand in any order. ``made``: what no node may make."""
    makers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for value in filter(None, node.output):
            if value in made or value in makers:
                place = f"{where}, node {index} ({node.op_type} {node.name!r})"
                raise LoadError(
                    f"{place} makes {value!r}, which something else makes.", "The file is damaged: export it again."
                )
            makers[value] = index
    needs = {index: {makers[value] for value in _read_by(node) if value in makers} for index, node in enumerate(nodes)}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        node = nodes[error.args[1][0]]
        place = f"{where}, node {error.args[1][0]} ({node.op_type} {node.name!r})"
        raise LoadError(
            f"{place} reads what is made of its own result.", "The file is damaged: export it again."
        ) from None


def _read_by(node: onnx.NodeProto) -> set[str]:
    """The values that a node reads, and its subgraphs from outside of them."""
    read = set(node.input)
    for graph in subgraphs(node):
        inner = {value for each in graph.node for value in _read_by(each)} | {value.name for value in graph.output}
        own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
        read |= inner - own - {value for each in graph.node for value in each.output}
    return read


def subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """The graphs that a node holds in its attributes: the branches of If, the bodies of Loop and Scan."""
    found = []
    for attribute in node.attribute:
        if attribute.HasField("g"):
            found.append(attribute.g)
        found += attribute.graphs
    return found


def size_in_calls(model: onnx.ModelProto, name: str) -> int:
    """Nodes of the graph when every call of a local function is written out.

    Raises LoadError where a function calls itself, and where few nodes stand for very many.
    """
    kinds: set[tuple[str, str]] = set()
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}
    sizes: dict[tuple[str, str, str], int] = {}
    open_now: set[tuple[str, str, str]] = set()

    def size_of(nodes: Iterable[onnx.NodeProto]) -> int:
        total = 0
        for node in nodes:
            key = (node.domain, node.op_type, node.overload)
            kinds.add(key[:2])
            total += call(key) if key in functions else 1
            total += sum(size_of(graph.node) for graph in subgraphs(node))
        return total

    def call(key: tuple[str, str, str]) -> int:
        if key in open_now or len(open_now) > 200:
            raise LoadError(f"{name}: the function {key[1]!r} calls itself.", "ONNX has no recursion: export it again.")
        if key not in sizes:
            open_now.add(key)
            sizes[key] = size_of(functions[key].node)
            open_now.remove(key)
        return sizes[key]

    total = size_of(model.graph.node)
    if len(kinds) > _MOST_OPERATORS:
        raise LoadError(
            f"{name} has {len(kinds):,} different operators; opscan reads at most {_MOST_OPERATORS:,}.",
            "No model has as many: the file may be made to look like one.",
        )
    if total > MOST_NODES:
        raise LoadError(
            f"{name}: with its functions written out it has {total:,} nodes; opscan reads at most {MOST_NODES:,}.",
            "No exported model has as many. If yours has, scan its parts: onnx.utils.extract_model.",
        )
    return total


def _check_external(model: onnx.ModelProto, path: Path) -> list[str]:
    """Names of files of weights that are not there. Raises LoadError for a place outside of the model's folder."""
    folder = path.resolve().parent
    missing: dict[str, None] = {}
    for tensor in _tensors(model):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
        if not _stays_inside(folder, location):
            raise LoadError(
                f"{path.name}: the tensor {tensor.name!r} has its data in {location!r}, outside of the model's folder.",
                "A file that reads others is not to be trusted. Weights lie beside the model, under a relative path "
                "without '..' and links.",
            )
        if location not in missing and not (folder / location).exists():
            missing[location] = None
    return list(missing)[:5]


def _stays_inside(folder: Path, location: str) -> bool:
    """Whether an external file lies in the model's folder, on any system that may read the model."""
    posix, windows = PurePosixPath(location), PureWindowsPath(location)
    if not location or "\0" in location or posix.is_absolute() or windows.is_absolute() or windows.drive:
        return False
    if windows.root or ".." in posix.parts or ".." in windows.parts:
        return False
    try:
        return (folder / location).resolve().is_relative_to(folder)
    except (OSError, RuntimeError, ValueError):  # a loop of links, or a name that no file can have
        return False


def _tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    yield from _tensors_of(model.graph)
    for function in model.functions:
        yield from _tensors_of_nodes(function.node)


def _tensors_of(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield sparse.values
        yield sparse.indices
    yield from _tensors_of_nodes(graph.node)


def _tensors_of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            if attribute.HasField("sparse_tensor"):
                yield attribute.sparse_tensor.values
                yield attribute.sparse_tensor.indices
            if attribute.HasField("g"):
                yield from _tensors_of(attribute.g)
            for graph in attribute.graphs:
                yield from _tensors_of(graph)
