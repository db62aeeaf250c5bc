"""Models that libraries make by name: with small stand-ins for the libraries, and with the real ones where they are."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from opscan.errors import LoadError
from opscan.loading.factory_arguments import Argument
from opscan.loading.inputs import parse_input_shape
from opscan.loading.interface import LoadedModel
from opscan.loading.offline import keep_offline
from opscan.loading.preparation import load
from opscan.loading.reference import ConfigurationReference, LibraryReference
from opscan.loading.torchvision_operators import ensure_importable
from opscan.worker.shield import shield_from_torch_npu

TIMM = """
import torch
def list_models(): return ["tiny_net", "tiny_vit"]
def is_model(name): return name in list_models()
def create_model(name, pretrained, width=2):
    assert pretrained is False
    model = torch.nn.Conv2d(3, width, 3)
    model.pretrained_cfg = {"input_size": (3, 48, 32)}
    return model
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of small libraries in place of the real ones, which come back afterwards."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def of_libraries() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in ("timm", "torchvision")]

    held = {name: sys.modules.pop(name) for name in of_libraries()}
    (tmp_path / "timm.py").write_text(TIMM)
    yield tmp_path
    for name in of_libraries():
        del sys.modules[name]
    sys.modules.update(held)


TORCHVISION = """
import torch
class Transformer(torch.nn.Module):
    image_size = 224
    def forward(self, x): return x
def list_models(): return ["vit_large"]
def get_model_builder(name): return vit_large
def vit_large(weights="something"):
    assert weights is None
    return Transformer()
class OfWeights:
    meta = {}
    def transforms(self):
        class Preset: crop_size = [518]
        return Preset
def get_model_weights(name):
    class Weights: DEFAULT = OfWeights()
    return Weights
"""


def test_weights_may_be_for_larger_images_than_the_model_is_built_for(stand_in: Path) -> None:
    (stand_in / "torchvision").mkdir()
    (stand_in / "torchvision" / "__init__.py").write_text("")
    (stand_in / "torchvision" / "models.py").write_text(TORCHVISION)
    model = load(LibraryReference("torchvision", "vit_large"), (), train=False)
    assert model.args[0].shape == (1, 3, 224, 224)


def timm(name: str, *arguments: Argument, inputs: tuple[str, ...] = (), train: bool = False) -> LoadedModel:
    return load(LibraryReference("timm", name, arguments), tuple(map(parse_input_shape, inputs)), train)


def test_a_model_is_fed_what_it_is_configured_for(stand_in: Path) -> None:
    model = timm("tiny_net")
    assert [tuple(a.shape) for a in model.args] == [(1, 3, 48, 32)]
    assert "float32[1, 3, 48, 32]" in model.notes[0].en
    assert timm("tiny_net", Argument("width", "5")).callable.out_channels == 5
    assert timm("tiny_net", train=True).args[0].shape[0] == 2
    assert timm("tiny_net", inputs=("4,3,8,8",)).args[0].shape == (4, 3, 8, 8)


def test_no_such_model(stand_in: Path) -> None:
    with pytest.raises(LoadError, match="no such model") as raised:
        timm("tiny_nett")
    assert "tiny_net" in raised.value.hint


def test_trained_weights_are_refused(stand_in: Path) -> None:
    with pytest.raises(LoadError, match="random weights"):
        timm("tiny_net", Argument("pretrained", "True"))


def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(LoadError, match="torchvision:resnet50 needs torchvision"):
        load(LibraryReference("torchvision", "resnet50"), (), train=False)


def test_nothing_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.hub, "download_url_to_file", torch.hub.download_url_to_file)
    monkeypatch.setattr(torch.hub, "urlopen", None)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    keep_offline()
    with pytest.raises(LoadError, match=r"would download https://example\.org/w\.pth"):
        torch.hub.load_state_dict_from_url("https://example.org/w.pth")
    with pytest.raises(RuntimeError, match="could not be found in the cache"):
        torch.hub.load("owner/repository", "model", trust_repo=True)


def test_pipelines_are_scanned_part_by_part(tmp_path: Path) -> None:
    (tmp_path / "unet").mkdir()
    (tmp_path / "unet/config.json").write_text("{}")
    (tmp_path / "model_index.json").write_text('{"_class_name": "Pipeline", "unet": ["diffusers", "UNet"]}')
    with pytest.raises(LoadError, match="several models") as raised:
        load(ConfigurationReference(str(tmp_path / "model_index.json")), (), train=False)
    assert f"hf:{tmp_path / 'unet'}" in raised.value.hint


# --- real libraries ---------------------------------------------------------------------------------------------

SMALL = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": 99,
}  # fmt: skip
needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers is not installed"
)


def configured(folder: Path, trust: bool = False, **values: object) -> LoadedModel:
    (folder / "config.json").write_text(json.dumps(values))
    return load(ConfigurationReference(str(folder / "config.json"), trust), (), train=False)


@pytest.fixture
def without_torch_npu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """transformers imports an installed torch_npu, which does not import without CANN."""
    ensure_importable()
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    shield_from_torch_npu("2.13.0")
    yield
    for name in [n for n in sys.modules if n.partition(".")[0] == "torch_npu"]:
        del sys.modules[name]


@needs_transformers
@pytest.mark.usefixtures("without_torch_npu")
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("bert", {"input_ids", "attention_mask"}),
        ("llama", {"input_ids", "attention_mask"}),
        ("vit", {"pixel_values"}),
        ("wav2vec2", {"input_values"}),
        ("t5", {"input_ids", "attention_mask", "decoder_input_ids"}),
    ],
)
def test_inputs_by_modality(tmp_path: Path, kind: str, names: set[str]) -> None:
    model = configured(tmp_path, model_type=kind, **SMALL)
    assert set(model.kwargs) == names
    with torch.no_grad():
        model.callable(*model.args, **model.kwargs)


@needs_transformers
def test_remote_code_is_refused_without_trust(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="of its own code") as raised:
        configured(tmp_path, model_type="mine", auto_map={"AutoConfig": "configuration_mine.Mine"})
    assert "--trust" in raised.value.hint
    with pytest.raises(LoadError, match="knows no model type 'nonesuch'"):
        configured(tmp_path, model_type="nonesuch")


@pytest.mark.skipif(importlib.util.find_spec("torchvision") is None, reason="torchvision is not installed")
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("resnet18", (1, 3, 224, 224)),
        ("r3d_18", (1, 3, 16, 112, 112)),
        ("inception_v3", (1, 3, 299, 299)),
        ("vit_h_14", (1, 3, 224, 224)),
    ],
)
def test_torchvision(name: str, shape: tuple[int, ...]) -> None:
    ensure_importable()
    assert load(LibraryReference("torchvision", name), (), train=False).args[0].shape == shape
