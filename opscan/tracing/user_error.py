"""An exception inside the user's model as a message that shows the user's own line."""

from __future__ import annotations

import os
import re
import traceback

from opscan.errors import ModelError, message_of
from opscan.tracing.data_dependent import LIMITS
from opscan.tracing.source import SourceLocator

_STAGES = {"importing": "importing the file", "building": "building the model", "running": "running the model"}


#: What a kernel says that got hold of a fake tensor: one of the virtual device's, or one that reads memory. And what is
#: said where a kernel of torch_npu's own is called.
_ESCAPED = (
    "a kernel of the virtual npu ran",
    "its data is not allocated yet",
    "'_OpNamespace' 'npu' object",
    "already associated to a python object of type FakeTensor",  # Tensor.as_subclass
)


#: Where torch keeps what needs several processes, in the names of its files.
_OF_SEVERAL = (os.path.join("torch", "distributed", ""), os.path.join("nn", "parallel", "distributed"))


def is_limit(error: BaseException) -> bool:
    """Whether the trace, not the model, is at fault: no shape function, or a value that nobody can know.

    A NotImplementedError may be the model's own: a method that a subclass should have defined.
    """
    if type(error) is NotImplementedError and is_of_the_model(error):
        return False
    return isinstance(error, LIMITS) or any(words in message_of(error) for words in _ESCAPED)


def model_error(error: BaseException, locator: SourceLocator, stage: str, shapes: str) -> ModelError:
    """The user's file, line and source text, what was raised, and what to try."""
    if isinstance(error, SyntaxError):
        line = f"\n    {error.text.strip()}" if error.text else ""
        place = locator.shown(error.filename or "") + (f":{error.lineno}" if error.lineno else "")
        return ModelError(f"{place}: {error.msg}{line}", "Fix the syntax of the file, then scan again.")
    found = locator.of_error(error)
    what = f"{type(error).__name__}: {_first_lines(message_of(error))}"
    if found is None:
        return ModelError(f"{_STAGES[stage]} failed: {what}", _hint(error, stage, shapes))
    if isinstance(error, SystemExit):
        what, stage = f"sys.exit({error.code!r}) ended the process.", locator.stage_of(error, stage)
        hint = "A scan imports the file: keep what ends the process behind if __name__ == '__main__'."
        return ModelError(f"{found[0]}:{found[1]}: {_STAGES[stage]} failed: {what}\n    {found[2]}", hint)
    file, number, text = found
    stage = locator.stage_of(error, stage)
    source = f"\n    {text}" if text else ""
    return ModelError(f"{file}:{number}: {_STAGES[stage]} failed:{source}\n  {what}", _hint(error, stage, shapes))


def is_of_the_model(error: BaseException) -> bool:
    """Raised by a ``raise`` outside torch and opscan, or by a module that has no forward."""
    if 'missing the required "forward" function' in message_of(error):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    return (
        bool(frames)
        and frames[-1].line is not None
        and "site-packages" not in frames[-1].filename
        and (frames[-1].line.strip().startswith("raise ") and f"{os.sep}opscan{os.sep}" not in frames[-1].filename)
    )


def in_short(error: BaseException) -> str:
    """The error in one line of readable length: torch's own messages run on."""
    first = next((line for line in message_of(error).splitlines() if line.strip()), "")
    sentence = re.sub(r"<\S+ object at 0x[0-9a-f]+>", "…", first.partition(". ")[0].rstrip("."))
    return f"{type(error).__name__}: {sentence[:200]}"


def _first_lines(message: str) -> str:
    lines = [line for line in message.splitlines() if line.strip()]
    return "\n  ".join(lines[:3])[:600]


def _hint(error: BaseException, stage: str, shapes: str) -> str:
    message = message_of(error)
    if "Quantized" in message:
        return "Quantized modules cannot be traced: scan the model as it is before quantization."
    if "Sparse" in message:
        return "Sparse tensors among parameters, buffers or inputs cannot be traced: make them in forward."
    if any(part in frame.filename for frame in traceback.extract_tb(error.__traceback__) for part in _OF_SEVERAL):
        return "A scan is one process: scan the module as it is before DistributedDataParallel or FSDP wraps it."
    if 'required "forward"' in message:
        return "Define forward in that class, or pick another model of the file: model.py:Name."
    if "attempted relative import" in message:
        return (
            "The file is part of a package: scan a file beside the package that says from package.module import model."
        )
    if isinstance(error, ModuleNotFoundError):
        return f"Install {error.name!r} into the environment that opscan runs in, or scan a file that does without it."
    if "indices" in message and ("Long" in message or "Int" in message):
        options = "--input-shape 1,128:int64 or --input input_ids=1x128:int64"
        return f"Token ids are integers: give the dtype, for instance {options}"
    if stage == "running" and shapes:
        return f"The inputs were {shapes}. Give others with --input-shape or --input, or in example_inputs()."
    return "A scan imports the file and builds the model as Python does: --debug shows the whole traceback."
