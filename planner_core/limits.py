"""The limits of IBM MQ and z/OS by name; their sources stand in tables/limits.toml."""

from __future__ import annotations

from planner_core import tables


def limit(name: str) -> int:
    """A limit of tables/limits.toml."""
    return tables.constants("limits")[name].value
