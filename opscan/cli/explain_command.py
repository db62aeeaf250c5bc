"""``opscan explain``: a rule, an error code, or an operator."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from opscan.cli.choices import language
from opscan.errors import UsageError
from opscan.matrix.names import canonical_operator
from opscan.matrix.onnx_table import NEWEST_OPSET
from opscan.rendering.interface import Lang


def run(words: Sequence[str], lang: str | None, as_json: bool) -> int:
    """Print what is known of the subject; 0. Raises UsageError where nothing is.

    ``words``: the subject; a line of a log need not be quoted.
    """
    from opscan.explain import explain

    subject, asked = " ".join(words).strip(), language(lang)
    explanation = explain(subject, asked)
    if explanation is None:
        if explain_operator(subject, asked, as_json):
            return 0
        raise UsageError(f"No rule, error code or operator is called {_quoted(subject)}.", _hint(subject))
    from opscan.rendering.explanation import print_explanation, render_explanation_json
    from opscan.rendering.terminal import summary_console

    if as_json:
        sys.stdout.write(render_explanation_json(explanation))
    else:
        print_explanation(explanation, summary_console(sys.stdout), asked)
    return 0


def explain_operator(subject: str, lang: Lang, as_json: bool) -> bool:
    """Print what the matrix says of an operator, its history over the releases; False where no table has it.

    Raises UsageError, with the nearest names, where the subject was written as an operator.
    """
    from opscan.cli.matrix_command import QueryArguments, show_operator

    try:
        name = canonical_operator(subject)
        return show_operator(QueryArguments(name, None, None, None, (), NEWEST_OPSET, as_json, lang)) == 0
    except UsageError:
        if "::" in subject:
            raise
        return False


def _hint(subject: str) -> str:
    from opscan.explain import nearest_subjects

    close = nearest_subjects(subject)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    return f"{hint}Give a rule (OPS104), an error code (161002, EZ9999) or an operator (aten::add.Tensor)."


def _quoted(subject: str) -> str:
    """One line of the subject, short enough to read."""
    from opscan.rendering.inert import inert, shorten

    return shorten(inert(subject), 60) or "''"
