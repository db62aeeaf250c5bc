"""Small models through the tracers that capture, and what tests ask of them beside the dispatch tracer's inventory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from traced_files import Scanner, Traced, release_of

from opscan.worker.host import Engine, Worker

Captures = Callable[..., Traced]


@contextmanager
def scanner_of(tracer: str) -> Iterator[Scanner]:
    with Worker(Engine(tracer=tracer)) as worker:  # type: ignore[arg-type]
        yield Scanner(worker, release_of("2.13.0"))


def places(traced: Traced, phase: str = "forward") -> Counter[tuple[str, int, str]]:
    """Calls by operator, line and module; line 0 where autograd itself makes one."""
    found: Counter[tuple[str, int, str]] = Counter()
    for call in traced.calls:
        if call.phase == phase:
            where = call.location
            found[call.name, where.line if where else 0, where.module if where else ""] += call.count
    return found


#: Modules in modules, a composite operator, writes in place, a factory, and gradients switched off.
NESTED = """
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm, self.act = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True)
        def forward(self, x):
            x = self.norm(self.conv(x))
            x += torch.arange(x.shape[-1], device=x.device)
            x = self.act(x)
            with torch.no_grad():  # <-- off
                scale = x.mean() * 2
            return x * scale
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks, self.head = nn.ModuleList([Block()]), nn.Linear(4, 2)
        def forward(self, x):
            x = self.blocks[0](x).flatten(2).transpose(1, 2)
            return {"out": self.head(F.scaled_dot_product_attention(x, x, x))}
    model = Net()
"""

#: A derivative of the model's own.
OWN_DERIVATIVE = """
    class Gate(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            return x.relu() * k
        @staticmethod
        def backward(ctx, g):
            return g.sinh() * (ctx.saved_tensors[0] > 0), None
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(4, 4)
        def forward(self, x):
            return Gate.apply(self.lin(x), 2.0)
    model = Net()
"""

#: Arguments of all kinds.
ARGUMENTS = """
    class Net(nn.Module):
        def forward(self, x, *, past=None, flag=False, **named):
            y = x + past[0][0] if flag else x
            return y, sum(named.values())
    model = Net()
    def example_inputs():
        one = torch.ones(2)
        return (one,), {"past": ((one, one),), "flag": True, "a": one, "b": one}
"""


def assert_alike(captured: Traced, run: Traced, train: bool) -> None:
    """What is captured is all that eager mode runs, at its lines and in its modules."""
    assert captured.complete
    for phase in ("forward", "backward") if train else ("forward",):
        assert places(captured, phase) == places(run, phase)
    assert captured.inventory.parameters == run.inventory.parameters
