"""The page of the sweep, from its records."""

from __future__ import annotations

from sweeping.records import Record


def page(records: list[Record]) -> str:
    return (
        "\n".join(f"{r.section} {r.name} {r.outcome} {r.reason[:100]}" for r in records if r.outcome != "whole") + "\n"
    )
