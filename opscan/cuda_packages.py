"""Packages whose kernels are written for CUDA: what to write instead, and whether there is a version for NPUs.

Reviewed by hand; ``source`` says where each statement is from.
"""

from __future__ import annotations

from dataclasses import dataclass

from opscan.text import Text

#: The library, in names of operators, of what a model calls of such a package.
LIBRARY = "cuda_extension::"


@dataclass(frozen=True, slots=True)
class CudaPackage:
    """``name``: the package, or the part of it that holds the kernels (``mmcv.ops``). ``advice``: what to do on an NPU.
    ``direct``: the advice is a replacement of a line or two, rather than new code. ``port``: there is a version of the
    package itself for NPUs. ``version``: of which the known signatures are. ``of``: advice on single functions.
    """

    name: str
    advice: Text
    source: str
    direct: bool = False
    port: bool = False
    version: str = "0"
    of: tuple[tuple[str, Text], ...] = ()

    def advice_on(self, name: str) -> Text:
        """What to do about one function, by the last part of its name."""
        short = name.rpartition(".")[2]
        return next((advice for part, advice in self.of if short == part), self.advice)


_ATTENTION = Text(
    "On an NPU, torch.nn.functional.scaled_dot_product_attention or torch_npu.npu_fusion_attention computes it.",
    "在 NPU 上可用 torch.nn.functional.scaled_dot_product_attention 或 torch_npu.npu_fusion_attention 计算。",
)
_SPARSE_CONVOLUTION = Text(
    "DrivingSDK (mx_driving) has sparse 3D convolutions for NPUs, with names of its own.",
    "DrivingSDK（mx_driving）提供用于 NPU 的稀疏三维卷积，接口名称不同。",
)
_DEFORMABLE = Text(
    "DrivingSDK has it for NPUs: mx_driving.multi_scale_deformable_attn. "
    "With torch alone it is grid_sample at each level.",
    "DrivingSDK 提供 NPU 版本：mx_driving.multi_scale_deformable_attn；也可仅用 torch 在每一层用 grid_sample 实现。",
)
_SCAN = Text(
    "No version of it for NPUs is known: write the scan with torch operators, as the package's own reference does.",
    "未知其 NPU 版本：请用 torch 算子实现扫描，如该包自带的参考实现。",
)
_CONVOLUTION = Text(
    "torch.nn.functional.conv1d with groups and padding on the left computes it.",
    "可用带 groups 且左侧填充的 torch.nn.functional.conv1d 计算。",
)
_SCATTER = Text(
    "torch.Tensor.scatter_reduce, index_add and scatter_add compute it.",
    "可用 torch.Tensor.scatter_reduce、index_add、scatter_add 计算。",
)
_NORM = Text(
    "torch.nn.LayerNorm and torch.nn.RMSNorm compute the fused norms, torch.optim the fused optimizers.",
    "融合归一化可用 torch.nn.LayerNorm、torch.nn.RMSNorm，融合优化器可用 torch.optim。",
)
_ROTATION = Text(
    "torch_npu.npu_rotary_mul, or a product with the cosines and the rotated halves, computes it.",
    "可用 torch_npu.npu_rotary_mul，或用余弦与旋转后的两半相乘计算。",
)
_ENTROPY = Text("torch.nn.CrossEntropyLoss computes it.", "可用 torch.nn.CrossEntropyLoss 计算。")

#: What packages for attention and scans have beside them.
_BESIDE = (
    ("RMSNorm", _NORM),
    ("rms_norm", _NORM),
    ("rms_norm_fn", _NORM),
    ("layer_norm_fn", _NORM),
    ("DropoutAddLayerNorm", _NORM),
    ("apply_rotary_emb", _ROTATION),
    ("RotaryEmbedding", _ROTATION),
    ("CrossEntropyLoss", _ENTROPY),
)

_TRITON = Text(
    "Triton-Ascend compiles Triton kernels for Atlas A2 and A3: install triton-ascend and try the kernel there.",
    "Triton-Ascend 可为 Atlas A2、A3 编译 Triton 内核：请安装 triton-ascend 并试运行该内核。",
)
_MMCV = Text(
    "mmcv can be built for NPUs (FORCE_NPU=1), with a part of its operators.",
    "mmcv 可针对 NPU 编译（FORCE_NPU=1），支持其中部分算子。",
)
_BITSANDBYTES = Text(
    "A beta for NPUs has a part of it (bitsandbytes-npu-beta); otherwise keep the weights in bfloat16.",
    "NPU 测试版（bitsandbytes-npu-beta）支持其中一部分；否则请使用 bfloat16 权重。",
)
_DEEPSPEED = Text(
    "DeepSpeed runs on NPUs; which of its own operators do depends on the release.",
    "DeepSpeed 支持 NPU；其自带算子的支持情况取决于版本。",
)
_SERVING = Text(
    "The serving engine has a version for NPUs (vllm-ascend; sglang on Ascend), with kernels of its own.",
    "该推理引擎有 NPU 版本（vllm-ascend；sglang 的昇腾支持），使用其自己的内核。",
)
_ENGINE = Text(
    "On Ascend, ATC compiles the ONNX file of the model (the offline route) instead of TensorRT.",
    "在昇腾上由 ATC 编译模型的 ONNX 文件（离线路线），以替代 TensorRT。",
)
_MANAGEMENT = Text("npu-smi and torch.npu tell the state of NPUs.", "可用 npu-smi 与 torch.npu 查询 NPU 状态。")
_ARRAYS = Text(
    "Write it with torch operators, or with NumPy on the host.", "请用 torch 算子改写，或在主机上使用 NumPy。"
)
_NONE = Text(
    "No version of it for NPUs is known: write this part with torch operators.",
    "未知其 NPU 版本：请用 torch 算子改写这部分。",
)
_OWN = Text(
    "A kernel of the model's own has to be written anew for NPUs (Ascend C), or with torch operators.",
    "模型自带的内核需为 NPU 重新编写（Ascend C），或用 torch 算子改写。",
)

_DRIVING = "https://github.com/Ascend/DrivingSDK"

_PACKAGES = (
    CudaPackage(
        "flash_attn", _ATTENTION, "https://github.com/Dao-AILab/flash-attention", True, version="2.8.0", of=_BESIDE
    ),
    CudaPackage("flash_attn_interface", _ATTENTION, "https://github.com/Dao-AILab/flash-attention", True),
    CudaPackage("flash_attn_2_cuda", _ATTENTION, "https://github.com/Dao-AILab/flash-attention"),
    CudaPackage("flashinfer", _ATTENTION, "https://github.com/flashinfer-ai/flashinfer"),
    CudaPackage("xformers", _ATTENTION, "https://github.com/facebookresearch/xformers", True, version="0.0.30"),
    CudaPackage("apex", _NORM, "https://github.com/NVIDIA/apex", True, version="0.1"),
    CudaPackage("amp_C", _NORM, "https://github.com/NVIDIA/apex"),
    CudaPackage("fused_layer_norm_cuda", _NORM, "https://github.com/NVIDIA/apex"),
    CudaPackage("transformer_engine", _NONE, "https://github.com/NVIDIA/TransformerEngine"),
    CudaPackage("mamba_ssm", _SCAN, "https://github.com/state-spaces/mamba", version="2.2.4", of=_BESIDE),
    CudaPackage("selective_scan_cuda", _SCAN, "https://github.com/state-spaces/mamba"),
    CudaPackage("causal_conv1d", _CONVOLUTION, "https://github.com/Dao-AILab/causal-conv1d", True, version="1.5.0"),
    CudaPackage("causal_conv1d_cuda", _CONVOLUTION, "https://github.com/Dao-AILab/causal-conv1d"),
    CudaPackage("spconv", _SPARSE_CONVOLUTION, _DRIVING, version="2.3.6"),
    CudaPackage("torchsparse", _SPARSE_CONVOLUTION, _DRIVING),
    CudaPackage("MinkowskiEngine", _SPARSE_CONVOLUTION, _DRIVING),
    CudaPackage("torch_scatter", _SCATTER, "https://github.com/rusty1s/pytorch_scatter", True, version="2.1.2"),
    CudaPackage("torch_sparse", _NONE, "https://github.com/rusty1s/pytorch_sparse", version="0.6.18"),
    CudaPackage("torch_cluster", _NONE, "https://github.com/rusty1s/pytorch_cluster", version="1.6.3"),
    CudaPackage("torch_spline_conv", _NONE, "https://github.com/rusty1s/pytorch_spline_conv", version="1.2.2"),
    CudaPackage("MultiScaleDeformableAttention", _DEFORMABLE, _DRIVING, True),
    CudaPackage("mmcv.ops", _MMCV, "https://mmcv.readthedocs.io/en/latest/get_started/build.html", port=True),
    CudaPackage("mmcv._ext", _MMCV, "https://mmcv.readthedocs.io/en/latest/get_started/build.html", port=True),
    CudaPackage("detectron2._C", _NONE, "https://github.com/facebookresearch/detectron2"),
    CudaPackage("pytorch3d._C", _NONE, "https://github.com/facebookresearch/pytorch3d"),
    CudaPackage("pointnet2_ops", _NONE, "https://github.com/erikwijmans/Pointnet2_PyTorch"),
    CudaPackage("natten", _NONE, "https://github.com/SHI-Labs/NATTEN"),
    CudaPackage("nvdiffrast", _NONE, "https://github.com/NVlabs/nvdiffrast"),
    CudaPackage("tinycudann", _NONE, "https://github.com/NVlabs/tiny-cuda-nn"),
    CudaPackage("diff_gaussian_rasterization", _NONE, "https://github.com/graphdeco-inria/gaussian-splatting"),
    CudaPackage("gsplat", _NONE, "https://github.com/nerfstudio-project/gsplat"),
    CudaPackage("bitsandbytes", _BITSANDBYTES, "bitsandbytes-npu-beta on PyPI", port=True, version="0.45.3"),
    CudaPackage("deepspeed", _DEEPSPEED, "https://www.deepspeed.ai/tutorials/accelerator-setup-guide/", port=True),
    CudaPackage("triton", _TRITON, "https://gitcode.com/Ascend/triton-ascend", port=True, version="3.2.0"),
    CudaPackage("vllm", _SERVING, "https://github.com/vllm-project/vllm-ascend", port=True),
    CudaPackage("sglang", _SERVING, "https://docs.sglang.io/platforms/ascend/ascend_npu.html", port=True),
    CudaPackage("sgl_kernel", _SERVING, "https://docs.sglang.io/platforms/ascend/ascend_npu.html", port=True),
    CudaPackage("tensorrt", _ENGINE, "https://github.com/NVIDIA/TensorRT"),
    CudaPackage("torch_tensorrt", _ENGINE, "https://github.com/pytorch/TensorRT"),
    CudaPackage("pynvml", _MANAGEMENT, "nvidia-ml-py on PyPI", True),
    CudaPackage("cupy", _ARRAYS, "https://github.com/cupy/cupy"),
    CudaPackage("pycuda", _ARRAYS, "https://github.com/inducer/pycuda"),
    CudaPackage("numba.cuda", _ARRAYS, "https://numba.readthedocs.io/en/stable/cuda/index.html"),
)

#: Kernels that the model's own code compiles or brings along.
OWN_KERNEL = CudaPackage("", _OWN, "")


def package_of(name: str) -> CudaPackage | None:
    """The package that a dotted name belongs to: ``flash_attn.bert_padding`` to ``flash_attn``."""
    return next((p for p in _PACKAGES if name == p.name or name.startswith(f"{p.name}.")), None)


def facts_of(name: str) -> dict[str, str]:
    """What the rules' messages say of a function: its name, and what to do on an NPU. ``counterpart``: not empty where
    torch or torch_npu has a function for it, which the advice names.
    """
    package = package_of(name) or OWN_KERNEL
    advice = package.advice_on(name)
    counterpart = "yes" if package.direct or advice is not package.advice else ""
    return {"operator": name, "advice": advice.en, "advice_zh": advice.zh, "counterpart": counterpart}
