"""OPS204: A copy from the device to the host inside the model."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS204",
    name="host-copy",
    severity="warning",
    verdict="slow",
    title=Text(
        "copies to the host",
        "拷贝到主机",
    ),
    message=Text(
        "The tensor is copied to the host within the model, and the host waits for it.",
        "模型内部将张量拷贝到主机，主机需等待。",
    ),
    why=Text(
        "The queue of launched kernels drains at each copy.",
        "每次拷贝都会清空已下发的内核队列。",
    ),
    fix=Text(
        "Move the copy out of forward, or do the work on the device.",
        "将拷贝移出 forward，或在设备上完成该工作。",
    ),
    example="x.cpu().numpy()",
)
