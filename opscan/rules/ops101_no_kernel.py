"""OPS101: No kernel for the NPU and none for the CPU: nothing can run the operator."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS101",
    name="no-kernel",
    severity="error",
    verdict="unsupported",
    title=Text(
        "no kernel anywhere",
        "没有任何内核",
    ),
    message=Text(
        "torch_npu {release} has no kernel for {operator}, and there is no CPU kernel to fall back to: the call raises.",
        "torch_npu {release} 没有 {operator} 的内核，也没有可回退的 CPU 内核：调用会报错。",
    ),
    why=Text(
        "The model stops at this line on an NPU.",
        "模型在 NPU 上运行到这一行会中止。",
    ),
    fix=Text(
        "Write it with operators that have a kernel, or register one for the device.",
        "改用有内核的算子，或为该设备注册内核。",
    ),
    example="torch.ops.aten._scaled_dot_product_efficient_attention(q, k, v, None, False)",
)
