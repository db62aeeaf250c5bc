"""``opscan matrix list|query|diff|lint``: ask, print."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from opscan.cli.choices import choice
from opscan.cli.progress import Spinner
from opscan.errors import UsageError
from opscan.matrix.onnx_table import NEWEST_OPSET
from opscan.matrix.query import Matrix
from opscan.matrix.releases import installed_torch, resolve_target
from opscan.rendering.interface import Lang
from opscan.target import Route, Target
from opscan.text import Text

#: Parts of a target as people call them.
_PARTS = {"torch_npu": "torch_npu release", "cann": "CANN release", "soc": "SoC"}


@dataclass(frozen=True, slots=True)
class QueryArguments:
    """The options of a query, as typed."""

    operator: str
    torch_npu: str | None
    cann: str | None
    soc: str | None
    dtypes: tuple[str, ...]
    opset: int
    json: bool
    lang: Lang = "en"

    @property
    def names_a_target(self) -> bool:
        options = (self.torch_npu, self.cann, self.soc)
        return any(o is not None for o in options) or bool(self.dtypes) or self.opset != NEWEST_OPSET


@dataclass(frozen=True, slots=True)
class DiffArguments:
    """The options of a comparison, as typed."""

    before: str
    after: str
    torch_npu: str | None
    cann: str | None
    soc: str | None
    route: str
    dtypes: tuple[str, ...]
    json: bool


def show_holdings(as_json: bool) -> int:
    from opscan.cli.matrix_text import print_holdings
    from opscan.matrix.data import matrix_roots
    from opscan.matrix.holdings import holdings

    _show(as_json, holdings(matrix_roots()), print_holdings)
    return 0


def show_operator(arguments: QueryArguments) -> int:
    """A kernel's constraints, an operator's history, or its verdicts for a target."""
    from opscan.cli import matrix_text
    from opscan.matrix.names import canonical_operator
    from opscan.routes.kernel import is_kernel, kernel
    from opscan.routes.lookup import history, look_up, unknown_operator

    operator = canonical_operator(arguments.operator)
    if "::" not in operator and not is_kernel(arguments.operator):
        raise unknown_operator(operator)
    target, warnings = resolve_target(arguments.torch_npu, arguments.cann, arguments.soc, host_torch=installed_torch())
    matrix = Matrix.load(target)
    constraints = kernel(matrix, arguments.operator)
    if constraints is not None:
        _warn(warnings)
        _show(arguments.json, constraints, matrix_text.print_kernel)
        return 0
    if not arguments.names_a_target and not operator.startswith("ai.onnx"):
        found = history(matrix, operator)
        if arguments.json:
            _print_json(_plain_history(found))
        else:
            matrix_text.print_history(found, arguments.lang)
        return 0
    answers = look_up(matrix, operator, _dtypes(arguments.dtypes), arguments.opset)
    _warn(warnings)
    if arguments.json:
        plain = [_plain(answer) for answer in answers]
        _print_json({"operator": operator, "target": target, "warnings": [w.en for w in warnings], "answers": plain})
    else:
        matrix_text.print_answers(operator, target, answers)
    return 0


def show_diff(arguments: DiffArguments) -> int:
    from opscan.cli.matrix_text import print_diff
    from opscan.routes.diff import diff
    from opscan.routes.lookup import DTYPES

    route = choice("--route", arguments.route, get_args(Route))
    dtypes = _dtypes(arguments.dtypes) or DTYPES
    before, after, warnings = _sides(arguments, route)
    _warn(warnings)
    sides = _opened(before), _opened(after)
    with Spinner() as spinner:
        changes = diff(*sides, route, dtypes, spinner.update)  # type: ignore[arg-type]
    if arguments.json:
        _print_json({"before": before, "after": after, "warnings": [w.en for w in warnings], "changes": changes})
    else:
        print_diff(before, after, changes)
    return 0


def lint(as_json: bool) -> int:
    """0 where nothing is wrong, 1 otherwise."""
    from opscan.matrix.data import matrix_roots
    from opscan.matrix.lint import lint as run

    with Spinner() as spinner:
        problems = run(matrix_roots(), spinner.update)
    if as_json:
        _print_json({"problems": problems})
    else:
        for problem in problems:
            print(problem)
        print(_counted(len(problems)))
    return 1 if problems else 0


def _counted(problems: int) -> str:
    return {0: "nothing to complain about", 1: "1 problem"}.get(problems, f"{problems} problems")


def _opened(target: Target) -> Matrix:
    """Raises UsageError where nothing is known of the target's kernels: all would seem to be gained or lost."""
    matrix = Matrix.load(target)
    if not matrix.cann:
        raise UsageError(
            f"there is nothing to compare with: the matrix has no table of CANN {target.cann} on {target.soc}",
            "opscan matrix list says which there are.",
        )
    return matrix


def _sides(arguments: DiffArguments, route: str) -> tuple[Target, Target, tuple[Text, ...]]:
    """The two targets, which differ in the part that A and B name."""
    from opscan.matrix.releases import part_of

    parts = {name: part_of(name) for name in (arguments.before, arguments.after)}
    kinds = set(parts.values())
    if len(kinds) > 1:
        said = ", ".join(f"{name} is a {_PARTS[kind]}" for name, kind in parts.items())
        raise UsageError(f"only releases of one kind can be compared: {said}", "Name two of a kind.")
    (kind,) = kinds
    options = {"torch_npu": arguments.torch_npu, "cann": arguments.cann, "soc": arguments.soc}
    if options[kind] is not None:
        raise UsageError(f"A and B already name the {_PARTS[kind]}", f"Leave out --{kind.replace('_', '-')}.")
    after, warned = resolve_target(**{**options, kind: arguments.after}, route=route, host_torch=installed_torch())
    # What A and B do not name is the same on both sides, or the comparison would mix two changes.
    same = {"torch_npu": after.torch_npu, "cann": after.cann, "soc": after.soc}
    before, warned_before = resolve_target(**{**same, kind: arguments.before}, route=route)
    return before, after, tuple(dict.fromkeys((*warned_before, *warned)))


def _dtypes(given: tuple[str, ...]) -> tuple[str, ...]:
    from opscan.matrix.dtypes import DTYPES

    return tuple(dict.fromkeys(choice("--dtype", dtype.removeprefix("torch."), DTYPES) for dtype in given))


def _show(as_json: bool, value: Any, printer: Callable[[Any], None]) -> None:
    if as_json:
        _print_json(value)
    else:
        printer(value)


def _plain(answer: Any) -> Any:
    """An answer with the reasons written out."""
    return msgspec.to_builtins(answer) | {
        "ruling": _with_reason(answer.ruling),
        "cases": [{"name": case.name, "ruling": _with_reason(case.ruling)} for case in answer.cases],
    }


def _plain_history(found: Any) -> Any:
    """A history with its states in English alone: they are keys to whoever reads the JSON."""
    spans = {
        route: [{"first": s.first, "last": s.last, "state": s.state.en} for s in getattr(found, route)]
        for route in ("eager", "graph")
    }
    return msgspec.to_builtins(found) | spans


def _with_reason(ruling: Any) -> Any:
    return msgspec.to_builtins(ruling) | {"reason": ruling.reason}


def _print_json(value: Any) -> None:
    """As UTF-8, whatever the console writes; to nobody where stdout is closed."""
    if sys.stdout is None:
        return
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.flush()


def _warn(warnings: tuple[Text, ...]) -> None:
    for warning in warnings:
        print(f"opscan: warning: {warning.en}", file=sys.stderr)
