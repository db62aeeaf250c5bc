"""OPS604: Left on the CPU when the model moved."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS604",
    name="cpu-tensor",
    severity="warning",
    verdict=None,
    title=Text(
        "a CPU tensor meets NPU tensors",
        "CPU 张量与 NPU 张量混用",
    ),
    message=Text(
        "{operator} is given a CPU tensor together with NPU tensors. The trace moved it; on an NPU this raises.",
        "{operator} 同时收到 CPU 张量与 NPU 张量。跟踪时已移动该张量；在 NPU 上会报错。",
    ),
    why=Text(
        "A tensor that is neither a parameter nor a buffer does not move with the model.",
        "既非参数也非缓冲区的张量不会随模型移动。",
    ),
    fix=Text(
        "Register it as a buffer, or move it with .to(x.device).",
        "将其注册为缓冲区，或用 .to(x.device) 移动。",
    ),
    example="self.scale = torch.ones(3)  # in __init__, not register_buffer",
)
