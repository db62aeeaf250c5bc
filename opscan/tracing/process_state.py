"""What a model's code may change for the whole process, put back after each run of it.

A run may be repeated, and numeric checks follow in the same process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def restored() -> Iterator[None]:
    """Default dtype and device, gradient mode, working directory and arguments as they were before."""
    dtype, gradients, folder, arguments = torch.get_default_dtype(), torch.is_grad_enabled(), os.getcwd(), sys.argv[:]
    try:
        yield
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)
        os.chdir(folder)
        sys.argv[:] = arguments
