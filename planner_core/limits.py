"""Limits of IBM MQ and z/OS by name; tables/limits.toml has their sources."""

from __future__ import annotations

from functools import cache

from planner_core import tables


@cache
def limit(name: str) -> int:
    """Return the value of a limit in tables/limits.toml."""
    return tables.constants("limits")[name].value
