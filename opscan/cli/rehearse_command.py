"""``opscan rehearse``: the environments that hold a torch_npu."""

from __future__ import annotations

from opscan.cli.progress import Spinner
from opscan.errors import UsageError


def manage(setup: str | None, remove: str | None, listing: bool) -> int:
    """Make, delete or list environments."""
    if not (setup or remove or listing):
        raise UsageError(
            "Which model? A Python file that builds it is missing.", "Rehearse one: opscan rehearse model.py"
        )
    from opscan.probing import environment

    if remove:
        environment.remove(remove)
        print(f"The environment of torch_npu {remove} is deleted.")
    if setup:
        with Spinner() as spinner:
            made = environment.set_up(setup, spinner.update)
        print(f"torch_npu {made.torch_npu} with torch {made.torch} is ready: {made.interpreter}")
    if listing:
        found = environment.available()
        for each in found:
            kind = "managed" if each.managed else "this environment"
            print(f"torch_npu {each.torch_npu:16} torch {each.torch:8} {kind:17} {each.interpreter}")
        if not found:
            print("No torch_npu is at hand. Make an environment: opscan rehearse --setup RELEASE")
    return 0
