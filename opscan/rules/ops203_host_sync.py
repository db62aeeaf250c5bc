"""OPS203: A size or a Python value is needed from the device before the next operator can be launched."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS203",
    name="host-sync",
    severity="warning",
    verdict="slow",
    title=Text(
        "the host waits for the device",
        "主机等待设备",
    ),
    message=Text(
        "{operator}: its value or the size of its result depends on data, so the host waits for the NPU.",
        "{operator}：其值或结果大小取决于数据，因此主机需等待 NPU。",
    ),
    why=Text(
        "The queue of launched kernels drains at each call, and graph capture is not possible across it.",
        "每次调用都会清空已下发的内核队列，且无法跨越它进行图捕获。",
    ),
    fix=Text(
        "Keep the value on the device: masks in place of selections, torch.where in place of branches, fixed sizes in place of counts.",
        "把值留在设备上：用掩码代替选取，用 torch.where 代替分支，用固定大小代替计数。",
    ),
    example="x[mask]; loss.item(); torch.nonzero(x)",
)
