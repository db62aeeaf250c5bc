"""What a configuration of transformers would look up elsewhere, or take CUDA for, and a scan does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opscan.text import Text

#: Switches for kernels that are compiled for CUDA alone; what they stand for has a form in plain PyTorch.
_CUDA_KERNELS = ("use_mamba_kernels",)


def without_cuda_kernels(configuration: Any) -> list[Text]:
    """Switch such kernels off, as a run on an NPU has to; what was switched."""
    switched = [name for name in _CUDA_KERNELS if getattr(configuration, name, None) is True]
    for name in switched:
        setattr(configuration, name, False)
    return [
        Text(
            f"{name} is off: its kernels are for CUDA, and the same model runs without them.",
            f"已关闭 {name}：其内核仅支持 CUDA，模型不用它也能运行。",
        )
        for name in switched
    ]


@contextmanager
def timm_names_known(transformers: Any) -> Iterator[None]:
    """A hub holds a configuration for each of timm's models (``timm/repvit_m1.dist_in1k``). What a model is built from
    is timm's own name in it, and timm has the rest.
    """
    auto = transformers.AutoConfig
    own, fetched = vars(auto)["from_pretrained"], auto.from_pretrained

    def known(name: Any, *args: Any, **kwargs: Any) -> Any:
        owner, _, model = str(name).partition("/")
        if owner != "timm":
            return fetched(name, *args, **kwargs)
        return transformers.TimmWrapperConfig(architecture=model.partition(".")[0], **kwargs)

    auto.from_pretrained = known
    try:
        yield
    finally:
        auto.from_pretrained = own
