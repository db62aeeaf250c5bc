"""Configurations that transformers refuses or completes: by stand-ins for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from opscan.errors import LoadError
from opscan.loading.interface import LoadedModel
from opscan.loading.preparation import load
from opscan.loading.reference import ConfigurationReference
from opscan.loading.transformers_class import class_for
from opscan.loading.transformers_offline import timm_names_known

LIBRARY = """
import torch
from types import SimpleNamespace

__version__ = "4.0"


class Configuration:
    def __init__(self, model_type="mine", **values):
        vars(self).update(model_type=model_type, **values)
        if values.get("broken"):
            raise ValueError("both `encoder` and `decoder` sub-configurations were not passed")
        if values.get("backbone"):
            self.backbone_config = AutoConfig.from_pretrained(values["backbone"], model_args={"in_chans": 3})

    def to_dict(self):
        return vars(self)

    @classmethod
    def from_dict(cls, values):
        return cls(**values)


class Speaking(Configuration):
    pass


class TimmWrapperConfig(Configuration):
    pass


class AutoConfig:
    @classmethod
    def from_pretrained(cls, name, **kwargs):
        raise OSError("We couldn't connect to the hub.")


class Words(torch.nn.Module):
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.table = torch.nn.Embedding(config.vocab_size, 4)

    @classmethod
    def _from_config(cls, config):
        return cls(config)

    def forward(self, input_ids, attention_mask=None):
        return self.table(input_ids)


class Speaker(Words):
    forward = torch.nn.Module.forward


sound = SimpleNamespace(_model_mapping={Speaking: Speaker})
configuration_auto = SimpleNamespace(CONFIG_MAPPING={"mine": Configuration, "speaking": Speaking})
modeling_auto = SimpleNamespace(MODEL_MAPPING={Configuration: (Words, None)}, AutoModelForSound=sound)
auto = SimpleNamespace(configuration_auto=configuration_auto, modeling_auto=modeling_auto)
models = SimpleNamespace(auto=auto)
"""


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "transformers.py").write_text(LIBRARY)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    held = {n: m for n, m in sys.modules.items() if n.partition(".")[0] == "transformers"}
    for name in held:
        del sys.modules[name]

    def load_it(**values: object) -> LoadedModel:
        (tmp_path / "config.json").write_text(json.dumps(values))
        return load(ConfigurationReference(str(tmp_path / "config.json")), (), train=False)

    yield load_it
    sys.modules.pop("transformers", None)
    sys.modules.update(held)


def test_the_first_of_a_pair_of_classes_is_taken(configured: Any) -> None:
    model = configured(model_type="mine", vocab_size=20)
    assert type(model.callable).__name__ == "Words"
    assert set(model.kwargs) == {"input_ids", "attention_mask"}


def test_kernels_for_cuda_are_off_and_told(configured: Any) -> None:
    model = configured(model_type="mine", vocab_size=20, use_mamba_kernels=True)
    assert model.callable.config.use_mamba_kernels is False
    assert any("use_mamba_kernels is off" in note.en for note in model.notes)
    assert len(configured(model_type="mine", vocab_size=20, use_mamba_kernels=False).notes) == 1


def test_a_configuration_of_timms_needs_no_hub(configured: Any) -> None:
    config = configured(model_type="mine", vocab_size=20, backbone="timm/tiny_net.trained").callable.config
    assert config.backbone_config.architecture == "tiny_net"
    assert config.backbone_config.model_args == {"in_chans": 3}
    with pytest.raises(LoadError, match="leaves a part of the model to a hub"):
        configured(model_type="mine", vocab_size=20, backbone="owner/model")


def test_the_hub_is_asked_again_afterwards() -> None:
    class AutoConfig:
        @classmethod
        def from_pretrained(cls, name: str) -> str:
            return f"{cls.__name__} {name}"

    library = SimpleNamespace(AutoConfig=AutoConfig, TimmWrapperConfig=lambda architecture: architecture)
    with timm_names_known(library):
        assert AutoConfig.from_pretrained("timm/a.b") == "a"
        assert AutoConfig.from_pretrained("x/y") == "AutoConfig x/y"
    assert AutoConfig.from_pretrained("timm/a.b") == "AutoConfig timm/a.b"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"broken": True}, "needs configurations of the model's parts"),
        ({}, "builds no model from .*: AttributeError: .*vocab_size"),
        ({"model_type": "speaking"}, "Speaker .* has no forward"),
        ({"model_type": "none"}, "knows no model type 'none'"),
    ],
)
def test_what_cannot_be_built_is_told_in_one_line(configured: Any, values: dict[str, Any], said: str) -> None:
    with pytest.raises(LoadError, match=said):
        configured(**{"model_type": "mine", **values})


def test_classes_that_no_table_lists_are_found_beside_their_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = type("Configuration", (), {"__module__": "made.configuration_up"})
    with_head = type("UpForSound", (nn.Module,), {"config_class": configuration})
    headless = type("UpModel", (nn.Module,), {"config_class": configuration})
    base = type("UpPreTrainedModel", (nn.Module,), {"config_class": configuration})
    monkeypatch.setitem(sys.modules, "made", SimpleNamespace())
    beside = SimpleNamespace(UpPreTrainedModel=base, UpModel=headless, UpForSound=with_head, torch=torch)
    monkeypatch.setitem(sys.modules, "made.modeling_up", beside)
    auto = SimpleNamespace(auto=SimpleNamespace(modeling_auto=SimpleNamespace(MODEL_MAPPING={})))
    library = SimpleNamespace(models=auto, Named=headless)
    assert class_for(library, configuration(), []) is with_head
    assert class_for(library, configuration(), ["Missing", "Named"]) is headless
    del beside.UpForSound, beside.UpModel
    assert class_for(library, configuration(), []) is None
