"""OPS623: An ONNX file imports several operator domains."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS623",
    name="several-opset-domains",
    severity="warning",
    verdict=None,
    title=Text(
        "several operator domains",
        "多个算子域",
    ),
    message=Text(
        "The file imports several operator domains: {domains}.",
        "文件引入了多个算子域：{domains}。",
    ),
    why=Text(
        "Parsers of older CANN releases stop with E16005 at a node without a domain then. Newer ones read it as of the standard domain.",
        "较旧 CANN 的解析器遇到未写 domain 的节点会以 E16005 中止；较新的版本按标准域读取。",
    ),
    fix=Text(
        "Remove imports that no node uses from model.opset_import.",
        "从 model.opset_import 中删除没有节点使用的域。",
    ),
    example="model.opset_import  # [domain: '', version: 18; domain: 'com.microsoft', version: 1]",
    status="preview",
)
