"""A file of ``torch.jit.save``: its graphs are run operator by operator in Python, as modules that a trace can follow.

torch's own interpreter would run them where no Python mode, hook or line is seen; and a tracing process has
scripting switched off (``PYTORCH_JIT=0``), without which ``torch.jit.load`` does not work. Reading the archive runs no
code of its.
"""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any

from opscan.errors import LoadError
from opscan.loading import offered
from opscan.loading.inputs import Input
from opscan.loading.interface import LoadedModel
from opscan.loading.notes import described, in_one_line
from opscan.loading.reference import TorchScriptReference
from opscan.text import Text


def load(reference: TorchScriptReference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Raises LoadError where the archive cannot be read, or where neither it nor the user gives inputs."""
    from opscan.graphs.script_module import ScriptedModule

    path = Path(reference.path)
    unit, source = _read(path)
    model = ScriptedModule(unit, source)
    model.train(train)
    own = () if inputs else _traced_inputs(path)
    if not own and not inputs and model.required:
        options = " ".join(f"--input {n}=1x128:int64" for n in model.required)
        raise LoadError(
            f"{path.name} takes inputs ({', '.join(model.required)}), and keeps no examples of them.",
            f"Give their shapes: {'--input-shape 1,3,224,224' if len(model.required) == 1 else options}",
        )
    args, kwargs = offered.arguments(model, inputs, own, {}, path.name)
    return LoadedModel(model, args, kwargs, (_note(own),) if own else ())


def _read(path: Path) -> tuple[Any, Any]:
    """The compilation unit and its main module, outside of any mode that a trace runs in."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    unit = torch._C.CompilationUnit()
    try:
        with _disable_current_modes():
            return unit, torch._C.import_ir_module(unit, str(path), torch.device("cpu"), {}, False)  # type: ignore[call-arg]
    except Exception as error:  # torch raises RuntimeError of any wording
        raise LoadError(
            f"torch {torch.__version__} cannot read {path.name}: {in_one_line(error)}.",
            "Save it again with the torch that is installed here. If it calls operators of another library, scan the "
            "Python code that builds the model, which registers them.",
        ) from error


def _traced_inputs(path: Path) -> tuple[Any, ...]:
    """Inputs like those that the model was traced with: ``torch.jit.trace`` keeps their shapes and dtypes."""
    import torch

    try:
        with zipfile.ZipFile(path) as archive:
            name = next((n for n in archive.namelist() if n.endswith("traced_inputs.pkl")), None)
            if name is None:
                return ()
            with archive.open(name) as file:
                found = _Shapes(file).load()
    except (zipfile.BadZipFile, pickle.UnpicklingError, OSError, ValueError, TypeError, KeyError, EOFError, IndexError):
        return ()
    values = found.get("forward", ()) if isinstance(found, dict) else ()
    made = tuple(_made(value) for value in values)
    return made if all(isinstance(value, (torch.Tensor, int, float, bool)) for value in made) else ()


class _Shape:
    """Stands for a tensor."""

    def __init__(self, storage: Any, offset: int, size: Any, *rest: Any) -> None:
        self.dtype, self.size = storage, tuple(size)


def _untagged(value: Any, *tag: Any) -> Any:
    return value


class _Shapes(pickle.Unpickler):
    """Unpickles shapes and plain values: of all that a pickle may name, tensors alone are known."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _Shape
        if (module, name) == ("collections", "OrderedDict"):
            return dict
        if module == "torch.jit._pickle" and name.startswith(("restore_type_tag", "build_")):
            return _untagged
        if module == "torch" and name.endswith("Storage"):
            return name
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        return pid[1]


def _made(value: Any) -> Any:
    import torch

    if not isinstance(value, _Shape):
        return value
    dtype = getattr(torch, str(value.dtype).removesuffix("Storage").lower(), None)
    aliases = {"BFloat16Storage": torch.bfloat16, "ByteStorage": torch.uint8, "CharStorage": torch.int8}
    dtype = aliases.get(value.dtype, dtype)
    if not isinstance(dtype, torch.dtype):
        return None
    return torch.rand(value.size, dtype=dtype) if dtype.is_floating_point else torch.zeros(value.size, dtype=dtype)


def _note(inputs: tuple[Any, ...]) -> Text:
    shown = described(inputs)
    return Text(
        f"The inputs are like those that the model was traced with: {shown}.",
        f"输入与跟踪该模型时所用的输入形状相同：{shown}。",
    )
