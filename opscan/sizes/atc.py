"""Options of ATC for inputs with sizes that vary.

Facts, from the reference of ATC in CANN commercial 8.5.0 on hiascend.com: ``--dynamic_batch_size`` takes sizes of the
first dimension alone (atlasatcparam_16_0018), ``--dynamic_image_size`` heights and widths with ``--input_format`` NCHW
or NHWC (0019), ``--dynamic_dims`` any dimensions with ND (0020); each takes 2 to 100 gears, goes with ``-1`` in
``--input_shape``, and excludes the others. The first two do not take a network whose inner sizes depend on data. A
range (``1~64``) or a bare ``-1`` in ``--input_shape`` makes a model for any size instead, which the Atlas 200I/500 A2
products do not run (``--input_shape``).
"""

from __future__ import annotations

from opscan.inventory import Dim, VaryingInput
from opscan.sizes.gears import Varying, combined

#: SoCs of the products that take gears only.
GEARS_ONLY = ("ascend310b",)


def gear_options(inputs: tuple[VaryingInput, ...], varying: tuple[Varying, ...]) -> str:
    """The options for the proposed gears: ``--input_shape="x:-1,3,224,224" --dynamic_batch_size="1,2,4,8"``. Where
    sizes are not known, their names stand in angle brackets."""
    shapes = ";".join(f"{each.name}:{','.join(map(_open, each.shape))}" for each in inputs)
    places = [dim for each in inputs for dim in each.shape if isinstance(dim, str)]
    profiles = [[sizes[name] for name in places] for sizes in combined(varying)]
    if _is_batch(inputs):
        listed = ",".join(profile[0] for profile in profiles)
        return f'--input_shape="{shapes}" --dynamic_batch_size="{listed}"'
    if _is_image(inputs):
        listed = ";".join(",".join(profile[:2]) for profile in profiles)
        return f'--input_format=NCHW --input_shape="{shapes}" --dynamic_image_size="{listed}"'
    listed = ";".join(",".join(profile) for profile in profiles)
    return f'--input_format=ND --input_shape="{shapes}" --dynamic_dims="{listed}"'


def range_option(inputs: tuple[VaryingInput, ...]) -> str:
    """The option for any size: ranges where they are known, else ``-1``."""
    return '--input_shape="' + ";".join(f"{each.name}:{','.join(_ranges(each))}" for each in inputs) + '"'


def _ranges(each: VaryingInput) -> list[str]:
    ranges = iter(each.ranges)
    found = []
    for dim in each.shape:
        bounds = next(ranges, None) if isinstance(dim, str) else None
        found.append(f"{bounds[0]}~{bounds[1]}" if bounds else _open(dim))
    return found


def _open(dim: Dim) -> str:
    return "-1" if isinstance(dim, str) else str(dim)


def _is_batch(inputs: tuple[VaryingInput, ...]) -> bool:
    """Whether one size varies, and it is the first of each input that it is in."""
    symbols = {dim for each in inputs for dim in each.shape if isinstance(dim, str)}
    return len(symbols) == 1 and all(not isinstance(dim, str) for each in inputs for dim in each.shape[1:])


def _is_image(inputs: tuple[VaryingInput, ...]) -> bool:
    """Whether height and width of pictures vary, and nothing else."""
    varying = [each for each in inputs if any(isinstance(dim, str) for dim in each.shape)]
    pairs = {each.shape[2:] for each in varying}
    return len(pairs) == 1 and all(
        len(each.shape) == 4 and [isinstance(dim, str) for dim in each.shape] == [False, False, True, True]
        for each in varying
    )
