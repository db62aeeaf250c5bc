"""OPS201: The dispatcher cannot tell: the kernel is registered. Known from the adapter's source, or from what it was seen to do."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS201",
    name="hidden-cpu",
    severity="warning",
    verdict="slow",
    title=Text(
        "computes on the CPU inside",
        "内部在 CPU 上计算",
    ),
    message=Text(
        "torch_npu registers {operator} but computes it on the CPU inside, without a warning.",
        "torch_npu 注册了 {operator}，但内部在 CPU 上计算，且没有警告。",
    ),
    why=Text(
        "The profile shows host time and copies where a kernel is expected.",
        "性能分析中会出现主机时间与拷贝，而不是内核。",
    ),
    fix=Text(
        "Replace it where it is in the hot path.",
        "若在热点路径中，请替换。",
    ),
    example='F.interpolate(x, scale_factor=2, mode="nearest-exact")',
)
