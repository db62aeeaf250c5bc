"""Small API pages and definitions, written for the tests, in the layouts of CANN's operator repositories."""

from __future__ import annotations

TABLE_PAGE = """# aclnnFold&aclnnInplaceFold

## 产品支持情况

| 产品 | 是否支持 |
| :--- | :---: |
| <term>Ascend 950PR/Ascend 950DT</term> | √ |
| <term>Atlas A3 训练系列产品/Atlas A3 推理系列产品</term> | √ |
| <term>Atlas A2 训练系列产品</term> | √ |
| <term>Atlas 800I A2 推理产品</term> | × |
| <term>Atlas 200I/500 A2 推理产品</term> | × |
| <term>Atlas 推理系列产品</term> | √ |
| <term>Atlas 训练系列产品</term> | √ |

## 函数原型

```Cpp
aclnnStatus aclnnFoldGetWorkspaceSize(
  const aclTensor*   self,
  const aclScalar*   other,
  double             eps,
  aclTensor*         out,
  uint64_t*          workspaceSize,
  aclOpExecutor**    executor)

```Cpp
aclnnStatus aclnnInplaceFoldGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize, aclOpExecutor** executor)
```

## aclnnFoldGetWorkspaceSize

- **参数说明：**

  <table><thead>
    <tr><th>参数名</th><th>输入/输出</th><th>描述</th><th>数据类型</th><th>维度(shape)</th></tr></thead>
  <tbody>
    <tr><td>self（aclTensor*）</td><td>输入</td><td>-</td><td>FLOAT、FLOAT16、INT32<sup>1</sup>、BOOL</td><td>0-8</td></tr>
    <tr><td>other（aclScalar*）</td><td>输入</td><td>-</td><td>FLOAT、BFLOAT16</td><td>-</td></tr>
    <tr><td>out（aclTensor*）</td><td>输出</td><td>-</td><td rowspan="2">与self一致</td><td>-</td></tr>
    <tr><td>workspaceSize（uint64_t*）</td><td>输出</td><td>-</td><td>-</td></tr>
  </tbody></table>

  - <term>Atlas A3 训练系列产品/Atlas A3 推理系列产品</term>、Ascend 950PR/Ascend 950DT：self额外支持BFLOAT16。
  - <term>Atlas 训练系列产品</term>、<term>Atlas 推理系列产品</term>：
    - self、other的数据类型不支持BOOL、BFLOAT16。
    - 当self为FLOAT16时，other不支持FLOAT。

- **返回值：**

  - <term>Atlas 训练系列产品</term>：self不支持FLOAT。

## aclnnInplaceFoldGetWorkspaceSize

- **参数说明：**

  | 参数名 | 输入/输出 | 数据类型 |
  | --- | --- | --- |
  | selfRef | 输入/输出 | FLOAT、FLOAT16 |
"""

BULLET_PAGE = """# aclnnBend

## 产品支持情况
| 产品 | 是否支持 |
| --- | --- |
| Atlas A3 训练系列产品/Atlas A3 推理系列产品 | √ |
| Atlas A2 训练系列产品/Atlas 800I A2 推理产品/A200I A2 Box 异构组件 | √ |
| 昇腾910_95 AI处理器 | √ |

## aclnnBendGetWorkspaceSize

- **参数说明：**

  - self(aclTensor\\*, 计算输入)：当类型为INT8时转换计算。
    * Atlas A3 训练系列产品/Atlas A3 推理系列产品：数据类型支持FLOAT、FLOAT16。
    * 昇腾910_95 AI处理器：数据类型支持FLOAT、UINT43、INT32。
  - dim(int64_t，计算输入)：数据类型支持INT64。
  - out(aclTensor*, 计算输出)：数据类型支持FLOAT。
  - executor(aclOpExecutor **, 出参)：执行器。

- **返回值：**
"""

LIST_OF_PRODUCTS = """# aclnnTilt

## 产品支持情况

<!-- npu="A3" id1 -->
- <term>Atlas A3 训练系列产品/Atlas A3 推理系列产品</term>：支持
<!-- end id1 -->
- <term>Atlas 200I/500 A2 推理产品</term>：不支持

## aclnnTilt

- **参数说明**

  <table><tr><th>参数名</th><th>输入/输出</th><th>数据类型</th></tr>
  <tr><td>x</td><td>输入</td><td>FLOAT</td></tr></table>
"""

DEFINITION = """
#include "register/op_def_registry.h"
#define SCALE_TYPES                     \\
    {ge::DT_FLOAT, ge::DT_FLOAT}
namespace ops {
static const std::vector<ge::DataType> xTypes = {ge::DT_FLOAT, ge::DT_BF16};  // {not this one}
class Fold : public OpDef {
public:
    explicit Fold(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType(xTypes).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("scale").ParamType(OPTIONAL).DataType(SCALE_TYPES);
        this->Output("y").ParamType(DYNAMIC).Follow("x");
        this->Attr("axis").AttrType(OPTIONAL).Int(-1);
        this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");

        OpAICoreConfig small;
        small.Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16});
        small.DynamicRankSupportFlag(true);
        this->AICore().AddConfig("ascend310p", small);
        this->AICore().AddConfig("ascend950", Later());
        std::vector<std::string> more = {"kirin1", "kirin2"};
        for (const auto& version : more) {
            this->AICore().AddConfig(version, small);
        }
    }
private:
    OpAICoreConfig Later() const
    {
        OpAICoreConfig config;
        config.Input("x").DataType({ge::DT_FLOAT, ge::DT_INT32});
        return config;
    }
};
OP_ADD(Fold);
}  // namespace ops
"""

AI_CPU_DEFINITION = """
class Fold : public OpDef {
 public:
  explicit Fold(const char *name) : OpDef(name)
  {
    this->Input("x").DataType({ge::DT_DOUBLE, ge::DT_QINT8});
    this->Output("y").DataType({ge::DT_MAX});
    this->AICPU().ExtendCfgInfo("a", "b");
  }
};
OP_ADD(Fold);
"""

PLUGIN = """
REGISTER_CUSTOM_OP("Fold")
    .FrameworkType(ONNX)
    .OriginOpType({ge::AscendString("ai.onnx::11::Fold"), ge::AscendString("ai.onnx::12::Fold"), "npu::1::NPUFold"})
    .ParseParamsFn(ParseFold)
    .ImplyType(ImplyType::TVM);
REGISTER_CUSTOM_OP("PartitionedCall").FrameworkType(ONNX)
    .OriginOpType("ai.onnx::8::Fold").ParseOpToGraphFn(ParseGraph);
REGISTER_CUSTOM_OP("Other").FrameworkType(TENSORFLOW).OriginOpType("ai.onnx::9::Other");
REGISTER_CUSTOM_ONNX_OP(ai.onnx::9::Bend, BendV2, BendV9);
"""
