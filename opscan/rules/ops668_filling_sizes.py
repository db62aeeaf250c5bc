"""OPS668: Which sizes of the inputs fill the blocks of the cube unit."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS668",
    name="filling-sizes",
    severity="info",
    verdict=None,
    title=Text("sizes that fill the cube's blocks", "可填满分块的尺寸"),
    message=Text(
        "Products of matrices fill their blocks where the sizes are multiples of these numbers: {sizes}.",
        "尺寸为下列数值的倍数时，矩阵乘可填满分块：{sizes}。",
    ),
    why=Text(
        "The cube computes blocks of 16 rows; other sizes are padded to the next block.",
        "矩阵计算单元以 16 行为一块；其他尺寸会被填充到下一块。",
    ),
    fix=Text(
        "Choose gears, and lengths to pad to, among these multiples.",
        "在这些倍数中选择档位和填充长度。",
    ),
    example="ids.1: 16  # lengths of 16, 32, 48, …",
    status="preview",
)
