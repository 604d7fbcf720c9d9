"""Kinds of jobs. A feature declares each of its kinds once; `app/keeper.py` lists the keepers that do the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobKind:
    """The texts about jobs of one kind, and whether these jobs run alone."""

    stages: Mapping[str, str]
    """The title of each stage, in order."""
    begins: str
    """The sentence of a run before its first stage."""
    title: str
    """The subject of sentences about a run of this kind."""
    is_alone: bool
    """Whether runs of this kind and of all other kinds with this mark run one at a time, wherever they were started."""
    connections: tuple[str, ...]
    """The kinds of connections that the keepers use; other keepers do not get the credentials."""


# Features fill this when they are imported. A list here would make the queue import every feature.
_KINDS: dict[str, JobKind] = {}


def declare(
    name: str,
    *,
    stages: Mapping[str, str],
    begins: str,
    title: str = "The run",
    is_alone: bool = False,
    connections: tuple[str, ...] = (),
) -> str:
    """Declare a kind of job and return its name, which is stored in `job_runs.kind`."""
    _KINDS[name] = JobKind(stages, begins, title, is_alone, connections)
    return name


def kind_of(name: str) -> JobKind:
    """Return a declared kind."""
    # A missing kind must fail here: treated as one that may run with others, two nightly runs would write at once.
    return _KINDS[name]


def names_alone() -> tuple[str, ...]:
    """Return the names of the kinds whose runs are worked on one at a time."""
    return tuple(name for name, kind in _KINDS.items() if kind.is_alone)
