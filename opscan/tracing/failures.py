"""Why torch could not capture or export a model, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opscan.tracing.user_error import in_short

#: What errors of torch, or causes of them, mean: by the name of their class.
_MEANINGS = {
    "DispatchError": "an operator has no translation",
    "UnsupportedOperatorError": "an operator has no translation",
    "SymbolicValueError": "the arguments of an operator have no translation",
    "GuardOnDataDependentSymNode": "the path depends on data",
    "DataDependentOutputException": "the path depends on data",
    "UserError": "the model cannot be captured whole",
    "TorchExportError": "the model cannot be captured whole",
    "TraceError": "the path depends on what a symbol stands for",
    "TracingCheckError": "the trace differs from run to run",
}


def reason(error: BaseException) -> str:
    """What the failure means where that is known, and the message that says most."""
    chain: Sequence[BaseException] = list(causes(error))
    for each in chain[::-1]:
        if meaning := _MEANINGS.get(type(each).__name__):
            tells = chain[-1] if type(each).__name__ == "TorchExportError" else each  # which only says that it failed
            return f"{meaning} ({in_short(tells)})"
    return in_short(chain[-1])


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and what led to it."""
    seen = 0
    while error is not None and seen < 20:
        yield error
        error, seen = error.__cause__ or error.__context__, seen + 1
