"""Limits of IBM MQ and z/OS by name; tables/limits.toml has their sources."""

from __future__ import annotations

from planner_core import tables


def limit(name: str) -> int:
    """Return the value of a limit in tables/limits.toml."""
    return tables.constants("limits")[name].value
