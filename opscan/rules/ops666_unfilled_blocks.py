"""OPS666: Products of matrices do not fill the blocks of the cube unit."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS666",
    name="unfilled-blocks",
    severity="info",
    verdict=None,
    title=Text("sizes that do not fill the cube's blocks", "未填满矩阵计算单元分块的尺寸"),
    message=Text(
        "{share} of the model's multiply-adds are padding to the cube unit's blocks: {operators}.",
        "模型 {share} 的乘加运算是对矩阵计算单元分块的填充：{operators}。",
    ),
    why=Text(
        "The cube multiplies blocks of 16 rows and 32 bytes (16 numbers of float16). What does not fill a block is padded and computed all the same.",
        "矩阵计算单元按 16 行、32 字节（16 个 float16）的分块运算；不足一块的部分会被填充并照常计算。",
    ),
    fix=Text(
        "Choose channels, widths of heads and numbers of classes that are multiples of 16 (32 for int8); weights of a trained model can be padded with zeros.",
        "通道数、注意力头宽度和类别数取 16 的倍数（int8 为 32）；已训练模型的权重可补零。",
    ),
    example="nn.Linear(768, 17)  # 32 columns are computed",
    status="preview",
)
