"""Whether code on the stack expects that an import may fail.

An optional import must fail as it does without the package: what a library does then is what it does on an NPU.
"""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import FrameType

_OPSCAN = str(Path(__file__).resolve().parents[3]) + os.sep

#: Exceptions that a missing module is an instance of.
_CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}

#: Calls that end the process: a handler that makes one goes on no more than one that raises.
_ENDING = {"exit", "quit", "_exit"}


def guard_of(frame: FrameType | None) -> FrameType | None:
    """The innermost frame, from the importing one outwards, that goes on where the import fails; None without any.

    A handler that raises again, or ends the process, is none. A frame without source is taken for one.
    """
    while frame is not None:
        filename = frame.f_code.co_filename
        own = filename.startswith("<frozen ") or os.path.realpath(filename).startswith(_OPSCAN)
        if not own and _is_guarded(filename, frame.f_lineno):
            return frame
        frame = frame.f_back
    return None


def _is_guarded(filename: str, line: int) -> bool:
    source = "".join(linecache.getlines(filename))
    if not source:
        return not filename.startswith("<")
    tree = _parsed(source)
    return tree is not None and any(_catches(node) for node in _around(tree, line))


@lru_cache(maxsize=64)
def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:  # a notebook's, or newer than this Python
        return None


def _around(tree: ast.Module, line: int) -> list[ast.stmt]:
    """The statements whose body runs ``line`` in the same frame, from the outermost on."""
    found: list[ast.stmt] = []
    statements: Iterable[ast.AST] = tree.body
    while True:
        inner = next((node for node in statements if _holds(node, line)), None)
        if inner is None:
            return found
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and _within(inner.body, line):
            found = []  # what stands around a function does not stand around its calls
        elif isinstance(inner, (ast.With, ast.AsyncWith, ast.Try, _TryStar)) and _within(inner.body, line):
            found.append(inner)
        statements = ast.iter_child_nodes(inner)


#: ``except*``, in Python 3.11 and later.
_TryStar: type[ast.Try] = getattr(ast, "TryStar", ast.Try)


def _holds(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if isinstance(node, ast.ExceptHandler) or first is None or last is None:
        return first is not None and last is not None and first <= line <= last
    return isinstance(node, ast.stmt) and first <= line <= last


def _within(body: list[ast.stmt], line: int) -> bool:
    return body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)


def _catches(node: ast.stmt) -> bool:
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return any(_suppresses(item.context_expr) for item in node.items)
    handlers: list[ast.ExceptHandler] = getattr(node, "handlers", [])
    catching = next((h for h in handlers if h.type is None or _names(h.type) & _CAUGHT), None)
    return catching is not None and not _ends(catching.body[-1])


def _suppresses(expression: ast.expr) -> bool:
    """``contextlib.suppress(ImportError)``."""
    if not isinstance(expression, ast.Call) or "suppress" not in _names(expression.func):
        return False
    return any(_names(argument) & _CAUGHT for argument in expression.args)


def _ends(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and bool(_names(call.func) & _ENDING)


def _names(expression: ast.expr) -> set[str]:
    """The last parts of the names in an expression: of ``(OSError, builtins.ImportError)`` both."""
    if isinstance(expression, ast.Tuple):
        return {name for element in expression.elts for name in _names(element)}
    if isinstance(expression, ast.Attribute):
        return {expression.attr}
    return {expression.id} if isinstance(expression, ast.Name) else set()
