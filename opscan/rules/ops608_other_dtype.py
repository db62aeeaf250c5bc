"""OPS608: The adapter answers with another kind of number than torch does on the CPU."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS608",
    name="other-dtype",
    severity="warning",
    verdict=None,
    title=Text(
        "result of another dtype than on the CPU",
        "结果的数据类型与 CPU 不同",
    ),
    message=Text(
        "{operator} returns {dtype} on the NPU, where the CPU returns {expected}.",
        "{operator} 在 NPU 上返回 {dtype}，而在 CPU 上返回 {expected}。",
    ),
    why=Text(
        "torch_npu has an implementation of its own that chooses another dtype; what follows computes with other numbers, or raises.",
        "torch_npu 有自己的实现，选择了不同的数据类型；后续计算会得到不同的数值，或报错。",
    ),
    fix=Text(
        "Name the dtype in the call, or make the tensor on the CPU and move it.",
        "在调用中指定数据类型，或在 CPU 上创建张量后再移动。",
    ),
    example="torch.hann_window(16, device='npu')",
)
