"""``opscan matrix list|query|diff|lint``: ask, print."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import msgspec

from opscan.cli.choices import choice
from opscan.cli.progress import Spinner
from opscan.errors import UsageError
from opscan.matrix.query import Matrix
from opscan.matrix.releases import installed_torch, resolve_target
from opscan.target import Target


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

    @property
    def names_a_target(self) -> bool:
        return bool(self.torch_npu or self.cann or self.soc or self.dtypes)


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

    found = holdings(matrix_roots())
    if as_json:
        _print_json(found)
    else:
        print_holdings(found)
    return 0


def show_operator(arguments: QueryArguments) -> int:
    """A kernel's constraints, an operator's history, or its verdicts for a target."""
    from opscan.cli import matrix_text
    from opscan.matrix.names import canonical_operator
    from opscan.routes.kernel import kernel
    from opscan.routes.lookup import history, look_up

    target, warnings = resolve_target(arguments.torch_npu, arguments.cann, arguments.soc, host_torch=installed_torch())
    matrix = Matrix.load(target)
    constraints = kernel(matrix, arguments.operator)
    if constraints is not None:
        _show(arguments.json, constraints, matrix_text.print_kernel, warnings)
        return 0
    operator = canonical_operator(arguments.operator)
    if not arguments.names_a_target and not operator.startswith("ai.onnx"):
        _show(arguments.json, history(matrix, operator), matrix_text.print_history)
        return 0
    answers = look_up(matrix, operator, _dtypes(arguments.dtypes), arguments.opset)
    report = {"operator": operator, "target": target, "answers": [_plain(answer) for answer in answers]}
    if arguments.json:
        _print_json(report)
    else:
        _warn(warnings)
        matrix_text.print_answers(operator, target, answers)
    return 0


def show_diff(arguments: DiffArguments) -> int:
    from opscan.cli.matrix_text import print_diff
    from opscan.routes.diff import diff
    from opscan.routes.lookup import DTYPES

    route = choice("--route", arguments.route, ("eager", "graph"))
    before, after, warnings = _sides(arguments, route)
    if not arguments.json:
        _warn(warnings)
    with Spinner() as spinner:
        changes = diff(
            Matrix.load(before),
            Matrix.load(after),
            route,  # type: ignore[arg-type]
            _dtypes(arguments.dtypes) or DTYPES,
            spinner.update,
        )
    if arguments.json:
        _print_json({"before": before, "after": after, "changes": changes})
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
        print("nothing to complain about" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


def _sides(arguments: DiffArguments, route: str) -> tuple[Target, Target, tuple[str, ...]]:
    """The two targets, which differ in the part that A and B name."""
    from opscan.matrix.releases import part_of

    parts = {name: part_of(name) for name in (arguments.before, arguments.after)}
    kinds = set(parts.values())
    if len(kinds) > 1:
        said = ", ".join(f"{name} is a {kind}" for name, kind in parts.items())
        raise UsageError(f"only releases of one kind can be compared: {said}", "Name two of a kind.")
    (kind,) = kinds
    options = {"torch_npu": arguments.torch_npu, "cann": arguments.cann, "soc": arguments.soc}
    if options[kind]:
        raise UsageError(f"A and B already name the {kind}", f"Leave out --{kind.replace('_', '-')}.")
    after, warned = resolve_target(**{**options, kind: arguments.after}, route=route, host_torch=installed_torch())
    # What A and B do not name is the same on both sides, or the comparison would mix two changes.
    same = {"torch_npu": after.torch_npu, "cann": after.cann, "soc": after.soc}
    before, warned_before = resolve_target(**{**same, kind: arguments.before}, route=route)
    return before, after, tuple(dict.fromkeys((*warned_before, *warned)))


def _dtypes(given: tuple[str, ...]) -> tuple[str, ...]:
    from opscan.matrix.dtypes import DTYPES

    return tuple(choice("--dtype", dtype.removeprefix("torch."), DTYPES) for dtype in given)


def _show(as_json: bool, value: Any, printer: Any, warnings: tuple[str, ...] = ()) -> None:
    if as_json:
        _print_json(value)
    else:
        _warn(warnings)
        printer(value)


def _plain(answer: Any) -> Any:
    """An answer with the reasons written out."""
    return msgspec.to_builtins(answer) | {
        "ruling": _with_reason(answer.ruling),
        "cases": [{"name": case.name, "ruling": _with_reason(case.ruling)} for case in answer.cases],
    }


def _with_reason(ruling: Any) -> Any:
    return msgspec.to_builtins(ruling) | {"reason": ruling.reason}


def _print_json(value: Any) -> None:
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.flush()


def _warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        print(f"opscan: warning: {warning}", file=sys.stderr)
