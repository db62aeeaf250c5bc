"""The simulated runtime from within the process that has loaded it: reading its events, steering what it does."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from opscan.errors import OpscanError
from opscan.probing.simulator.events import Event, decode

#: What ``opscan_sim_interface`` answers in a runtime that this module understands.
_INTERFACE = 1

_NO_LIMIT = 2 ** (8 * ctypes.sizeof(ctypes.c_size_t)) - 1


class SimulatedRuntime:
    """The runtime of this process; there is one."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._pending = library.opscan_sim_pending
        self._pending.restype = ctypes.c_size_t
        self._drain = library.opscan_sim_drain
        self._drain.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self._drain.restype = ctypes.c_size_t
        library.opscan_sim_copy_limit.argtypes = [ctypes.c_size_t]
        library.opscan_sim_next_shape.argtypes = [ctypes.POINTER(ctypes.c_int64), ctypes.c_uint64]

    @classmethod
    def attach(cls, name: str = "libascendcl.so") -> SimulatedRuntime:
        """Raises OpscanError where the process finds no CANN, or another one than the simulated."""
        try:
            library = ctypes.CDLL(name)
        except OSError as error:
            raise OpscanError(
                f"The simulated CANN runtime cannot be loaded: {error}.",
                "The process has to start with the folder of the compiled runtime in LD_LIBRARY_PATH.",
            ) from error
        try:
            interface = library.opscan_sim_interface()
        except AttributeError:
            raise OpscanError(
                f"{name} in this process is not opscan's simulated CANN runtime.",
                "Another CANN stands before it in LD_LIBRARY_PATH, or was loaded first.",
            ) from None
        if interface != _INTERFACE:
            raise OpscanError("The simulated CANN runtime was built by another version of opscan.", "Build it again.")
        return cls(library)

    def drain(self) -> tuple[Event, ...]:
        """The events since the last call, in order."""
        return decode(self.drain_lines())

    def drain_lines(self) -> bytes:
        """The same as the runtime writes them: one JSON value a line."""
        size = self._pending()
        if not size:
            return b""
        buffer = ctypes.create_string_buffer(size)
        return ctypes.string_at(buffer, self._drain(buffer, size))

    def discard(self) -> None:
        """Forget the events so far."""
        self._library.opscan_sim_discard()

    def copy_limit(self, limit: int | None) -> None:
        """Copies and fills of more bytes are logged and not done; None: all are done, as at the start."""
        self._library.opscan_sim_copy_limit(_NO_LIMIT if limit is None else limit)

    def next_shape(self, shape: Sequence[int]) -> None:
        """The shape that the next result whose size depends on data shall have, in the order of the calls of this.

        Without one, such a result has the largest shape that it can have. It cannot be larger than that.
        """
        self._library.opscan_sim_next_shape((ctypes.c_int64 * len(shape))(*shape), len(shape))

    def forget_shapes(self) -> None:
        """Drop the shapes that no result took."""
        self._library.opscan_sim_forget_shapes()
