"""Small models at several sizes, from a file through the tracing process."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_files import HEADER, release_of

from opscan.errors import UsageError
from opscan.inventory import Dim, Inventory
from opscan.loading.dynamic_sizes import parse_dynamic
from opscan.loading.inputs import parse_input_shape
from opscan.loading.reference import parse_reference
from opscan.worker.host import Worker
from opscan.worker.protocol import Scan
from opscan.workload import Workload

PICTURE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, stride=2, padding=1)

    def forward(self, x):
        return F.interpolate(self.conv(x), size=(x.shape[2] * 2, x.shape[3] * 2), mode="nearest").flatten(2).mean(-1)
"""

SENTENCE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(100, 32)
        self.positions = nn.Parameter(torch.zeros(64, 32))
        self.linear = nn.Linear(32, 32)

    def forward(self, ids):
        h = self.tokens(ids) + self.positions[: ids.shape[1]]  # 64 positions
        return F.scaled_dot_product_attention(h, h, self.linear(h))
"""

LOOP = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 8, device=x.device)
        for t in range(x.shape[1]):
            h = torch.tanh(self.cell(x[:, t]) + h)
        return torch.sin(h) if x.shape[0] > 2 else h
"""

FLAT = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3 * 8 * 8, 10)

    def forward(self, x):
        return self.linear(x.flatten(1))
"""


def trace(worker: Worker, folder: Path, source: str, shape: str, *dynamic: str) -> Inventory:
    (folder / "model.py").write_text(HEADER + source)
    workload = Workload(dynamic=tuple(map(parse_dynamic, dynamic)))
    reference = parse_reference(str(folder / "model.py"))
    request = Scan(reference, (parse_input_shape(shape),), release_of("2.13.0"), workload)
    return worker.scan(request, lambda stage: None).inventory


def shapes(inventory: Inventory, name: str) -> tuple[tuple[Dim, ...], ...]:
    (call,) = [call for call in inventory.calls if call.name == name]
    return call.symbolic


def test_a_picture_of_any_size(worker: Worker, tmp_path: Path) -> None:
    found = trace(worker, tmp_path, PICTURE, "1,3,6,8", "x:0,2,3")
    assert found.trace.sizes == ("x.0 = 1, 2, 3", "x.2 = 6, 7, 8", "x.3 = 8, 16, 24")
    assert shapes(found, "aten::upsample_nearest2d")[-1] == ("x.0", 16, "2*x.2", "2*x.3")
    assert shapes(found, "aten::convolution")[0] == ("x.0", 3, "x.2", "x.3")
    assert shapes(found, "aten::mean.dim")[0] == ("x.0", 16, "4*x.2*x.3")
    assert found.findings == ()
    assert found.inputs[0].shape == ("x.0", 3, "x.2", "x.3")


def test_a_sentence_that_is_longer_than_the_table_of_positions(worker: Worker, tmp_path: Path) -> None:
    found = trace(worker, tmp_path, SENTENCE, "1,16:int64", "ids:1=8..128")
    (finding,) = found.findings
    assert finding.rule == "OPS662"
    assert finding.facts["refused"] == "ids.1 = 128"
    assert finding.facts["outcome"] == "It takes 8, 16, 64."
    assert "RuntimeError" in finding.facts["error"]
    assert [(place.file, place.line) for place in finding.locations] == [("model.py", 13)]
    assert found.trace.sizes == ("ids.1 = 16, 8, 64 (refused: 128)",)


def test_a_loop_over_a_length_and_a_branch_on_a_batch(worker: Worker, tmp_path: Path) -> None:
    found = trace(worker, tmp_path, LOOP, "2,4,8", "x:0,1")
    told = {finding.facts["sizes"]: finding.facts["operators"] for finding in found.findings}
    assert told["x.0 = 3"] == "aten::sin 0 → 1"
    assert "aten::tanh 4 → 5" in told["x.1 = 5"]
    assert "aten::sin" in {call.name for call in found.calls}


def test_a_layer_for_one_size(worker: Worker, tmp_path: Path) -> None:
    found = trace(worker, tmp_path, FLAT, "2,3,8,8", "x:0,2")
    (finding,) = found.findings
    assert finding.facts["outcome"] == "It is fixed at 8."
    assert shapes(found, "aten::addmm")[1] == ("x.0", 192)


def test_an_input_that_is_not_there(worker: Worker, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        trace(worker, tmp_path, FLAT, "2,3,8,8", "y:0")
    assert "x[2, 3, 8, 8]" in caught.value.hint
