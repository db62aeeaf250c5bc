"""The runtime's log, memory, copies, data-dependent shapes and the legacy path."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from opscan.errors import OpscanError
from opscan.inventory import KernelArgument, KernelLaunch, TensorSpec
from opscan.probing.simulator.events import Copy, Synchronised
from opscan.probing.simulator.runtime import SimulatedRuntime

H2D, D2H, D2D, BY_ADDRESS = 1, 2, 3, 4


def device_memory(simulator: Any, size: int) -> int:
    address = ctypes.c_void_p()
    assert simulator.acl.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(size), 0) == 0
    assert address.value is not None
    return address.value


def free(simulator: Any, address: int) -> int:
    status = simulator.acl.aclrtFree(ctypes.c_void_p(address))
    assert isinstance(status, int)
    return status


def copy(simulator: Any, to: Any, source: Any, size: int, kind: int, *, waits: bool = False) -> None:
    function = simulator.acl.aclrtMemcpy if waits else simulator.acl.aclrtMemcpyAsync
    length = ctypes.c_size_t(size)
    assert function(ctypes.c_void_p(to), length, ctypes.c_void_p(source), length, kind, None) == 0


def resident_kib() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


def test_events_come_in_order_and_once(simulator):
    simulator.acl.aclrtSynchronizeStream(None)
    simulator.acl.aclrtSynchronizeDevice()
    assert simulator.runtime.drain() == (
        Synchronised("aclrtSynchronizeStream"), Synchronised("aclrtSynchronizeDevice"),
    )  # fmt: skip
    assert simulator.runtime.drain() == ()


def test_the_log_grows_as_long_as_nobody_drains_it(simulator):
    for _ in range(20_000):
        simulator.acl.aclrtSynchronizeStream(None)
    simulator.acl.aclrtSynchronizeDevice()
    events = simulator.runtime.drain()
    assert len(events) == 20_001
    assert events[-1] == Synchronised("aclrtSynchronizeDevice")


def test_a_small_buffer_receives_whole_lines(simulator):
    for _ in range(3):
        simulator.acl.aclrtSynchronizeStream(None)
    line = b'["sync","aclrtSynchronizeStream"]\n'
    buffer = ctypes.create_string_buffer(2 * len(line) + 5)
    drain = simulator.acl.opscan_sim_drain
    assert drain(buffer, ctypes.c_size_t(len(buffer))) == 2 * len(line)
    assert buffer.raw.startswith(2 * line)
    assert drain(buffer, ctypes.c_size_t(len(line) - 1)) == 0
    assert simulator.runtime.drain_lines() == line


def test_discard_forgets(simulator):
    simulator.acl.aclrtSynchronizeStream(None)
    simulator.runtime.discard()
    assert simulator.runtime.drain() == ()


def test_device_memory_is_committed_only_where_it_is_written(simulator):
    before = resident_kib()
    memory = [device_memory(simulator, 800 << 30) for _ in range(3)]
    ctypes.memset(memory[1] + (700 << 30), 1, 1)
    assert resident_kib() - before < 1024
    assert [free(simulator, each) for each in memory] == [0, 0, 0]


def test_freed_device_memory_is_given_back(simulator):
    size = 64 << 20
    memory = device_memory(simulator, size)
    ctypes.memset(memory, 1, size)
    full = resident_kib()
    assert free(simulator, memory) == 0
    assert full - resident_kib() > size // 1024 // 2
    assert free(simulator, memory) != 0  # it is no memory of the device any more
    assert free(simulator, 0) == 0


def test_copies_are_made_and_logged_with_their_direction(simulator):
    memory = device_memory(simulator, 4096)
    text, back = ctypes.create_string_buffer(b"tensor", 7), ctypes.create_string_buffer(7)
    copy(simulator, memory, ctypes.addressof(text), 7, H2D)
    copy(simulator, memory + 100, memory, 7, D2D)
    copy(simulator, ctypes.addressof(back), memory + 100, 7, D2H, waits=True)
    copy(simulator, ctypes.addressof(back), memory + 100, 7, BY_ADDRESS)
    assert back.value == b"tensor"
    assert simulator.runtime.drain() == (
        Copy("H2D", "H2D", 7), Copy("D2D", "D2D", 7), Copy("copy", "D2H", 7), Copy("D2H", "D2H", 7),
    )  # fmt: skip
    free(simulator, memory)


def test_a_copy_over_the_limit_is_logged_and_not_made(simulator):
    text, back = ctypes.create_string_buffer(b"tensor", 7), ctypes.create_string_buffer(7)
    simulator.runtime.copy_limit(6)
    copy(simulator, ctypes.addressof(back), ctypes.addressof(text), 7, D2H)
    assert (back.value, simulator.runtime.drain()) == (b"", (Copy("D2H", "D2H", 7, done=False),))
    simulator.runtime.copy_limit(7)
    copy(simulator, ctypes.addressof(back), ctypes.addressof(text), 7, D2H)
    assert (back.value, simulator.runtime.drain()) == (b"tensor", (Copy("D2H", "D2H", 7),))


def test_zeroing_device_memory_costs_nothing(simulator):
    size = 64 << 20
    memory = device_memory(simulator, size)
    ctypes.memset(memory, 1, size)
    full = resident_kib()
    length = ctypes.c_size_t(size - 10)
    assert simulator.acl.aclrtMemset(ctypes.c_void_p(memory + 5), length, 0, length) == 0
    assert full - resident_kib() > size // 1024 // 2
    assert ctypes.string_at(memory, 6) == b"\1\1\1\1\1\0"
    assert ctypes.string_at(memory + size - 6, 6) == b"\0\1\1\1\1\1"
    free(simulator, memory)


def view_shape(simulator: Any, tensor: int) -> list[int]:
    dims, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
    assert simulator.acl.aclGetViewShape(ctypes.c_void_p(tensor), ctypes.byref(dims), ctypes.byref(count)) == 0
    return dims[: count.value]


def test_shapes_that_depend_on_data_are_the_largest_ones_or_those_that_were_set(simulator):
    assert view_shape(simulator, simulator.tensor(9, 6, 2)) == [6, 2]
    simulator.runtime.next_shape([4, 2])
    simulator.runtime.next_shape([])
    assert view_shape(simulator, simulator.tensor(9, 6, 2)) == [4, 2]
    assert view_shape(simulator, simulator.tensor(9, 6)) == []
    assert view_shape(simulator, simulator.tensor(9, 6)) == [6]
    simulator.runtime.next_shape([1])
    simulator.runtime.forget_shapes()
    assert view_shape(simulator, simulator.tensor(9, 6)) == [6]


def execute(simulator: Any, name: str, inputs: list[int], outputs: list[int], version: str = "") -> None:
    function = getattr(simulator.acl, f"aclopCompileAndExecute{version}")
    into, out = (ctypes.c_void_p * len(inputs))(*inputs), (ctypes.c_void_p * len(outputs))(*outputs)
    assert function(name.encode(), len(inputs), into, None, len(outputs), out, None, None, 0, 0, None, None) == 0


def test_the_legacy_path_names_the_operator_its_inputs_and_results(simulator):
    image, left_out = simulator.description(0, 1, 3, 8, 8, format=0), simulator.description(-1, format=-1)
    execute(simulator, "Conv2D", [image, left_out], [simulator.description(1, 1, 4, 6, 6, format=3)])
    assert simulator.runtime.drain() == (
        KernelLaunch(
            "GE Conv2D",
            (KernelArgument("T", (TensorSpec("float32", (1, 3, 8, 8)),), ("NCHW",)), KernelArgument("0")),
            (TensorSpec("float16", (1, 4, 6, 6)),),
        ),
    )


def test_the_legacy_path_knows_shapes_that_depend_on_data(simulator):
    result = simulator.description(9, 6, 2)
    simulator.runtime.next_shape([4, 2])
    execute(simulator, "NonZero", [simulator.description(0, 6)], [result], version="V2")
    size = ctypes.c_int64()
    assert simulator.acl.aclGetTensorDescDimV2(ctypes.c_void_p(result), ctypes.c_size_t(0), ctypes.byref(size)) == 0
    assert size.value == 4
    assert simulator.acl.aclGetTensorDescDimV2(ctypes.c_void_p(result), ctypes.c_size_t(2), ctypes.byref(size)) != 0


def test_names_cannot_break_the_log(simulator):
    execute(simulator, 'Add"],\n["x', [], [])
    assert simulator.runtime.drain() == (KernelLaunch("GE Add??????x"),)


@pytest.mark.parametrize(
    ("soc", "answer"),
    [("Ascend910A", b"enable"), ("Ascend910B", b"enable"), ("Ascend310P3", b"enable"), ("Ascend910B1", b""), ("", b"")],
)
def test_chips_before_ascend910b1_take_the_legacy_path_by_default(simulator, monkeypatch, soc, answer):
    monkeypatch.setenv("OPSCAN_SIMULATED_SOC", soc)
    value = ctypes.create_string_buffer(b"?", 64)
    assert simulator.acl.aclGetCompileopt(0, value, ctypes.c_size_t(64)) == 0
    assert value.value == answer


def test_the_environment_says_which_chip_and_cann_release(simulator, monkeypatch):
    simulator.acl.aclrtGetSocName.restype = ctypes.c_char_p
    version = ctypes.create_string_buffer(128)
    monkeypatch.setenv("OPSCAN_SIMULATED_SOC", "Ascend310P3")
    monkeypatch.setenv("OPSCAN_SIMULATED_CANN", "9.1.0")
    assert simulator.acl.aclsysGetVersionStr(b"runtime", version) == 0
    assert (simulator.acl.aclrtGetSocName(), version.value) == (b"Ascend310P3", b"9.1.0")


def test_another_cann_is_told_from_the_simulated_one():
    with pytest.raises(OpscanError, match="is not opscan's simulated CANN runtime") as raised:
        SimulatedRuntime.attach("libc.so.6")
    assert "LD_LIBRARY_PATH" in raised.value.hint


def test_no_cann_at_all_is_said():
    with pytest.raises(OpscanError, match="cannot be loaded"):
        SimulatedRuntime.attach("libnothing_of_this_name.so")
