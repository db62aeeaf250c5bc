"""A small torch_npu wheel, made by hand in the layout of the real ones."""

from __future__ import annotations

import zipfile
from pathlib import Path

FUNCTIONS = "torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml"

_YAML = """\
autograd: []
backend: NPU
cpp_namespace: at_npu::native
custom:
- dispatch:
    CompositeExplicitAutograd: empty_with_format
  func: empty_with_format(int[] size) -> Tensor
- exposed: true
  func: npu_rotate(Tensor self, str mode='half') -> Tensor
  impl_ns: op_api
  tags: nondeterministic_seeded
quant:
- func: int_repr(Tensor self) -> Tensor
  impl_ns: acl_op, op_api
supported:
- as_strided
- empty_with_format
- func: copy_
  op_api: true
- func: _coalesce(Tensor self) -> Tensor
  sparse: op_api
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  impl_ns: acl_op, op_api, dvm
- func: roll(Tensor self, SymInt[1] shifts) -> Tensor
  impl_ns: acl_op
symint:
- func: roll(Tensor self, SymInt[1] shifts) -> Tensor
  impl_ns: acl_op
"""

_METADATA = """\
Metadata-Version: 2.1
Name: torch-npu
Version: {version}
Requires-Dist: torch (==2.6.0+cpu)

# Ascend Extension

git clone somewhere -b v2.6.0-7.3.0 --depth 1

| CANN Version | Supported PyTorch Version | Supported Extension Version | Github Branch |
|--------------|---------------------------|-----------------------------|---------------|
| CANN 8.5.0   | 2.6.0                     | {version}                   | v2.6.0-7.3.0  |
|              | 2.1.0                     | 2.1.0.post17                | v2.1.0-7.3.0  |
"""

_CONVERTERS = {
    "_ge_concrete_graph/supported_declaration.py": """\
class F32(Typed):
    def __init__(self, *dims):
        super().__init__(*dims, dtype=torch.float32)

class I64(Typed):
    def __init__(self, *dims):
        super().__init__(*dims, dtype=torch.int64)
""",
    "_ge_concrete_graph/raw_ops.py": """\
@convert()
def Add(a: Tensor, b):
    op.type = "Add"

def _Split(a):
    return ge_op(op_type="Split", inputs={})

def Cast(a, dtype):
    op.type = "Cast"

def Const(a):
    op.type = "Const"
""",
    "_ge_concrete_graph/ge_apis.py": """\
from torchair._ge_concrete_graph.raw_ops import *
from torchair._ge_concrete_graph import raw_ops
def Split(a):
    return raw_ops._Split(a)
""",
    "_ge_concrete_graph/fx2ge_converter.py": """\
def get_or_auto_gen_converter(target):
    return None
""",
    "_ge_concrete_graph/ge_converter/__init__.py": "",
    "_ge_concrete_graph/ge_converter/converter_utils.py": """\
from torchair._ge_concrete_graph import ge_apis as ge
from torchair._ge_concrete_graph.fx2ge_converter import register_fx_node_ge_converter, declare_supported
def promote(a):
    return ge.Cast(ge.Const(a), 1)
""",
    "_ge_concrete_graph/ge_converter/aten/add.py": '''\
from torchair._ge_concrete_graph.ge_converter.converter_utils import *

@declare_supported([
    Support(F32(2, 2), F32(2, 2)),
    Support(F32(2, 2), 2),
    Support([F32(2), I64(2)], weight=T(1, dtype=I64)),
])
@register_fx_node_ge_converter(torch.ops.aten.add.Tensor)
def convert_add(self: Tensor, other):
    """NB: aten::add.Tensor"""
    self = promote(self)
    return ge.Add(self, other)

@register_fx_node_ge_converter(torch.ops.aten.add.out)
def convert_add_out(self):
    """NB: aten::add.out"""
    raise RuntimeError("not yet")

@register_fx_node_ge_converter(getattr(torch.ops.aten.add, "names", None))
def convert_add_names(self):
    return ge.Missing(self)

@register_fx_node_ge_converter(operator.add)
def convert_python_add(self):
    return ge.Add(self, 1)
''',
    "_ge_concrete_graph/ge_converter/custom/rotate.py": """\
from torchair._ge_concrete_graph.ge_converter.converter_utils import *
if torch.__version__ > "2":
    ROTATE = torch.ops.npu.npu_rotate.default
else:
    ROTATE = None

def rotate(x):
    def inside(y):
        return torchair.ge.custom_op("Rotate", y)
    return inside(ge.Split(x))

def register(op):
    register_fx_node_ge_converter(op)(rotate)

registered = register_fx_node_ge_converter(ROTATE)(rotate)
""",
    "_ge_concrete_graph/ge_converter/lite/add.py": """\
from torchair._ge_concrete_graph.ge_converter.converter_utils import *
@register_fx_node_ge_converter(torch.ops.aten.add.Tensor)
def convert_add(self):
    return ge.Split(self)
""",
    "_ge_concrete_graph/ge_converter/mkldnn/conv.py": """\
@register_fx_node_ge_converter(torch.ops.mkldnn._conv.default)
def convert(self):
    raise RuntimeError
""",
    "_utils/__init__.py": """\
def patch():
    @aten.matmul_backward.default.py_impl(DispatchKey.CompositeImplicitAutograd)
    def decompose(grad):
        return grad

    @aten.matmul.default.py_impl(DispatchKey.Meta)
    def meta(a):
        return a

def get_npu_default_decompositions():
    return {torch.ops.npu_define.allgather.default: decompose}
""",
}


def torchair_sources() -> dict[str, str]:
    """The modules of torchair by path."""
    return {f"torchair/{path}": text for path, text in _CONVERTERS.items()}


def make_wheel(
    folder: Path, version: str = "2.6.0.post9", *, leave_out: str = "", change: dict[str, str] | None = None
) -> Path:
    """Write the wheel; members whose name holds ``leave_out`` are missing, those in ``change`` have another text."""
    members = {
        FUNCTIONS: _YAML,
        f"torch_npu-{version}.dist-info/METADATA": _METADATA.format(version=version),
        "torch_npu/lib/libtorch_npu.so": "x" * 5000,
        **{f"torch_npu/dynamo/{path}": text for path, text in torchair_sources().items()},
    }
    path = folder / f"torch_npu-{version}-cp311-cp311-manylinux2014_x86_64.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**members, **(change or {})}.items():
            if not leave_out or leave_out not in name:
                archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
    return path
