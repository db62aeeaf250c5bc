"""OPS109: Measured on an NPU: the operator ran, and its result departs from the reference on the CPU."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS109",
    name="wrong-result",
    severity="error",
    verdict="unsupported",
    title=Text(
        "computes a wrong result",
        "计算结果错误",
    ),
    message=Text(
        "{operator} for {dtypes} runs on {soc}, and its result is not what the CPU computes in higher precision: {detail}",
        "{operator} 以 {dtypes} 在 {soc} 上可以运行，但结果与 CPU 高精度计算不一致：{detail}",
    ),
    why=Text(
        "A probe ran the operator with the model's own shapes; errors beyond the tolerance of the dtype, or NaN, reach the model's output unseen.",
        "探测以模型自身的形状运行了该算子；误差超出该数据类型的容差，或出现 NaN，并会不知不觉地影响模型输出。",
    ),
    fix=Text(
        "Compute it in float32, write it with other operators, or update CANN; report it with the signature in the probe's file.",
        "改用 float32 计算、改用其他算子实现，或升级 CANN；并附上探测文件中的算子签名进行反馈。",
    ),
    example="opscan probe model.py",
)
