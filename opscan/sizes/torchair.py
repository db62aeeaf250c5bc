"""torchair's gears for inputs with sizes that vary.

Facts, from torchair itself (Ascend/torchair ``inference/_gear_utils.py``): ``set_dim_gears`` takes 2 to 100 gears a
dimension and marks it dynamic; a policy combines those of several dimensions (``zip`` or ``product``), into 100 at
most; a size that is no gear is refused. From its documentation (``set_dim_gears``): the model is compiled with
``dynamic=True`` in the mode of the graph engine, gears are 2 or more (torch.compile makes sizes 0 and 1 constants), and
inputs have no private format.
"""

from __future__ import annotations

from opscan.inventory import VaryingInput
from opscan.sizes.gears import Varying

#: torch.compile makes a constant of a size of 1.
SMALLEST = 2


def gear_calls(inputs: tuple[VaryingInput, ...], varying: tuple[Varying, ...]) -> str:
    """The calls for the proposed gears: ``set_dim_gears(x, {0: [2, 4, 8]})``."""
    known = {each.name: list(each.gears) for each in varying}
    calls = []
    for each in inputs:
        dims = {i: known[dim] for i, dim in enumerate(each.shape) if isinstance(dim, str) and known.get(dim)}
        if dims:
            calls.append(f"set_dim_gears({each.name}, {dims})")
    return "; ".join(calls)
