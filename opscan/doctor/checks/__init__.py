"""Judgements on the facts about a machine: one file a group of subjects, each gives lines of ``interface.Check``."""
