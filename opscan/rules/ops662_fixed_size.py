"""OPS662: The model refuses other sizes of a dimension that should vary."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS662",
    name="fixed-size",
    severity="warning",
    verdict=None,
    title=Text("a size that the model refuses", "模型不接受的尺寸"),
    message=Text(
        "The model refuses {refused} ({error}). {outcome}",
        "模型不接受 {refused}（{error}）。{outcome}",
    ),
    why=Text(
        "It is the model itself that is bound to the size, on any device: a table of positions, a flattened layer, a "
        "reshape with numbers.",
        "受限的是模型本身，与设备无关：位置表、展平后的全连接层或写死数值的 reshape。",
    ),
    fix=Text(
        "Pad or resize inputs to a size that it takes, or compute from x.shape what is written as a number.",
        "将输入填充或缩放到可接受的尺寸，或用 x.shape 计算写死的数值。",
    ),
    example="x = x.reshape(-1, 197, 768)  # one image size only",
    status="preview",
)
