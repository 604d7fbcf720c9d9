"""Instances of a clustered queue, and channels to their queue managers.

`Instance` is a row of DISPLAY QCLUSTER, `Channel` a row of DISPLAY CLUSQMGR with the state of the channel.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from planner_core import tables

_DEFAULTS = tables.constants("cluster_defaults")
DEFAULT_WEIGHT = _DEFAULTS["clwlwght"].value
MOST_CHANNELS = _DEFAULTS["clwlmruc"].value
"""Default of CLWLMRUC: no limit."""


class Status(StrEnum):
    """The states of a channel. A channel without a row in DISPLAY CHSTATUS is INACTIVE."""

    INACTIVE = "INACTIVE"
    RUNNING = "RUNNING"
    BINDING = "BINDING"
    INITIALIZING = "INITIALIZING"
    STARTING = "STARTING"
    STOPPING = "STOPPING"
    RETRYING = "RETRYING"
    REQUESTING = "REQUESTING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    SWITCHING = "SWITCHING"

    @classmethod
    def read(cls, text: str) -> Status | None:
        """Return the state in a display (z/OS shortens INITIALIZING); None if there is no such state."""
        word = text.strip().upper()
        if len(word) >= len("INIT") and "INITIALIZING".startswith(word):
            return cls.INITIALIZING
        return cls(word) if word in cls.__members__ else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance of the clustered queue: a row of DISPLAY QCLUSTER, or the local queue of the sender.

    `qsg` names the queue-sharing group of a shared queue, whose members all advertise that queue. An empty `cluster` is
    unknown and matches any.
    """

    queue_manager: str
    cluster: str = ""
    rank: int = 0
    priority: int = 0
    put_enabled: bool = True
    is_local: bool = False
    qsg: str = ""

    @property
    def physical_queue(self) -> str:
        """Return the place of the messages: the group for a shared queue, otherwise the queue manager."""
        return self.qsg or self.queue_manager


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One route to a queue manager: a row of DISPLAY CLUSQMGR.

    `last_used` orders channels by their last use (DestSeqNumber: the highest is the most recent), `factor` is the use of
    a channel relative to its weight (DestSeqFactor). Both are 0 if they are not known.
    """

    name: str
    queue_manager: str
    cluster: str = ""
    rank: int = 0
    priority: int = 0
    weight: int = DEFAULT_WEIGHT
    netprty: int = 0
    status: Status = Status.RUNNING
    suspended: bool = False
    last_used: int = 0
    factor: int = 0
