"""Which engine runs a model: the real torch_npu where the target's release is at hand, a virtual device elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from opscan.errors import OpscanError, UsageError
from opscan.matrix.data import matrix_roots
from opscan.matrix.later import apis_of_later_releases
from opscan.probing.environment import find
from opscan.probing.simulator.build import environment_variables, runtime_for
from opscan.target import Route, Target
from opscan.worker.host import Engine

#: Where a real CANN is set up, torch_npu loads more of it by these, and blocks or queues launches: in a rehearsal the
#: simulated one must be alone.
_OF_A_REAL_CANN = (
    "ASCEND_HOME_PATH",
    "ASCEND_TOOLKIT_HOME",
    "ASCEND_OPP_PATH",
    "ASCEND_CUSTOM_OPP_PATH",
    "ASCEND_AICPU_PATH",
    "ASCEND_LAUNCH_BLOCKING",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ATB_HOME_PATH",
)

EngineChoice = Literal["auto", "virtual", "rehearse"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """``refused`` says why the better engine was not taken where one might expect it; empty otherwise."""

    engine: Engine
    refused: str = ""


def choose(asked: EngineChoice, target: Target, progress: Callable[[str], None]) -> Chosen:
    """The engine for a target. Raises UsageError where a rehearsal is asked for and there is no environment for it,
    OpscanError where its runtime cannot be built.
    """
    if target.route == "offline":
        if asked == "rehearse":
            raise UsageError(
                "The offline route cannot be rehearsed: ATC is part of CANN, and closed.",
                "Leave --rehearse and --engine away: the model is exported to ONNX, and judged by tables.",
            )
        return Chosen(Engine(tracer="onnx"))
    virtual = virtual_engine(target.route)
    if asked == "virtual":
        return Chosen(virtual)
    environment = find(target.torch_npu)
    if environment is None:
        if asked == "rehearse":
            raise UsageError(
                f"A rehearsal for torch_npu {target.torch_npu} needs that release, and it is not installed here.",
                f"Get it: opscan rehearse --setup {target.torch_npu} — or choose another with --torch-npu "
                "(opscan rehearse --list shows what is at hand).",
            )
        return Chosen(virtual)
    try:
        lacking = apis_of_later_releases(matrix_roots(), target.cann, target.soc)
        runtime = runtime_for(environment.package, lacking=lacking, progress=progress)
    except OpscanError as error:
        if asked == "rehearse":
            raise
        return Chosen(virtual, error.message)
    variables = environment_variables(runtime, target.soc, target.cann)
    if target.route == "graph":
        variables["TORCHDYNAMO_DISABLE"] = "0"
    tracer: Literal["dispatch", "graph"] = "graph" if target.route == "graph" else "dispatch"
    return Chosen(Engine("rehearse", str(environment.interpreter), variables, tracer=tracer, without=_OF_A_REAL_CANN))


def virtual_engine(route: Route) -> Engine:
    """The engine without torch_npu: in the graph route the graph that AOT autograd makes, judged by tables."""
    return Engine(tracer="captured-graph" if route == "graph" else "dispatch")
