from __future__ import annotations

from hypothesis import settings

# The first example of a test pays for loading torch: no time limit on one example.
settings.register_profile("substitution", deadline=None, max_examples=50)
settings.load_profile("substitution")
