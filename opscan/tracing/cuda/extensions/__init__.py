"""Packages of CUDA kernels that are not installed: what a model imports and calls of them is written down, and the
trace goes on where the result is known.

``answering`` answers imports, by the rules of ``guards``; ``stubs`` are what an import gets; ``calls`` writes down.
Each family of stand-ins is a file of its own, with where its signatures are from.
"""
