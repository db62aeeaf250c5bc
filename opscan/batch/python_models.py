"""Whether a Python file defines a model, without running it: the rules of the loader, read off its source.

The loader takes ``build_model()``, else ``model``, else the only ``nn.Module`` subclass that can be made as it is.
"""

from __future__ import annotations

import ast
from pathlib import Path

#: Source longer than this is data, not a model.
_MOST_BYTES = 8 << 20


def says_of(path: Path) -> str | None:
    """None where the file defines one model; empty where it has nothing of the kind; else why it cannot be told which
    of its modules is the model. Raises OSError where it cannot be read.
    """
    if path.stat().st_size > _MOST_BYTES:
        return ""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "is no valid Python" if b"nn.Module" in path.read_bytes() else ""
    if _binds_model(tree):
        return None
    modules = _modules(tree)
    ready = [name for name, cls in modules.items() if not _required(cls, modules)]
    if len(ready) == 1:
        return None
    if ready:
        return f"defines {len(ready)} modules and does not say which is the model: {_listed(ready)}"
    return f"defines modules that need constructor arguments: {_listed(list(modules))}" if modules else ""


def _binds_model(tree: ast.Module) -> bool:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in ("build_model", "model"):
            return True
        if isinstance(node, ast.ImportFrom) and any("build_model" in (a.asname, a.name) for a in node.names):
            return True
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if names & {"build_model", "model"} and getattr(node, "value", None) is not None:
            return True
    return False


def _modules(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Classes that are modules: by the name of a base, by one of the file's own, or by a base and a ``forward``."""
    found: dict[str, ast.ClassDef] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = [_last_name(base) for base in node.bases]
            forward = any(isinstance(part, ast.FunctionDef) and part.name == "forward" for part in node.body)
            context = any("Function" in base for base in bases)  # torch.autograd.Function has a forward, too
            if any(base.endswith("Module") or base in found for base in bases) or (bases and forward and not context):
                found[node.name] = node
    return found


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _required(cls: ast.ClassDef, modules: dict[str, ast.ClassDef]) -> bool:
    """Whether its constructor, or the one it inherits from a class of the file, needs arguments."""
    for node in cls.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            positional = [*node.args.posonlyargs, *node.args.args]
            needed = len(positional) - 1 - len(node.args.defaults)
            return needed > 0 or any(default is None for default in node.args.kw_defaults)
    parents = (modules.get(_last_name(base)) for base in cls.bases)
    return any(_required(parent, modules) for parent in parents if parent is not None and parent is not cls)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
