"""Tracers that capture a model as a program, which the dispatch tracer then runs operator by operator."""
