"""Inputs by the names of parameters and the numbers of a configuration: hand-built models, without transformers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from opscan.loading.transformers_inputs import inputs_for
from opscan.loading.transformers_numbers import TEXT, Numbers, special_tokens
from opscan.loading.transformers_texts import opened_tokens


class Configuration:
    """As transformers' own, as far as anybody asks."""

    def __init__(self, model_type: str = "mine", **values: Any) -> None:
        self.model_type = model_type
        vars(self).update(values)

    def to_dict(self) -> dict[str, Any]:
        return vars(self)


class Model(nn.Module):
    main_input_name = "input_ids"

    def __init__(self, **values: Any) -> None:
        super().__init__()
        self.config = Configuration(**values)


class Seeing(Model):
    """Text with images among it: four features an image, ``width`` numbers each."""

    width = 8

    def __init__(self, **values: Any) -> None:
        vision = Configuration("eye", image_size=32, num_channels=3, vocab_size=7)
        super().__init__(
            vision_config=vision, text_config=Configuration("words", vocab_size=50), image_token_id=5, **values
        )
        self.table = nn.Embedding(50, 8)

    def get_input_embeddings(self) -> nn.Embedding:
        return self.table

    def get_image_features(self, pixel_values: torch.Tensor, select: str) -> list[torch.Tensor]:
        assert select == "all"
        return [torch.zeros(4, self.width) for _ in pixel_values]

    def forward(self, input_ids: Any = None, pixel_values: Any = None, attention_mask: Any = None, **rest: Any) -> Any:
        places = input_ids == 5
        return self.table(input_ids).masked_scatter(places[..., None], torch.zeros(4 * 8)) if places.any() else None


def shapes(made: dict[str, Any]) -> dict[str, list[int]]:
    return {name: list(value.shape) for name, value in made.items()}


def test_every_feature_of_an_image_has_a_place_in_the_text() -> None:
    made, notes = inputs_for(Seeing(select="all", max_position_embeddings=18))
    assert shapes(made) == {"input_ids": [1, 20], "pixel_values": [1, 3, 32, 32], "attention_mask": [1, 20]}
    assert (made["input_ids"] == 5).sum() == 4
    assert not notes
    assert Seeing()(**made) is not None


def test_features_may_be_the_pooled_output_of_the_vision_tower() -> None:
    class Pooled(Seeing):
        def get_image_features(self, pixel_values: torch.Tensor, select: str) -> Any:
            features = super().get_image_features(pixel_values, select)
            return SimpleNamespace(last_hidden_state=torch.zeros(1, 9, 6), pooler_output=features)

    made, notes = inputs_for(Pooled(select="all"))
    assert (made["input_ids"] == 5).sum() == 4
    assert not notes


def test_features_that_do_not_fit_the_text_are_left_out_and_told() -> None:
    model = Seeing(select="all")
    model.width = 9
    made, (note,) = inputs_for(model)
    assert set(made) == {"input_ids", "attention_mask"}
    assert not (made["input_ids"] == 5).any()
    assert "without pixel_values" in note.en
    assert "9 numbers each, those of a token 8" in note.en
    made, (note,) = inputs_for(Seeing(select="some"))
    assert set(made) == {"input_ids", "attention_mask"}
    assert "get_image_features() raises AssertionError" in note.en


def test_tokens_around_an_image_stand_around_it() -> None:
    made, _ = inputs_for(Seeing(select="all", vision_start_token_id=6, vision_end_token_id=7))
    assert made["input_ids"][0, 1:7].tolist() == [6, 5, 5, 5, 5, 7]
    assert not {5, 6, 7} & set(made["input_ids"][0, 7:].tolist())


def test_an_encoder_with_a_decoder_is_given_what_was_written() -> None:
    class Pair(Model):
        def forward(self, input_ids: Any, attention_mask: Any = None, decoder_input_ids: Any = None) -> None: ...

    assert set(inputs_for(Pair(vocab_size=9))[0]) == {"input_ids", "attention_mask"}
    made, _ = inputs_for(Pair(vocab_size=9, is_encoder_decoder=True, pad_token_id=3))
    assert shapes(made)["decoder_input_ids"] == [1, 16]
    assert 0 <= int(made["input_ids"].min()) <= int(made["input_ids"].max()) < 9
    assert 3 not in made["input_ids"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"image_size": (20, 30)}, [1, 3, 20, 30]),
        ({"image_size": 8, "num_channels": 1}, [1, 1, 8, 8]),
        ({"model_type": "vivit", "image_size": 8, "num_frames": 5}, [1, 5, 3, 8, 8]),
        ({"model_type": "lightglue"}, [1, 2, 3, 224, 224]),
        ({"model_type": "depth_pro", "patch_size": 4, "scaled_images_ratios": [0.25, 1]}, [1, 3, 16, 16]),
    ],
)
def test_images(values: dict[str, Any], expected: list[int]) -> None:
    class Eye(Model):
        main_input_name = "pixel_values"

        def forward(self, pixel_values: Any) -> None: ...

    assert shapes(inputs_for(Eye(**values))[0]) == {"pixel_values": expected}


def test_patches_come_with_their_grid() -> None:
    class Grid(Model):
        def forward(self, pixel_values: Any, image_grid_thw: Any = None) -> None: ...

    class Row(Model):
        def forward(self, pixel_values: Any, pixel_attention_mask: Any, spatial_shapes: Any) -> None: ...

    made, _ = inputs_for(Grid(in_channels=3, temporal_patch_size=2, patch_size=4))
    assert shapes(made) == {"pixel_values": [256, 96], "image_grid_thw": [1, 3]}
    made, _ = inputs_for(Row(num_patches=9, patch_size=2, num_channels=3))
    assert shapes(made) == {"pixel_values": [1, 9, 12], "pixel_attention_mask": [1, 9], "spatial_shapes": [1, 2]}
    assert made["spatial_shapes"].tolist() == [[3, 3]]


def test_a_tiled_image_has_the_tiles_of_its_size_and_itself() -> None:
    class Tiled(Model):
        def forward(self, pixel_values: Any, image_sizes: Any = None) -> None: ...

    made, _ = inputs_for(Tiled(image_size=10, image_grid_pinpoints=[[10, 20], [20, 20]]))
    assert shapes(made)["pixel_values"] == [1, 3, 3, 10, 10]
    assert made["image_sizes"].tolist() == [[10, 20]]
    assert set(inputs_for(Tiled(image_size=10))[0]) == {"pixel_values"}


def test_sounds_and_series() -> None:
    class Ear(Model):
        def forward(self, input_features: Any, feature_attention_mask: Any = None) -> None: ...

    class Series(Model):
        def forward(self, past_values: Any, past_time_features: Any, past_observed_mask: Any) -> None: ...

    made, _ = inputs_for(Ear(model_type="whisper", num_mel_bins=5, max_source_positions=7))
    assert shapes(made) == {"input_features": [1, 5, 14], "feature_attention_mask": [1, 14]}
    assert shapes(inputs_for(Ear(num_mel_bins=5))[0])["input_features"] == [1, 128, 5]
    made, _ = inputs_for(Series(context_length=6, lags_sequence=[1, 4], num_time_features=2))
    assert shapes(made) == {"past_values": [1, 10], "past_time_features": [1, 10, 2], "past_observed_mask": [1, 10]}


def test_numbers_stand_in_parts_too() -> None:
    inner = Configuration("words", vocab_size=11, pad_token_id=2)
    whole = Configuration(text_config=Configuration("middle", decoder=inner), eos_token_id=1, hidden=[4, 5])
    assert Numbers(whole, TEXT).integer(0, "vocab_size") == 11
    assert Numbers(whole, TEXT).integer(0, "hidden") == 4
    assert Numbers(whole, TEXT).pair(3, "nothing") == (3, 3)
    assert special_tokens(whole) == {"eos_token_id": 1, "pad_token_id": 2}


def test_a_token_that_is_left_open_is_chosen_and_told() -> None:
    configuration = Configuration(image_token_index=None, vocab_size=30)
    (note,) = opened_tokens(configuration)
    assert configuration.image_token_index == 29
    assert "image_token_index" in note.en
    assert opened_tokens(configuration) == []


def test_the_rest_fits_what_is_given() -> None:
    ids = torch.ones(2, 7, dtype=torch.int64)
    made, _ = inputs_for(Seeing(select="all"), {"input_ids": ids})
    assert shapes(made) == {"input_ids": [2, 7], "attention_mask": [2, 7]}
    made, _ = inputs_for(Seeing(select="all"), {"pixel_values": torch.rand(2, 3, 8, 8)})
    assert (made["input_ids"] == 5).sum() == 8
    assert shapes(made)["pixel_values"] == [2, 3, 8, 8]
