"""OPS667: In the offline route, options of ATC for the sizes that vary."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS667",
    name="atc-gears",
    severity="info",
    verdict=None,
    title=Text("gears for an offline model", "离线模型的档位"),
    message=Text(
        "For gears: {options}. For any size: {range}. Padding on average / at worst: {padding}.",
        "分档：{options}。任意尺寸：{range}。填充占比（平均 / 最坏）：{padding}。",
    ),
    why=Text(
        "A model of gears has kernels for fixed sizes and runs each at full speed; one for any size looks its kernels up at run time.",
        "分档模型为固定尺寸编译内核，每档全速运行；任意尺寸的模型在运行时查找内核。",
    ),
    fix=Text(
        "Take 3 or 4 gears that your inputs have most (2 to 100 are taken), pad inputs to the next one and mask what was added: attention masks for lengths, cut results for pictures and batches. Only one of the gear options goes into a model. Ranges: opscan MODEL --dynamic x:0=1..64.",
        "选取最常见的 3 到 4 档（允许 2 到 100 档），将输入填充到下一档并屏蔽填充部分：序列用注意力掩码，图片和批次裁剪结果。一个模型只能使用一种分档选项。可用 opscan MODEL --dynamic x:0=1..64 指定范围。",
    ),
    example='atc --framework=5 --model=m.onnx --input_shape="x:-1,3,224,224" --dynamic_batch_size="1,2,4,8" …',
    status="preview",
)
