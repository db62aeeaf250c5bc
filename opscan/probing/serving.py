"""The worker's end of the protocol: greets, then tries one signature after the other until the parent is done."""

from __future__ import annotations

import os
import warnings

import msgspec

from opscan.probing.device import Device, NoDevice
from opscan.probing.protocol import Compare, Done, Hello, Outcome, Progress, Reply, Request, Stage, Unable
from opscan.probing.trying import try_signature


def serve(backend: str, index: int, requests: int, replies: int) -> None:
    """Answer on the descriptor ``replies``, one JSON object a line. Raises BrokenPipeError where nobody reads."""
    encoder = msgspec.json.Encoder()

    def reply(message: Reply) -> None:
        _write_all(replies, encoder.encode(message) + b"\n")

    warnings.simplefilter("always")  # each operator's own, however often
    try:
        device = _device(backend, index, replies)
    except NoDevice as error:
        reply(Unable(error.reason, error.for_good))
        return
    reply(Hello(device.versions, device.count, os.getpid()))
    decoder = msgspec.json.Decoder(Request)
    with os.fdopen(requests, "rb") as lines:
        for line in lines:
            request = decoder.decode(line)
            if isinstance(request, Compare):
                reply(_compared(device, request))
                continue

            def progress(stage: Stage, so_far: Outcome | None = None, ticket: int = request.ticket) -> None:
                reply(Progress(ticket, stage, so_far))

            outcome, healthy = try_signature(device, request, progress)
            reply(Done(request.ticket, outcome, healthy))


def _compared(device: Device, request: Compare) -> Reply:
    from opscan.probing.whole_model import compare_model

    return compare_model(device, request)


def _device(backend: str, index: int, replies: int) -> Device:
    if backend == "npu":
        from opscan.probing.npu_device import NpuDevice

        return NpuDevice(index)
    from opscan.probing.fake_device import FakeDevice

    return FakeDevice(index, replies)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
