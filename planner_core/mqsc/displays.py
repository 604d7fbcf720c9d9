"""Read what MQ says of CF structures: DISPLAY CFSTATUS and DISPLAY CFSTRUCT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner_core.console import LineProblem


@dataclass(frozen=True, slots=True)
class CfStatus:
    """One DISPLAY CFSTATUS TYPE(SUMMARY) answer; None where it does not say."""

    line: int
    name: str
    queue_manager: str | None = None
    stamp: str | None = None
    cf_type: str | None = None
    status: str | None = None
    size_max_bytes: int | None = None
    size_used_percent: int | None = None
    entries_max: int | None = None
    entries_used: int | None = None
    offload_use: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CfStruct:
    """One DISPLAY CFSTRUCT answer; None where it does not say."""

    line: int
    name: str
    queue_manager: str | None = None
    stamp: str | None = None
    cflevel: int | None = None
    recover: bool | None = None
    offload: str | None = None
    rules: tuple[tuple[int, int], ...] = ()
    """Offload rules in order: (used over [%], size over [bytes])."""
    dsblock_bytes: int | None = None
    dsbufs: int | None = None
    dsgroup: str | None = None
    dsexpand: bool | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MqText:
    """Everything found in a text, in its order, and what could not be read."""

    statuses: tuple[CfStatus, ...] = ()
    structures: tuple[CfStruct, ...] = ()
    problems: tuple[LineProblem, ...] = ()


def read_mq(text: str) -> MqText:
    """Read all answers of a text; other lines are passed over. Never raises."""
    raise NotImplementedError
