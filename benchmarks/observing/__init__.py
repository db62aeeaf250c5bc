"""The cases that ``benchmarks/observe.py`` runs, and how it reads the runtime's log."""
