"""Parts of ``benchmarks/zoo.py``."""
