"""What a report says of sizes in each route."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from opscan.inventory import Dim, Finding, Inventory, OpCall, TensorSpec, Trace, VaryingInput
from opscan.sizes.findings import findings_on_sizes
from opscan.target import Route, Target

TRACE = Trace("dispatch", "virtual", "2.13.0", False, True)
BATCH = (VaryingInput("x", "float32", ("x.0", 3, 224, 224), (1, 3, 224, 224), ((1, 8),)),)


def call(
    name: str, *shapes: tuple[int, ...], symbolic: tuple[tuple[Dim, ...], ...] = (), dtype: str = "float16"
) -> OpCall:
    specs = tuple(TensorSpec(dtype, shape) for shape in shapes)
    return OpCall(name, "forward", specs[:-1], specs[-1:], symbolic=symbolic)


def told(
    *calls: OpCall,
    inputs: tuple[VaryingInput, ...] = (),
    route: Route = "eager",
    soc: str = "ascend910b",
    kernels: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, Finding]:
    inventory = Inventory("m.py", 0, TRACE, calls, inputs=inputs)
    found = findings_on_sizes(inventory, kernels or {}, Target("2.13.0", "9.1.0", soc, route))
    assert len({finding.rule for finding in found}) == len(found)
    return {finding.rule: finding for finding in found}


def test_a_model_of_fixed_and_full_sizes_is_not_talked_about() -> None:
    assert told(call("aten::mm", (32, 64), (64, 64), (32, 64))) == {}


@pytest.mark.parametrize(
    "name", ["aten::nonzero", "aten::_unique2", "aten::bincount", "aten::masked_select", "aten::_local_scalar_dense"]
)
@pytest.mark.parametrize("route", ["eager", "graph", "offline"])
def test_sizes_and_values_that_depend_on_data_are_counted(name: str, route: Route) -> None:
    found = told(call(name, (16,), (3,)), call(name, (16,), (3,)), route=route)
    assert found["OPS664"].facts == {"operators": f"{name} ×2"}


def test_a_mask_selects_and_an_index_does_not() -> None:
    masked = OpCall("aten::index.Tensor", "forward", (TensorSpec("float32", (4,)), TensorSpec("bool", (4,))), ())
    indexed = OpCall("aten::index.Tensor", "forward", (TensorSpec("float32", (4,)), TensorSpec("int64", (4,))), ())
    assert "OPS664" in told(masked)
    assert told(indexed) == {}


def test_kernels_of_the_older_path_matter_where_their_sizes_vary() -> None:
    kernels = {"aten::a": ("GE Sort",), "aten::b": ("aclnnSort",)}
    varying = (
        call("aten::a", (2,), (2,), symbolic=(("x.0",), ("x.0",))),
        call("aten::b", (2,), (2,), symbolic=(("x.0",),) * 2),
    )
    assert told(*varying, inputs=BATCH, kernels=kernels)["OPS663"].facts == {"operators": "aten::a"}
    assert "OPS663" not in told(call("aten::a", (2,), (2,)), inputs=BATCH, kernels=kernels)


def test_gears_of_the_graph_route() -> None:
    facts = told(inputs=BATCH, route="graph")["OPS665"].facts
    assert facts["calls"] == "set_dim_gears(x, {0: [2, 4, 8]})"
    assert facts["padding"].startswith("x.0 2–8: ")


def test_gears_of_the_offline_route() -> None:
    facts = told(inputs=BATCH, route="offline")["OPS667"].facts
    assert facts["options"] == '--input_shape="x:-1,3,224,224" --dynamic_batch_size="1,2,4,8"'
    assert facts["range"] == '--input_shape="x:1~8,3,224,224"'


def test_a_chip_that_takes_gears_only_is_not_told_of_ranges() -> None:
    assert told(inputs=BATCH, route="offline", soc="ascend310b")["OPS667"].facts["range"] == "—"


def test_blocks_that_are_not_filled() -> None:
    facts = told(call("aten::mm", (32, 64), (64, 17), (32, 17)))["OPS666"].facts
    assert facts == {"operators": "aten::mm 32×64×17 → 32×64×32 (47%)", "share": "47%"}


def test_sizes_that_fill_the_blocks() -> None:
    length = VaryingInput("ids", "int64", (1, "ids.1"), (1, 128))
    attention: tuple[tuple[Dim, ...], ...] = ((1, 8, "ids.1", 64),) * 4
    found = told(call("npu::npu_fusion_attention", *[(1, 8, 128, 64)] * 4, symbolic=attention), inputs=(length,))
    assert found["OPS668"].facts == {"sizes": "ids.1: 16"}
    halved = call("aten::mm", (32, 64), (64, 32), (32, 32), symbolic=(("ids.1//4", 64), (64, 32), ("ids.1//4", 32)))
    assert told(halved, inputs=(length,))["OPS668"].facts == {"sizes": "ids.1: 64"}
