"""The offline route through the child processes: a file, and models that are exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from onnx_models import convolution

from opscan.errors import LoadError, ModelError, OpscanError
from opscan.loading.onnx_reference import OnnxFileReference
from opscan.loading.reference import parse_reference
from opscan.matrix.query import Matrix
from opscan.scan import release_for
from opscan.target import Target
from opscan.worker.host import Engine, Worker
from opscan.worker.protocol import Scan, ScanOnnx

MODELS = """
import torch
from torch import nn

class Fourier(nn.Module):
    def forward(self, x):
        return torch.fft.ifft2(torch.fft.fft2(x) * 0.5).real

class Wrong(nn.Module):
    def forward(self, x):
        return x @ torch.ones(3, 3)

class Right(nn.Module):
    def forward(self, x):
        return x.relu()

def example_inputs():
    return (torch.randn(1, 1, 8, 8),)
"""


def silent(stage: str) -> None:
    pass


@pytest.fixture(scope="module")
def exporting() -> Iterator[Worker]:
    with Worker(Engine(tracer="onnx")) as worker:
        yield worker


def request(folder: Path, name: str) -> Scan:
    path = folder / "models.py"
    path.write_text(MODELS, encoding="utf-8")
    release = release_for(Matrix.load(Target("2.13.0", "9.1.0", "ascend910b", "offline")))
    return Scan(parse_reference(f"{path}:{name}"), (), release)


def test_a_file_needs_no_torch(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(convolution().SerializeToString())
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(convolution().SerializeToString()[:-20])
    with Worker(Engine(tracer="onnx-file")) as worker:
        inventory = worker.scan(ScanOnnx(OnnxFileReference(str(path))), silent).inventory
        with pytest.raises(LoadError, match="is no complete ONNX model"):
            worker.scan(ScanOnnx(OnnxFileReference(str(broken))), silent)
    assert [call.name for call in inventory.calls] == ["ai.onnx::Conv", "ai.onnx::Relu"]
    assert inventory.parameters == 12


def test_a_model_is_exported(exporting: Worker, tmp_path: Path) -> None:
    inventory = exporting.scan(request(tmp_path, "Right"), silent).inventory
    (call,) = inventory.calls
    assert call.name == "ai.onnx::Relu"
    assert call.location is not None
    assert (call.location.file, call.location.line) == ("models.py", 15)
    assert inventory.trace.values == "computed"


def test_an_error_of_the_model_shows_its_line(exporting: Worker, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"models\.py:11: running the model failed"):
        exporting.scan(request(tmp_path, "Wrong"), silent)


def test_where_the_export_fails_the_dispatcher_answers(exporting: Worker, tmp_path: Path) -> None:
    """Twice, since there is one virtual device a process. The newer exporter may be installed, and then it succeeds."""
    for _ in range(2):
        inventory = exporting.scan(request(tmp_path, "Fourier"), silent).inventory
        names = {call.name for call in inventory.calls}
        assert "ai.onnx::DFT" in names or "aten::_fft_c2c" in names
        assert inventory.trace.complete == ("ai.onnx::DFT" in names)
        assert inventory.trace.attempts[-1].ok == inventory.trace.complete


def test_the_offline_route_is_not_rehearsed() -> None:
    from opscan.engine import choose

    target = Target("2.13.0", "9.1.0", "ascend910b", "offline")
    with pytest.raises(OpscanError, match="cannot be rehearsed"):
        choose("rehearse", target, silent)
    assert choose("auto", target, silent).engine.tracer == "onnx"
