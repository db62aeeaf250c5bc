"""CUDA extensions in the graph route: calls stay outside of the graphs, as what torch.compile cannot look into."""

from __future__ import annotations

import torch

from opscan.tracing.cuda.extensions.calls import Calls


class CallsOutside(Calls):
    """Dynamo leaves the graph where one is made."""

    __slots__ = ()

    known = torch.compiler.disable(Calls.known)
    launched = torch.compiler.disable(Calls.launched)
    unknown = torch.compiler.disable(Calls.unknown)
