from __future__ import annotations

from pathlib import Path

from .trees import CORE, OP_INFO, build, cpu, dtypes, new_toolkit, old_toolkit, put, table, tensor


def kernel(*inputs: dict[str, object] | None, outputs: list[dict[str, object]] | None = None) -> dict[str, object]:
    return {"inputs": list(inputs), "outputs": outputs or []}


def test_stated_dtypes_and_the_order_of_parameters(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    ge = table(tmp_path, "ascend910b").ge
    assert dtypes(ge["Sigmoid"]) == {"x": ("float16", "float32"), "y": ("float16", "float32")}
    assert [(p.name, p.io, p.optional, p.bound) for p in ge["Foo"].kernels[0].params] == [
        ("x", "in", False, False),
        ("y", "in", False, False),
        ("z", "in", True, False),
    ]
    assert ge["Foo"].kernels[0].source == (
        f"{CORE}/config/ascend910b/aic-ascend910b-ops-info.json of the installed toolkit"
    )


def test_open_dtypes_are_bound_by_the_prototype(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    add = table(tmp_path, "ascend910b").ge["Add"].kernels[0]
    assert {p.name: p.dtypes for p in add.params} == {
        "x1": ("bfloat16", "float32", "int32"),
        "x2": ("float64",),
        "y": ("float32", "int8"),
    }
    assert all(p.bound for p in add.params)
    assert add.source.endswith("of the installed toolkit, dtypes bound by the prototype")


def test_open_dtypes_come_from_precompiled_kernels_where_there_are_some(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    listed = [
        kernel({"dtype": "float"}, {"dtype": "float16"}, outputs=[{"dtype": "float32"}]),
        kernel(None, {"dtype": "bfloat16"}),
    ]
    put(root, f"{CORE}/kernel/config/ascend910b/add.json", {"binList": listed})
    put(root, f"{CORE}/kernel/config/ascend910b/binary_info_config.json", {"Add": {}})
    build(root, tmp_path)
    add = table(tmp_path, "ascend910b").ge["Add"].kernels[0]
    assert dtypes(table(tmp_path, "ascend910b").ge["Add"]) == {
        "x1": ("float32",),
        "x2": ("bfloat16", "float16"),
        "y": ("float32",),
    }
    assert not any(p.bound for p in add.params)
    assert add.source.endswith("dtypes of its precompiled kernels")


def test_kernels_taken_by_width_are_a_bound(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    any_of_four_bytes = {"dtype": "int32", "dtype_match_mode": "DtypeByte"}
    listed = [kernel([any_of_four_bytes, any_of_four_bytes], {"dtype": "int8"})]
    put(root, f"{CORE}/kernel/config/ascend910b/add.json", {"binList": listed})
    build(root, tmp_path)
    x1, x2, _ = table(tmp_path, "ascend910b").ge["Add"].kernels[0].params
    assert (x1.dtypes, x1.bound) == (("float32", "int32"), True)
    assert (x2.dtypes, x2.bound) == (("int8",), False)


def test_kernels_are_found_by_the_file_that_implements_an_operator(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    open_ = {"input0": tensor("x"), "opFile": {"value": "mat_mul"}}
    put(
        root,
        f"{CORE}/config/ascend910b/aic-ascend910b-ops-info.json",
        {"MatMulV9": open_, "TopKV2": {"input0": tensor("x")}},
    )
    put(root, f"{CORE}/kernel/config/ascend910b/mat_mul.json", {"binList": [kernel({"dtype": "int8"})]})
    put(root, f"{CORE}/kernel/config/ascend910b/top_kv2.json", {"binList": [kernel({"dtype": "int16"})]})
    build(root, tmp_path)
    ge = table(tmp_path, "ascend910b").ge
    assert dtypes(ge["MatMulV9"]) == {"x": ("int8",)}
    assert dtypes(ge["TopKV2"]) == {"x": ("int16",)}


def test_ai_cpu_and_host_kernels_follow_the_ai_core(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    ge = table(tmp_path, "ascend910b").ge
    assert [k.engine for k in ge["Sigmoid"].kernels] == ["ai_core", "ai_cpu"]
    assert dtypes(ge["Sigmoid"], 1) == {"x": ("bfloat16", "float64"), "output0": ("bfloat16", "float64")}
    assert [k.engine for k in ge["Slow"].kernels] == ["host_cpu", "ai_cpu"]
    # DT_FLOAT64 and DI_INT8 are misprints that never match.
    assert dtypes(ge["Slow"], 1)["x"] == ("float32",)


def test_absent_is_what_has_an_ai_core_kernel_elsewhere(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    ge = table(tmp_path, "ascend910b").ge
    assert ge["Elsewhere"].absent
    assert ge["Packaged"].absent
    assert ge["Packaged"].source == "the AI Core op-info of the installed toolkit (CANN 8.1.RC1) for ascend910b"
    assert table(tmp_path, "ascend310p").ge["Sigmoid"].absent is False, "the AI CPU computes it"
    # A prototype alone (Odd), what the AI CPU had (OnlySlow) and what needs no kernel (Squeeze) are not known to lack.
    assert not {"Odd", "OnlySlow", "Squeeze"} & ge.keys()


def test_what_other_engines_or_rewriting_passes_take_is_not_absent(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    put(root, "opp/built-in/op_impl/dsa_core/config/ascend910b/dsa-ascend910b-ops-info.json", {"Packaged": {}})
    rules = {"Rules": [{"OriginGraph": {"types": ["Elsewhere"]}}]}
    put(root, "aarch64-linux/lib64/plugin/opskernel/fusion_rules/ai_core/built_in_graph_rules.json", rules)
    build(root, tmp_path)
    assert not {"Elsewhere", "Packaged"} & table(tmp_path, "ascend910b").ge.keys()


def test_custom_operators_come_first(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    custom = {"Sigmoid": {"input0": tensor("x", "int8")}, "Mine": {"input0": tensor("x", "int4")}}
    put(root, "opp/vendors/acme/op_impl/ai_core/tbe/config/ascend910b/aic-ascend910b-ops-info.json", custom)
    put(root, "opp/vendors/acme/op_impl/cpu/config/cust_aicpu_kernel.json", {"MineToo": cpu("DNN_VM_AICPU", "DT_INT8")})
    build(root, tmp_path)
    ge = table(tmp_path, "ascend910b").ge
    assert [dtypes(ge["Sigmoid"], i)["x"] for i in range(2)] == [("int8",), ("float16", "float32")]
    assert ge["Mine"].kernels[0].source.startswith("opp/vendors/acme/")
    assert ge["MineToo"].kernels[0].engine == "ai_cpu"


def test_the_new_layout_is_complete_with_all_its_packages(tmp_path: Path) -> None:
    told = build(new_toolkit(tmp_path), tmp_path)
    for soc in ("ascend950pr", "ascend950dt"):
        ge = table(tmp_path, soc, "8.5.0").ge
        assert dtypes(ge["Sigmoid"])["x"] == ("float16", "float32")
        assert dtypes(ge["Conv"]) == {"x": ("float16",)}
        assert ge["Packaged"].absent
    assert "ascend950pr: 4 AI Core operators" in told


def test_missing_packages_leave_the_packaged_table(tmp_path: Path) -> None:
    told = build(new_toolkit(tmp_path, ("math",)), tmp_path)
    ge = table(tmp_path, "ascend950pr", "8.5.0").ge
    assert dtypes(ge["Packaged"]) == {"x": ("int8",)}
    assert ge["Packaged"].kernels[0].borrowed == "8.1.RC1"
    assert not any(op.absent for op in ge.values())
    assert any("not all packages are installed" in line for line in told)


def test_without_ai_cpu_lists_the_packaged_ones_answer(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    for path in (root / "opp/built-in/op_impl/aicpu").rglob("*.json"):
        path.unlink()
    told = build(root, tmp_path)
    ge = table(tmp_path, "ascend910b").ge
    assert [k.source for k in ge["OnlySlow"].kernels] == ["an AI CPU list"]
    assert [k.source for k in ge["Packaged"].kernels] == ["an AI CPU list"]
    assert "the toolkit has no AI CPU kernels: the packaged tables answer" in told


def test_every_list_is_read_whole(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    assert OP_INFO.keys() <= table(tmp_path, "ascend910b").ge.keys()
