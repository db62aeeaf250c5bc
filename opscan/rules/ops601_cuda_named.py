"""OPS601: A hard-coded CUDA device, or a question about one."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS601",
    name="cuda-named",
    severity="warning",
    verdict=None,
    title=Text(
        "CUDA is named in the source",
        "源码中指定了 CUDA",
    ),
    message=Text(
        "The code names CUDA: {what}. The trace went on as if it said npu.",
        "代码中指定了 CUDA：{what}。跟踪时按 npu 处理。",
    ),
    why=Text(
        "On an NPU this line raises, or picks the CPU, unless it is changed or transfer_to_npu is imported.",
        "在 NPU 上，除非修改代码或导入 transfer_to_npu，否则该行会报错或改用 CPU。",
    ),
    fix=Text(
        "Take the device from a tensor at hand (x.device), or import torch_npu.contrib.transfer_to_npu.",
        "从已有张量获取设备（x.device），或导入 torch_npu.contrib.transfer_to_npu。",
    ),
    example='torch.arange(4, device="cuda")',
)
