"""What the probe's comparison lets pass and what it finds, with the CPU in the place of a device.

    python benchmarks/probe_comparison.py [--signatures FILE] [--each N] [--list N]

For up to N signatures of each overload and dtype (of ``probe_samples.py``) the results of the CPU in the call's own
dtypes are compared with the reference in double precision. All must pass; the second count leaves out the allowance for
dtypes that are too narrow for the values. Then one element of one result is changed, by a hundredth of the largest (a
tenth in bfloat16), to NaN, or by one in an integer: none must pass.
"""

from __future__ import annotations

import argparse
import collections
import warnings
from pathlib import Path

import msgspec
import torch
from probe_samples import few, record

from opscan.inventory import OpCall
from opscan.probing.comparison import NoReference, Reference, compare, judging, reference_of, results_of
from opscan.probing.samples.drawing import draw
from opscan.probing.samples.interface import Unsampled
from opscan.probing.signature import signature_of


def attempt(call: OpCall) -> tuple[Reference, list[torch.Tensor]] | None:
    try:
        sample = draw(signature_of(call))
        reference = reference_of(sample)
        args, kwargs = sample.placed(lambda tensor: tensor)
        return reference, results_of(sample, args, kwargs, sample.operator(*args, **kwargs))
    except (Unsampled, NoReference):
        return None


def damaged(results: list[torch.Tensor]) -> list[list[torch.Tensor]]:
    """The results with one element of the first one changed, in up to two ways."""
    first = results[0]
    if not first.numel() or first.dtype in (torch.complex32, torch.uint64):
        return []
    changes: list[torch.Tensor] = []
    if first.dtype == torch.bool:
        changes = [first.flatten()[0].logical_not()]
    elif not (first.is_floating_point() or first.is_complex()):
        changes = [(first.flatten()[0].long() ^ 1).to(first.dtype)]
    else:
        share = 0.1 if first.dtype in (torch.bfloat16, torch.float16) else 0.01
        size = first.abs()[first.isfinite()].float()
        largest = max(float(size.max()) if size.numel() else 0.0, 0.1)
        changes = [first.flatten()[0] + share * largest, torch.tensor(float("nan"), dtype=first.dtype)]
    found = []
    for change in changes:
        other = first.clone().flatten()
        if torch.equal(other[0], change) or (other[0].isnan() and change.isnan()):
            continue
        other[0] = change
        found.append([other.reshape(first.shape), *results[1:]])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--signatures", type=Path)
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--list", type=int, default=0, metavar="N")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    known = options.signatures and options.signatures.exists()
    calls = msgspec.json.decode(options.signatures.read_bytes(), type=list[OpCall]) if known else record()
    counts: collections.Counter[str] = collections.Counter()
    departures: collections.Counter[tuple[str, str]] = collections.Counter()
    missed: collections.Counter[tuple[str, str]] = collections.Counter()
    for call in few(calls, options.each):
        tried = attempt(call)
        if tried is None:
            counts["without a reference"] += 1
            continue
        reference, results = tried
        found = compare(reference, results)
        counts["compared"] += found.errors is not None
        counts["only dtype, shape and range"] += found.errors is None and found.passed
        if not found.passed:
            departures[call.name, found.message] += 1
        counts["agree without the allowance"] += found.errors is not None and _strict(reference, results)
        if found.errors is None or not found.passed:
            continue
        counts["agree"] += 1
        for other in damaged(results):
            counts["damaged"] += 1
            if compare(reference, other).passed:
                missed[call.name, str(results[0].dtype)] += 1
    for what, count in counts.items():
        print(f"{what}: {count}")
    print(f"damage found: {counts['damaged'] - missed.total()} ({1 - missed.total() / max(counts['damaged'], 1):.2%})")
    for title, counter in (("departs", departures), ("damage not found", missed)):
        for (name, what), count in counter.most_common(options.list):
            print(f"  {title} {count} {name}: {what[:120]}")


def _strict(reference: Reference, results: list[torch.Tensor]) -> bool:
    share, judging.OWN_SHARE = judging.OWN_SHARE, 0.0
    try:
        return compare(reference, results).passed
    finally:
        judging.OWN_SHARE = share


if __name__ == "__main__":
    main()
