"""``--train``, ``--optimizer``, ``--amp``: what of a model is run, from how it is typed."""

from __future__ import annotations

import ast
import difflib
import re
from typing import get_args

from opscan.cli.choices import choice
from opscan.errors import UsageError
from opscan.workload import Amp, DynamicInput, Optimizer, Workload

#: What ``torch.optim`` holds in torch 2.13; the process that runs the model knows what its own torch has.
OPTIMIZERS = (
    "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw", "asgd", "lbfgs", "muon", "nadam", "radam",
    "rmsprop", "rprop", "sgd", "sparseadam",
)  # fmt: skip

#: Not the constructor's: gradients are clipped before the step.
_CLIP = "clip_grad_norm"

_WORDS = {"true": "True", "false": "False", "none": "None"}

_EXAMPLE = "Write it like --optimizer sgd:momentum=0.9,nesterov=true"

#: A comma that begins another option: those in tuples stay.
_NEXT_OPTION = re.compile(r",(?=\s*[A-Za-z_]\w*\s*=)")


def parse_workload(train: bool, optimizer: str | None, amp: str, dynamic: tuple[DynamicInput, ...] = ()) -> Workload:
    """``--optimizer`` asks for training. Raises UsageError."""
    chosen = Optimizer() if optimizer is None else parse_optimizer(optimizer)
    precision: Amp = choice("--amp", amp, get_args(Amp))  # type: ignore[assignment]
    return Workload(train or optimizer is not None, chosen, precision, dynamic)


def parse_optimizer(text: str) -> Optimizer:
    """``adamw``, ``sgd:momentum=0.9,nesterov=true``, ``adam:betas=(0.9,0.95),clip_grad_norm=1.0``.

    Raises UsageError.
    """
    given, _, rest = text.partition(":")
    name = given.strip().lower()
    if name not in OPTIMIZERS:
        close = difflib.get_close_matches(name, OPTIMIZERS, n=1)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise UsageError(f"--optimizer {given}: no such optimizer.", f"{hint}Choose one of: {', '.join(OPTIMIZERS)}.")
    options = dict(_option(text, part) for part in _NEXT_OPTION.split(rest) if part.strip())
    clip = options.pop(_CLIP, None)
    return Optimizer(name, tuple(options.items()), None if clip is None else _norm(text, clip))


def _option(text: str, part: str) -> tuple[str, str]:
    name, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals or not name.isidentifier():
        raise UsageError(f"--optimizer {text}: {part.strip()!r} is no option.", f"{_EXAMPLE}.")
    value = _WORDS.get(value.lower(), value)
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if not value.isidentifier():
            raise UsageError(f"--optimizer {text}: {value!r} is no value.", f"{_EXAMPLE}.") from None
        value = repr(value)  # a word: line_search_fn=strong_wolfe
    return name, value


def _norm(text: str, literal: str) -> float:
    value = ast.literal_eval(literal)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise UsageError(f"--optimizer {text}: {_CLIP} is a number above zero.", f"Write {_CLIP}=1.0")
    return float(value)
