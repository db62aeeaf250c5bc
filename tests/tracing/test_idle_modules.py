"""What of a model a run leaves idle is a finding."""

from __future__ import annotations

from traced_files import Trace

TOWERS = """
class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.text, self.vision = nn.Linear(3, 4), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4))
        self.layers = nn.ModuleList(nn.ModuleDict({"run": nn.Linear(4, 4), "gate": nn.Linear(4, 1)}) for _ in range(3))

    def forward(self, x, image=None):
        x = self.text(x)
        for layer in self.layers:
            x = layer["run"](x)
        return x if image is None else x + self.vision(image)
"""


def idle(traced: object) -> list[str]:
    findings = traced.inventory.findings  # type: ignore[attr-defined]
    return [f"{f.facts['modules']}: {f.facts['parameters']}" for f in findings if f.rule == "OPS671"]


def test_idle_modules_are_named_once_with_all_below_them(trace: Trace) -> None:
    assert idle(trace(TOWERS, "1,3")) == ["vision, layers.*.gate (3): 51"]
    assert idle(trace(TOWERS, "1,3", "1,3")) == ["layers.*.gate (3): 15"]
    assert idle(trace(TOWERS, "1,3", "1,3", train=True)) == ["layers.*.gate (3): 15"]


def test_parameters_count_and_not_calls(trace: Trace) -> None:
    traced = trace(
        """
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.recurrent = nn.MultiheadAttention(4, 2), nn.LSTM(4, 4)
        self.table, self.head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.head.weight = self.table.weight

    def forward(self, x):
        x = self.attention(x, x, x)[0]
        return self.recurrent(x)[0] @ self.table.weight[1:].T
""",
        "3,2,4",
    )
    assert idle(traced) == []
