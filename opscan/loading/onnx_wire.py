"""An ONNX file without its weights, read field by field, before anything parses it.

A scan needs no weights, and protobuf would hold a file of 2 GB twice in memory. Besides, a file may pretend: the walk
finds where it ends too early, and stops at more nodes than any model has. Field numbers: ``onnx/onnx.proto``.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass

from opscan.errors import LoadError

#: More operators than the largest exported models have (tens of thousands).
MOST_NODES = 250_000

#: Bytes that are no weights. The largest models have some hundred megabytes of nodes and names.
MOST_STRUCTURE = 1 << 30

#: Tensors up to this many bytes stay: constants that decide shapes are small.
_KEPT_TENSOR = 4096

#: A node that is longer may hide many others in its subgraphs.
_LONG_NODE = 1 << 16

_GRAPH, _FUNCTION = 7, 25  # of ModelProto
_NODE, _INITIALIZER = 1, 5  # of GraphProto
_FUNCTION_NODE = 7  # of FunctionProto
_ATTRIBUTE = 5  # of NodeProto
_SUBGRAPHS = (6, 11)  # of AttributeProto
#: float_data, int32_data, string_data, int64_data, raw_data, double_data, uint64_data of TensorProto.
_PAYLOAD = frozenset({4, 5, 6, 7, 9, 10, 11})

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}


Buffer = bytes | mmap.mmap


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a message: its number, where it starts (with its tag), and where its content lies."""

    number: int
    wire_type: int
    start: int
    content: int
    end: int


def without_weights(buffer: Buffer, name: str) -> bytes:
    """The serialised model without the contents of its large tensors.

    Raises LoadError, with the byte, where the file is no protobuf message or ends too early, and where it holds more
    than a scan takes.
    """
    walk = _Walk(buffer, name)
    parts = [_model_part(walk, field) for field in walk.fields(0, len(buffer))]
    return b"".join(parts)


def _model_part(walk: _Walk, field: _Field) -> bytes:
    if field.wire_type == _BYTES and field.number == _GRAPH:
        return _tag(_GRAPH, _graph(walk, field))
    if field.wire_type == _BYTES and field.number == _FUNCTION:
        for inner in walk.fields(field.content, field.end):
            if inner.number == _FUNCTION_NODE:
                walk.count(inner)
    return walk.copy(field.start, field.end)


def _graph(walk: _Walk, graph: _Field) -> bytes:
    parts: list[bytes] = []
    pending = graph.content
    for field in walk.fields(graph.content, graph.end):
        if field.wire_type != _BYTES:
            continue
        if field.number == _NODE:
            walk.count(field)
        elif field.number == _INITIALIZER and field.end - field.content > _KEPT_TENSOR:
            parts += [walk.copy(pending, field.start), _tag(_INITIALIZER, _emptied(walk, field))]
            pending = field.end
    parts.append(walk.copy(pending, graph.end))
    return b"".join(parts)


def _emptied(walk: _Walk, tensor: _Field) -> bytes:
    """A tensor with its name, dtype and sizes only."""
    fields = walk.fields(tensor.content, tensor.end)
    return b"".join(walk.copy(field.start, field.end) for field in fields if field.number not in _PAYLOAD)


def _tag(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


class _Walk:
    """Steps over one file, and counts."""

    def __init__(self, buffer: Buffer, name: str) -> None:
        self._buffer = buffer
        self._name = name
        self._nodes = 0
        self._copied = 0

    def fields(self, at: int, end: int) -> Iterator[_Field]:
        while at < end:
            start = at
            tag, at = self._number(at, end)
            number, wire_type = tag >> 3, tag & 7
            if wire_type == _VARINT:
                _, after = self._number(at, end)
            elif wire_type == _BYTES:
                length, at = self._number(at, end)
                after = at + length
            elif wire_type in _FIXED_SIZES:
                after = at + _FIXED_SIZES[wire_type]
            else:
                raise self._damaged(start, "what stands there is no field of a model")
            if number == 0:
                raise self._damaged(start, "what stands there is no field of a model")
            if after > end:
                raise self._damaged(start, f"a field has {after - at:,} bytes, and {end - at:,} are left")
            yield _Field(number, wire_type, start, at, after)
            at = after

    def count(self, node: _Field, depth: int = 0) -> None:
        """Count a node, and those of the subgraphs of a long one."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise LoadError(
                f"{self._name} has more than {MOST_NODES:,} nodes; opscan reads no more.",
                "No exported model has as many. If yours has, scan its parts: onnx.utils.extract_model.",
            )
        if node.end - node.content <= _LONG_NODE or depth > 64:
            return
        for attribute in self.fields(node.content, node.end):
            if attribute.number != _ATTRIBUTE or attribute.wire_type != _BYTES:
                continue
            for graph in self.fields(attribute.content, attribute.end):
                if graph.number in _SUBGRAPHS and graph.wire_type == _BYTES:
                    for inner in self.fields(graph.content, graph.end):
                        if inner.number == _NODE and inner.wire_type == _BYTES:
                            self.count(inner, depth + 1)

    def copy(self, start: int, end: int) -> bytes:
        self._copied += end - start
        if self._copied > MOST_STRUCTURE:
            raise LoadError(
                f"{self._name} holds more than {MOST_STRUCTURE >> 20} MiB besides its weights; opscan reads no more.",
                "Large constants belong among the initializers: save the model again with onnx.save.",
            )
        return self._buffer[start:end]

    def _number(self, at: int, end: int) -> tuple[int, int]:
        """A varint at ``at``, and where it ends."""
        if at < end and self._buffer[at] < 0x80:
            return self._buffer[at], at + 1
        window = self._buffer[at : min(at + 10, end)]
        value = shift = 0
        for index, byte in enumerate(window):
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at + index + 1
            shift += 7
        raise self._damaged(at, "the file ends within a number" if len(window) < 10 else "a number does not end")

    def _damaged(self, at: int, what: str) -> LoadError:
        return LoadError(
            f"{self._name} is no complete ONNX model: byte {at:,}: {what}.",
            "It may be truncated, or of another kind. Copy or export it again.",
        )
