"""The section on constraints: product lines, and tables with a column for each product."""

from __future__ import annotations

from opscan.matrix.build.source_tree.constraints import read_constraints
from opscan.matrix.build.source_tree.documents import read_document
from opscan.matrix.build.source_tree.notes import Note
from tests.matrix.source_tree.pages import TABLE_PAGE

SECTION = """
- 确定性计算：默认。
- <term>Atlas 推理系列产品</term>：self、out支持FLOAT、FLOAT16。
- <term>Atlas 推理系列产品</term>：self的最后一维不支持BOOL。

<table>
<tr><th>约束类型</th><th>Atlas A2 训练系列产品/Atlas A2 推理系列产品</th><th>Ascend 950PR/Ascend 950DT</th></tr>
<tr><td>self</td><td>self不支持INT8。<br>self的H维度大于1。</td><td>self支持FLOAT、BOOL。</td></tr>
<tr><td>other</td><td>当self为FLOAT时，other不支持INT8。</td><td>-</td></tr>
</table>
"""


def test_plain_statements_about_named_parameters_alone() -> None:
    assert read_constraints(SECTION, ["self", "other", "out"]) == [
        Note(frozenset({"ascend310p"}), ("self", "out"), "only", ("float32", "float16")),
        Note(frozenset({"ascend910b"}), ("self",), "remove", ("int8",)),
    ]


def test_they_hold_for_every_api_of_the_page_that_has_the_parameter() -> None:
    page = f"{TABLE_PAGE}\n\n## 约束说明\n\n- Atlas A2 训练系列产品：selfRef不支持FLOAT16。\n\n## 调用示例\n"
    accepted = {api.name: api.accepted("ascend910b") for api in read_document(page).apis}
    assert accepted["aclnnInplaceFold"]["selfRef"] == ("float32",)
    assert "float16" in (accepted["aclnnFold"]["self"] or ())
