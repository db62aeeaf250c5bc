"""What a scan is measured against: import a model file, build its model on the CPU, run one forward pass.

python benchmarks/bare_forward.py benchmarks/models/resnet50.py 1,3,224,224
"""

from __future__ import annotations

import importlib.util
import sys

import torch


def main() -> None:
    spec = importlib.util.spec_from_file_location("model", sys.argv[1])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.build_model()
    with torch.no_grad():
        model(torch.rand([int(size) for size in sys.argv[2].split(",")]))


if __name__ == "__main__":
    main()
