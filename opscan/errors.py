"""Every failure a user can meet, as one type with one message that says what to do next."""

from __future__ import annotations


class OpscanError(Exception):
    """A problem the user can act on. ``str(error)`` is the whole message; ``hint`` is the next step, on a line of its
    own.

    The command line prints both and exits with ``exit_code`` (2: usage, configuration, loading or internal error).
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


#: Characters of a message that are looked at: a model may put a whole tensor into one.
_READ = 10_000


def message_of(error: BaseException) -> str:
    """The beginning of ``str(error)`` of an exception that may be anybody's: a class of the user's own may raise when
    it is asked, or say a great deal, in which patterns are looked for.
    """
    try:
        return str(error)[:_READ]
    except Exception as another:
        return f"(its message cannot be read: {type(another).__name__})"


class UsageError(OpscanError):
    """An option or argument that cannot be used as given."""


class LoadError(OpscanError):
    """The model reference does not lead to a callable with inputs."""


class ModelError(OpscanError):
    """The user's own code raised. The message carries the user's file, line and source text."""


class CaptureError(OpscanError):
    """A tracer cannot follow the model, which runs all the same: another tracer may. The message says why and where."""


class MatrixError(OpscanError):
    """A support matrix file is missing, damaged or from another schema: the message names file and key."""
