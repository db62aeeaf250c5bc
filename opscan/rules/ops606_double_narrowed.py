"""OPS606: torch_npu gives float32 where a cast asks for float64 on the device."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS606",
    name="double-narrowed",
    severity="warning",
    verdict=None,
    title=Text(
        "float64 becomes float32",
        "float64 变为 float32",
    ),
    message=Text(
        "A cast to float64 on the NPU gives float32: torch_npu narrows it, with one warning a process.",
        "在 NPU 上转换为 float64 会得到 float32：torch_npu 会收窄类型，每个进程仅警告一次。",
    ),
    why=Text(
        "What follows computes with about 7 decimal digits instead of 16, and meets float64 tensors made elsewhere.",
        "后续计算只有约 7 位十进制有效数字而非 16 位，并会与别处创建的 float64 张量混用。",
    ),
    fix=Text(
        "Write float32, so that every device computes the same; or do this part on the CPU.",
        "直接使用 float32，使各设备结果一致；或在 CPU 上完成这部分计算。",
    ),
    example="x.double()  # on the device",
)
