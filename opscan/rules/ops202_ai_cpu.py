"""OPS202: The kernel accepts the dtype, but only its AI CPU implementation does."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS202",
    name="ai-cpu",
    severity="warning",
    verdict="slow",
    title=Text(
        "runs on the AI CPU",
        "在 AI CPU 上运行",
    ),
    message=Text(
        "{operator} on {dtypes} runs on the AI CPU, not on the AI Core: {detail}",
        "{operator} 对 {dtypes} 在 AI CPU 而非 AI Core 上运行：{detail}",
    ),
    why=Text(
        "The AI CPU is on the device but slower by orders of magnitude.",
        "AI CPU 位于设备上，但慢若干数量级。",
    ),
    fix=Text(
        "Use a dtype that the AI Core computes: float32, float16, bfloat16, complex64 where listed.",
        "改用 AI Core 支持的数据类型：float32、float16、bfloat16，以及列出的 complex64。",
    ),
    example="a.to(torch.complex128) * b",
)
