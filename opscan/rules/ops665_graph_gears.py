"""OPS665: In the graph route, gears for the sizes that vary."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS665",
    name="graph-gears",
    severity="info",
    verdict=None,
    title=Text("gears for a compiled graph", "图编译的档位"),
    message=Text(
        "Compiled for fixed sizes, the graph is compiled again for each new one. Gears instead: torchair.inference.{calls}. Padding on average / at worst: {padding}.",
        "按固定尺寸编译时，每种新尺寸都会重新编译。可改用档位：torchair.inference.{calls}。填充占比（平均 / 最坏）：{padding}。",
    ),
    why=Text(
        "A graph of gears holds a fixed-size graph for each gear; dynamic=True without gears makes one graph whose sizes are only known on the host at run time, and is slower.",
        "分档图为每一档保存一个固定尺寸的图；不分档的 dynamic=True 只有一个图，尺寸在运行时由主机确定，速度较慢。",
    ),
    fix=Text(
        "Compile with torch.compile(model, backend=npu_backend, dynamic=True) after the calls, on the inputs themselves; pad inputs to the next gear, and mask what was added. Each dimension takes 2 to 100 gears from 2 on; all combinations are 100 at most (inference_config.dynamic_gears_merge_policy: zip or product); a size that is no gear is refused; not in the reduce-overhead mode.",
        "在输入张量上调用后，以 torch.compile(model, backend=npu_backend, dynamic=True) 编译；将输入填充到下一档并屏蔽填充部分。每个维度 2 到 100 档，档位不小于 2；组合总数不超过 100（inference_config.dynamic_gears_merge_policy：zip 或 product）；非档位尺寸会被拒绝；不适用于 reduce-overhead 模式。",
    ),
    example="torchair.inference.set_dim_gears(x, {0: [2, 4, 8]})",
    status="preview",
)
