"""``opscan matrix build``: regenerate the matrix from its sources."""

from __future__ import annotations

from opscan.errors import UsageError


def build(check_only: bool) -> int:
    """0 where all files are (or were) as their sources yield them; 1 where a check found a difference."""
    from opscan.matrix.build import build_all, check
    from opscan.matrix.data import support_matrix_dir

    root = support_matrix_dir()
    if not (root / "sources").is_dir():
        raise UsageError(
            "The support matrix is built from support_matrix/sources/, which an installed opscan does not carry.",
            "Run this in a checkout, installed with pip install -e .",
        )
    if not check_only:
        for path in build_all(root):
            print(f"wrote {path}")
        return 0
    differing = check(root)
    for path in differing:
        print(f"differs from its sources: {path}")
    return 1 if differing else 0
