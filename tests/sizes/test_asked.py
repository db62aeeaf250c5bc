"""``--dynamic`` for a file: what is open already, what it fixes, and what is not there."""

from __future__ import annotations

import pytest

from opscan.errors import UsageError
from opscan.inventory import VaryingInput
from opscan.sizes.asked import marked
from opscan.workload import DynamicInput

IMAGE = VaryingInput("x", "float32", ("N", 3, "x.2", 224), (0, 3, 0, 224))


def test_an_open_dimension_keeps_its_name_and_gets_the_range() -> None:
    inputs, fixed = marked((IMAGE,), (DynamicInput("x", (0,), ((1, 16),)),))
    assert inputs[0].shape == ("N", 3, "x.2", 224)
    assert inputs[0].ranges == ((1, 16), None)
    assert fixed == ()


def test_a_dimension_that_the_file_fixes_is_told() -> None:
    inputs, fixed = marked((IMAGE,), (DynamicInput("0", (-1, 2), labels=("width", "height")),))
    assert inputs[0].shape == ("N", 3, "height", "width")
    assert fixed == ("x.3 = 224",)


@pytest.mark.parametrize("asked", [DynamicInput("y", (0,)), DynamicInput("1", (0,)), DynamicInput("x", (4,))])
def test_what_is_not_there_is_refused_and_what_is_there_is_listed(asked: DynamicInput) -> None:
    with pytest.raises(UsageError) as caught:
        marked((IMAGE,), (asked,))
    assert "N, 3, x.2, 224" in caught.value.hint
