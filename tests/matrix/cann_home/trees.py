"""Small toolkits in the layouts of real ones, and packaged tables, made by hand."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from opscan.matrix.build.cann_home import build_cann_home
from opscan.matrix.build.writing import render
from opscan.matrix.files import (
    SCHEMA,
    Api,
    CannFile,
    CannRelease,
    GeKernel,
    GeOp,
    GeParameter,
    OnnxFile,
    OnnxOp,
    Parameter,
    ReleasesFile,
    Soc,
    SocsFile,
    load,
)

CORE = "opp/built-in/op_impl/ai_core/tbe"
AI_CPU = "opp/built-in/op_impl/aicpu"


def put(root: Path, name: str, content: Any) -> Path:
    """A file below ``root``: text, bytes, or JSON of anything else."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def tensor(name: str, dtype: str = "", kind: str = "required") -> dict[str, str]:
    """One input or output of an AI Core list; without dtypes they are left open."""
    return {"name": name, "paramType": kind, **({"dtype": dtype} if dtype else {})}


OP_INFO = {
    "Sigmoid": {"input0": tensor("x", "float16,float,float16"), "output0": tensor("y", "float16,float,float16")},
    "Add": {
        "input0": tensor("x1"),
        "input1": tensor("x2"),
        "output0": tensor("y"),
        "dynamicFormat": {"flag": "true"},
    },
    "Foo": {"input0": tensor("x", "int32"), "input10": tensor("z", "int8", "optional"), "input2": tensor("y", "bool")},
}

PROTOTYPES = """
REG_OP(Add) // REG_OP(Commented)
    .INPUT(x1, TensorType({DT_FLOAT, DT_BF16, DT_INT32}))
    .INPUT(x2, "T")
    .OUTPUT(y, TensorType::NumberType())
    .DATATYPE(T, TensorType({DT_DOUBLE}))
    .OP_END_FACTORY_REG(Add)
REG_OP(Odd)
    .DYNAMIC_INPUT(x, TensorType(IndexType))
    .OPTIONAL_INPUT(bias, TensorType({float16}))
    .OP_END_FACTORY_REG(Odd)
"""

TYPES = """
struct TensorType {
  static TensorType NumberType() { return TensorType{DT_FLOAT, DT_INT8}; }
  static TensorType IndexType() {
    return TensorType{DT_INT32,
                      DT_INT64};
  }
};
"""

HEADER = """
/* aclnnCommentedGetWorkspaceSize(const aclTensor* self); */
ACLNN_API aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor *other,
    const aclScalar* alpha, double eps, bool flag, const aclIntArray *dim, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNewGetWorkspaceSize(aclTensorList* x, uint64_t* workspaceSize, aclOpExecutor** executor);
"""


def old_toolkit(folder: Path, name: str = "8.1.RC1") -> Path:
    """``…/ascend-toolkit/8.1.RC1`` with one list of operators; returns its folder."""
    root = folder / name
    put(
        root,
        "aarch64-linux/ascend_toolkit_install.info",
        f"package_name=Ascend-cann-toolkit\nversion={name}\narch=aarch64\n",
    )
    put(root, "opp/version.info", f"Version=7.7.0.1.238\nversion_dir={name}\n")
    put(root, f"{CORE}/config/ascend910b/aic-ascend910b-ops-info.json", OP_INFO)
    put(root, f"{CORE}/config/ascend310p/aic-ascend310p-ops-info.json", {"Elsewhere": {"input0": tensor("x", "int8")}})
    put(root, f"{CORE}/op_api/include/aclnnop/aclnn_add.h", HEADER)
    put(root, f"{AI_CPU}/aicpu_kernel/config/aicpu_kernel.json", {"Sigmoid": cpu("DNN_VM_AICPU", "DT_DOUBLE, DT_BF16")})
    put(root, f"{AI_CPU}/aicpu_kernel/config/host_cpu_kernel.json", {"Slow": cpu("DNN_VM_HOST_CPU", "DT_INT64")})
    put(root, f"{AI_CPU}/tf_kernel/config/tf_kernel.json", {"Slow": cpu("DNN_VM_AICPU", "DT_FLOAT64,DI_INT8,DT_FLOAT")})
    put(root, "opp/built-in/op_proto/inc/math.h", PROTOTYPES)
    put(root, "aarch64-linux/include/graph/types.h", TYPES)
    return root


def cpu(engine: str, types: str) -> dict[str, Any]:
    return {
        "dynamic_input0": {"name": "x", "type": types},
        "output0": {"type": types},
        "opInfo": {"engine": engine, "opsFlag": "OPS_FLAG_CLOSE"},
    }


def new_toolkit(folder: Path, packages: tuple[str, ...] = ("cv", "legacy", "math", "nn", "transformer")) -> Path:
    """``…/cann-8.5.0``: a list for each package, headers below ``<arch>-linux``, no toolkit-wide install file."""
    root = folder / "cann-8.5.0"
    lists: dict[str, Any] = {"math": OP_INFO, "nn": {"Conv": {"input0": tensor("x", "float16")}}}
    for package in packages:
        file = f"{CORE}/config/ascend910_95/aic-ascend910_95-ops-info-{package}.json"
        put(root, file, lists.get(package, {}))
        put(root, f"share/info/ops_{package}/version.info", "Version=8.5.0\nversion_dir=cann-8.5.0\n")
    put(root, "x86_64-linux/include/aclnnop/aclnn_add.h", HEADER)
    put(root, "x86_64-linux/include/graph/types.h", TYPES)
    put(root, f"{AI_CPU}/config/aicpu_math.json", {"Sigmoid": cpu("DNN_VM_AICPU", "DT_DOUBLE")})
    put(root, "opp/built-in/op_graph/inc/ops_proto_math.h", PROTOTYPES)
    (root / "include").symlink_to("x86_64-linux/include")
    return root


def library(read_only: bytes, writable: bytes = b"") -> bytes:
    """A 64-bit ELF file with two loaded segments."""
    start = 64 + 2 * 56
    header = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 183, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    )
    segments = b""
    for flags, offset, data in ((4, start, read_only), (6, start + len(read_only), writable)):
        segments += struct.pack("<IIQQQQQQ", 1, flags, offset, offset, offset, len(data), len(data), 8)
    return header + segments + read_only + writable


def packaged(root: Path, release: str = "8.1.RC1") -> Path:
    """Packaged tables: socs.json, and ascend910b and ascend950pr at one release."""
    socs = {name: Soc(name, (name.upper(),)) for name in ("ascend310p", "ascend910b", "ascend950dt", "ascend950pr")}
    put(root, "socs.json", render(SocsFile(SCHEMA, (), socs), ("socs",)))
    apis = {
        "aclnnAdd": Api(
            True, ((("T", "x"), ("T", "y")), ADD), {"self": Parameter("in", ("float16",))}, source="a page"
        ),
        "aclnnGone": Api(True, ((("T", "self"),),), {"self": Parameter("in", ("float16",))}),
        "aclnnNew": Api(False, source="a page"),
    }
    kernel = GeKernel("ai_core", (GeParameter("x", "in", ("int8",)),), source="a definition")
    slow = GeKernel("ai_cpu", source="an AI CPU list")
    ge = {"Packaged": GeOp((kernel, slow)), "OnlySlow": GeOp((slow,)), "Squeeze": GeOp((kernel,))}
    for soc in ("ascend910b", "ascend950pr"):
        put(root, f"cann/{release}/{soc}.json", render(CannFile(SCHEMA, release, soc, (), apis, ge), ("apis", "ge")))
    ops = {"ai.onnx::Relu": OnnxOp((11, 12), ("Relu",), source="a parser"), "ai.onnx::Celu": OnnxOp((12,), ("Celu",))}
    put(root, f"onnx/{release}.json", render(OnnxFile(SCHEMA, release, (), ops), ("ops",)))
    cann = {release: CannRelease(("ascend910b", "ascend950pr")), "9.9.0": CannRelease(("ascend910b",))}
    put(
        root, "releases.json", render(ReleasesFile(SCHEMA, (), (), (release, "9.9.0"), {}, cann), ("cann", "torch_npu"))
    )
    return root


#: The documented signature of aclnnAdd that is of the same kinds as that of ``HEADER``, with other names.
ADD = (("T", "self"), ("T", "second"), ("S", "alpha"), ("v", "flag"), ("I", "dim"), ("T", "out"))


def build(directory: Path, tmp_path: Path, release: str | None = None, tables: str = "8.1.RC1") -> list[str]:
    """Build into ``tmp_path/user`` over the packaged tables of one release; returns what was told."""
    told: list[str] = []
    build_cann_home(directory, tmp_path / "user", told.append, release, packaged(tmp_path / "packaged", tables))
    return told


def table(tmp_path: Path, soc: str, release: str = "8.1.RC1") -> CannFile:
    return load(tmp_path / "user" / "cann" / release / f"{soc}.json", CannFile)


def dtypes(op: GeOp, kernel: int = 0) -> dict[str, tuple[str, ...]]:
    return {p.name: p.dtypes for p in op.kernels[kernel].params}


def written(tmp_path: Path) -> list[str]:
    user = tmp_path / "user"
    return sorted(path.relative_to(user).as_posix() for path in user.rglob("*") if path.is_file())
