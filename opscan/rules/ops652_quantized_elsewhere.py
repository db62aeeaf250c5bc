"""OPS652: The model is quantized for kernels of the CPU or of CUDA."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS652",
    name="quantized-elsewhere",
    severity="warning",
    verdict=None,
    title=Text(
        "quantized for other devices",
        "为其他设备量化",
    ),
    message=Text(
        "The model uses {what} ({operators}). {advice}",
        "模型使用了{what}（{operators}）。{advice}",
    ),
    why=Text(
        "torch packs quantized weights for libraries of the CPU (fbgemm, oneDNN) or for CUDA. On an NPU such operators "
        "raise or run on the host, and a quantized model is slower there than the one it was made from.",
        "torch 为 CPU（fbgemm、oneDNN）或 CUDA 的库打包量化权重。在 NPU 上这类算子会报错或在主机上运行，量化后的模型反而比原模型更慢。",
    ),
    fix=Text(
        "Take the model as it was before, and quantize it for the NPU: with torch_npu's own operators, or with msModelSlim, "
        "whose weights MindIE and vLLM Ascend load.",
        "使用量化前的模型，针对 NPU 重新量化：使用 torch_npu 自带的算子，或使用 msModelSlim（MindIE 与 vLLM Ascend 可加载其权重）。",
    ),
    example="torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)",
    status="preview",
)
