"""How well the trace on the virtual npu agrees with the real torch_npu: |common| / |union| of (model, overload).

    python benchmarks/agreement.py --runtime DIR [--train] [--only resnet] [--json FILE]

Needs an environment with torch_npu 2.13.0, its torch, torchvision and transformers, and in DIR the stub CANN libraries
of a simulated runtime. Each model runs twice, each time in a process of its own: on ``npu:0`` of the real adapter under
a dispatch mode, and as opscan traces it. Overloads that only one of them shows are listed. The simulated runtime
computes zeros: where a model branches on values (BERT asks whether its mask is all ones), the real adapter takes the
other path.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchvision_schemas import declare

TORCHVISION = (
    "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "vgg11_bn", "alexnet", "densenet121", "googlenet",
    "inception_v3", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "squeezenet1_0", "shufflenet_v2_x1_0",
    "mnasnet1_0", "efficientnet_b0", "efficientnet_v2_s", "regnet_y_400mf", "convnext_tiny", "swin_t", "swin_v2_t",
    "vit_b_16", "maxvit_t",
)  # fmt: skip
SEGMENTATION = ("fcn_resnet50", "deeplabv3_resnet50", "lraspp_mobilenet_v3_large")
TRANSFORMERS = ("bert", "gpt2", "llama", "vit", "whisper", "mamba", "detr", "t5", "qwen2", "clip")

Built = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def build(name: str, train: bool) -> Built:
    """The model on the CPU (or on fake tensors, under a fake mode) with inputs of a usual size."""
    import torch

    if name in TRANSFORMERS:
        return _transformer(name, train)
    declare()
    import torchvision

    if name in SEGMENTATION:
        model = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)
        size = 64
    else:
        extra = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        model = getattr(torchvision.models, name)(weights=None, **extra)
        size = {"inception_v3": 299, "vit_b_16": 224, "maxvit_t": 224}.get(name, 64)
    return model.train(train), (torch.randn(2, 3, size, size),), {}


def _transformer(name: str, train: bool) -> Built:
    import torch

    declare()
    import transformers as t

    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    ids = torch.zeros(1, 16, dtype=torch.long)
    image = torch.randn(1, 3, 64, 64)
    kwargs: dict[str, Any]
    if name == "bert":
        model, kwargs = t.BertModel(t.BertConfig(**small)), {"input_ids": ids}
    elif name == "gpt2":
        model, kwargs = t.GPT2Model(t.GPT2Config(n_embd=64, n_layer=2, n_head=4)), {"input_ids": ids}
    elif name == "llama":
        model, kwargs = t.LlamaModel(t.LlamaConfig(**small, vocab_size=500)), {"input_ids": ids}
    elif name == "qwen2":
        model, kwargs = t.Qwen2Model(t.Qwen2Config(**small, num_key_value_heads=2, vocab_size=500)), {"input_ids": ids}
    elif name == "vit":
        model, kwargs = t.ViTModel(t.ViTConfig(**small, image_size=64)), {"pixel_values": image}
    elif name == "whisper":
        config = t.WhisperConfig(
            d_model=64,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            max_source_positions=50,
        )
        model, kwargs = t.WhisperModel(config), {"input_features": torch.randn(1, 80, 100), "decoder_input_ids": ids}
    elif name == "mamba":
        model, kwargs = (
            t.MambaModel(t.MambaConfig(hidden_size=64, num_hidden_layers=2, vocab_size=500)),
            {"input_ids": ids},
        )
    elif name == "detr":
        config = t.DetrConfig(
            use_timm_backbone=False,
            use_pretrained_backbone=False,
            backbone=None,
            backbone_config=t.ResNetConfig(out_features=["stage4"]),
            d_model=64,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
        )
        model, kwargs = t.DetrModel(config), {"pixel_values": image}
    elif name == "t5":
        model, kwargs = (
            t.T5Model(t.T5Config(d_model=64, num_layers=2, num_heads=4, d_ff=128, d_kv=16)),
            {"input_ids": ids, "decoder_input_ids": ids},
        )
    else:
        config = t.CLIPConfig(text_config=small, vision_config={**small, "image_size": 64})
        model, kwargs = t.CLIPModel(config), {"input_ids": ids, "pixel_values": image}
    return model.train(train), (), kwargs


def run_real(name: str, train: bool) -> dict[str, int]:
    """Overloads that the real adapter's dispatcher shows on npu:0."""
    import torch
    import torch_npu  # noqa: F401
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map_only

    counts: collections.Counter[str] = collections.Counter()

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            if func.namespace != "prim" and any(
                isinstance(t, torch.Tensor) and t.device.type == "npu" for t in tree_leaves((args, kwargs, out))
            ):
                schema = func._schema
                counts[schema.name + (f".{schema.overload_name}" if schema.overload_name else "")] += 1
            return out

    model, args, kwargs = build(name, train)
    model = model.npu()
    args, kwargs = tree_map_only(torch.Tensor, lambda t: t.npu(), (args, kwargs))
    mode = Count()
    if not train:
        with mode, torch.no_grad():
            model(*args, **kwargs)
        return dict(counts)
    with mode:
        result = model(*args, **kwargs)
    out = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad]
    gradients = [torch.ones_like(t) for t in out]
    with mode:
        torch.autograd.backward(out, gradients)
    return dict(counts)


def run_virtual(name: str, train: bool) -> dict[str, int]:
    """Overloads that opscan's inventory holds for torch_npu 2.13.0."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from opscan.matrix.query import Matrix
    from opscan.target import Target
    from opscan.tracing.dispatch import DispatchTracer
    from opscan.tracing.interface import Recipe, TraceOptions
    from opscan.worker.shield import shield_from_torch_npu

    matrix = Matrix.load(Target("2.13.0", "9.1.0", "ascend910b"))
    shield_from_torch_npu("2.13.0")
    options = TraceOptions(
        name, matrix.registered(), matrix.registered("AutogradPrivateUse1"), "2.13.0", "2.13.0", train
    )
    tracer = DispatchTracer()
    inventory = tracer.trace(Recipe(lambda: build(name, train), Path("/nonexistent")), options, lambda stage: None)
    if not all(a.ok for a in inventory.trace.attempts):
        raise RuntimeError(inventory.trace.unseen[0])
    counts: collections.Counter[str] = collections.Counter()
    for call in inventory.calls:
        if call.phase != "optimizer":
            counts[call.name] += call.count
    return dict(counts)


def in_process(which: str, name: str, arguments: argparse.Namespace) -> dict[str, int]:
    """Run one side in a process of its own; its counts come back in a file."""
    environment = {
        **os.environ,
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "TASK_QUEUE_ENABLE": "0",
        "SIM_SOC": "Ascend910B3",
        "HF_HUB_OFFLINE": "1",
    }
    if which == "real":
        environment["LD_LIBRARY_PATH"] = arguments.runtime
    command = [sys.executable, __file__, "--side", which, "--only", name, *(["--train"] if arguments.train else [])]
    read, write = os.pipe()
    with subprocess.Popen(
        [*command, "--answer", str(write)],
        env=environment,
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(write)
        with os.fdopen(read) as answer:
            text = answer.read()
        errors = (process.stderr.read() if process.stderr else b"").decode()
    if not text:
        raise RuntimeError(f"{which}: {(errors.strip().splitlines() or ['no answer'])[-1]}")
    counts: dict[str, int] = json.loads(text)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", help="folder of the simulated runtime's libraries")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--only", help="models whose name contains one of these, separated by commas")
    parser.add_argument("--json", help="write the table here")
    parser.add_argument("--side", choices=("real", "virtual"), help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        counts = {"real": run_real, "virtual": run_virtual}[arguments.side](arguments.only, arguments.train)
        os.write(arguments.answer, json.dumps(counts).encode())
        os._exit(0)
    compare(arguments)


def differences(real: dict[str, int], virtual: dict[str, int]) -> dict[str, Any]:
    """Overloads of one side only, and those that both show, with other counts."""
    return {
        "missing": sorted(real.keys() - virtual.keys()),
        "extra": sorted(virtual.keys() - real.keys()),
        "counts differ": {
            k: [real[k], virtual[k]] for k in sorted(real.keys() & virtual.keys()) if real[k] != virtual[k]
        },
    }


def compare(arguments: argparse.Namespace) -> None:
    table: dict[str, Any] = {}
    common = union = 0
    for name in (*TORCHVISION, *SEGMENTATION, *TRANSFORMERS):
        if arguments.only and not any(only in name for only in arguments.only.split(",")):
            continue
        try:
            real, virtual = in_process("real", name, arguments), in_process("virtual", name, arguments)
        except RuntimeError as error:
            print(f"{name:28} {str(error)[:160]}")
            table[name] = {"error": str(error)}
            continue
        row = differences(real, virtual)
        table[name] = row
        both, either = len(real.keys() & virtual.keys()), len(real.keys() | virtual.keys())
        common, union = common + both, union + either
        print(f"{name:28} {both}/{either}  -{row['missing']} +{row['extra']} {row['counts differ']}", flush=True)
    phase = "training" if arguments.train else "inference"
    print(f"agreement over (model, overload), {phase}: {common}/{union} = {common / max(1, union):.4f}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
