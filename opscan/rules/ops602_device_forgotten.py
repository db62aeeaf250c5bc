"""OPS602: Right where a default device is set; otherwise a mixed-device error, on CUDA as on an NPU."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS602",
    name="device-forgotten",
    severity="info",
    verdict=None,
    title=Text(
        "a factory without a device",
        "创建张量时未指定设备",
    ),
    message=Text(
        "{factory} is called without a device inside the model. The trace created the tensor on the npu.",
        "模型内部调用 {factory} 时未指定设备。跟踪时在 npu 上创建该张量。",
    ),
    why=Text(
        "It creates a CPU tensor: the next operator raises, or copies to the device each time.",
        "它会创建 CPU 张量：后续算子会报错，或每次都要拷贝到设备。",
    ),
    fix=Text(
        "Pass device=x.device.",
        "请传入 device=x.device。",
    ),
    example="x + torch.arange(4)",
)
