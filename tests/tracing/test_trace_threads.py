"""What a model does in threads of its own, and with tensors of its own kind."""

from __future__ import annotations

import threading

from traced_files import Trace

from opscan.tracing.threads import threads_followed


class Mode:
    """Counts how often it is entered and left, by thread."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def __enter__(self) -> None:
        self.seen.append(("enter", threading.get_ident()))

    def __exit__(self, *exception: object) -> None:
        self.seen.append(("exit", threading.get_ident()))


def test_a_thread_runs_under_the_modes() -> None:
    mode, idents = Mode(), []
    with threads_followed(mode):
        thread = threading.Thread(target=lambda: idents.append(threading.get_ident()))
        thread.start()
        thread.join()
    assert mode.seen == [("enter", idents[0]), ("exit", idents[0])]
    later = threading.Thread(target=lambda: None)
    later.start()
    later.join()
    assert len(mode.seen) == 2


def test_operators_of_threads_are_seen_with_their_modules(trace: Trace) -> None:
    found = trace(
        """
        from concurrent.futures import ThreadPoolExecutor
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
            def forward(self, x):
                with ThreadPoolExecutor(4) as pool:
                    outs = list(pool.map(lambda layer: layer(x), self.layers))
                return sum(outs).cosh()
        """,
        "2,4",
    )
    assert found.times("aten::addmm") == 4
    modules = {c.location.module for c in found.calls if c.name == "aten::addmm" and c.location}
    assert modules == {f"layers.{n}" for n in range(4)}
    assert found.times("aten::cosh") == 1


def test_tensors_made_of_others_say_what_they_do(trace: Trace) -> None:
    found = trace(
        """
        class Wrapped(torch.Tensor):
            @staticmethod
            def __new__(cls, inner):
                made = torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype, device=inner.device)
                made.inner = inner
                return made
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return cls(func(*(a.inner if isinstance(a, cls) else a for a in args)))
        class M(nn.Module):
            def forward(self, x):
                return (Wrapped(x) + 1).cosh().inner
        """,
        "2",
    )
    assert found.names() == ["aten::add.Tensor", "aten::cosh"]
