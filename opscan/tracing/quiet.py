"""What torch's exporters print (graphs, progress, advice) is not for the user."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[list[warnings.WarningMessage]]:
    """Nothing is printed in here; C++ prints past ``sys.stdout``. Warnings are collected."""
    saved = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield caught
    finally:
        for descriptor, number in zip(saved, (1, 2), strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)
