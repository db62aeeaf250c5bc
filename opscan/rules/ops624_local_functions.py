"""OPS624: An ONNX file defines functions of its own."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS624",
    name="local-functions",
    severity="warning",
    verdict=None,
    title=Text(
        "functions of the file's own",
        "文件自带的函数",
    ),
    message=Text(
        "The file defines functions: {functions}. They were written out for this report.",
        "文件定义了函数：{functions}。本报告已将其展开。",
    ),
    why=Text(
        "ATC's parser does not look into functions of a model: it finds no parser for their calls.",
        "ATC 的解析器不展开模型中的函数，因此找不到对应的解析器。",
    ),
    fix=Text(
        "Write them out before the conversion, with onnx.inliner.inline_local_functions.",
        "转换前用 onnx.inliner.inline_local_functions 展开。",
    ),
    example="onnx.save(onnx.inliner.inline_local_functions(onnx.load('model.onnx')), 'flat.onnx')",
    status="preview",
)
