"""OPS621: In the offline route, a dimension of an input has no fixed size."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS621",
    name="dynamic-shape",
    severity="warning",
    verdict=None,
    title=Text(
        "sizes that are not fixed",
        "未固定的尺寸",
    ),
    message=Text(
        "Inputs have sizes that are not fixed: {inputs}.",
        "输入的尺寸未固定：{inputs}。",
    ),
    why=Text(
        "ATC converts for sizes that it is told. Kernels for any size are slower, and not every operator has one.",
        "ATC 按给定的尺寸转换。任意尺寸的内核较慢，且并非每个算子都有。",
    ),
    fix=Text(
        "Convert for one size with --input_shape, or for a few with gears: --dynamic_batch_size, --dynamic_image_size, --dynamic_dims. Pad inputs to the next gear.",
        "用 --input_shape 按一种尺寸转换，或用档位指定几种：--dynamic_batch_size、--dynamic_image_size、--dynamic_dims，并将输入填充到下一档。",
    ),
    example="atc --framework=5 --model=model.onnx --input_shape='x:-1,3,224,224' --dynamic_batch_size='1,4,8' …",
    status="preview",
)
