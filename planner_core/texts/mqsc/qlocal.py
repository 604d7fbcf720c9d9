"""The attributes of a shared queue that a plan states, declared once.

DEFINE, the comparison with the running system and the commands that move a queue follow from this table. Source of the
defaults: IBM MQ, DEFINE QLOCAL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Final

from planner_core.document.model import MessageSizes, Queue
from planner_core.limits import limit
from planner_core.names import mqsc_attribute


@dataclass(frozen=True, slots=True)
class QlocalAttribute:
    """One attribute: its keyword, and the keys of a queue of the plan document that state it.

    The first key has the value. `default` is that of DEFINE; None if the comparison assumes none. `is_carried_over`
    states whether a queue that is deleted and redefined keeps today's value if the plan does not state one.
    """

    keyword: str
    keys: tuple[str, ...]
    default: str | None = None
    is_carried_over: bool = True


QLOCAL: Final = (
    QlocalAttribute("DEFPSIST", ("persistent",), "NO", is_carried_over=False),
    QlocalAttribute("SHARE", ("share",), "NO", is_carried_over=False),
    QlocalAttribute("DEFSOPT", ("default_share_option", "share"), "EXCL", is_carried_over=False),
    QlocalAttribute("INDXTYPE", ("index_type",), "NONE"),
    QlocalAttribute("MAXMSGL", ("max_message_length",), "4194304"),
    # No HARDENBO: the backout count of a shared queue always survives restarts.
    QlocalAttribute("BOTHRESH", ("backout_threshold",), "0"),
    QlocalAttribute("BOQNAME", ("backout_queue",), ""),
    QlocalAttribute("MAXDEPTH", ("maxdepth",)),
    QlocalAttribute("QDEPTHHI", ("qdepthhi",)),
    QlocalAttribute("QDEPTHLO", ("qdepthlo",)),
    QlocalAttribute("QDPHIEV", ("qdphiev",)),
    QlocalAttribute("QDPLOEV", ("qdploev",)),
    QlocalAttribute("QDPMAXEV", ("qdpmaxev",)),
    # Service interval events are not supported on shared queues.
    QlocalAttribute("QSVCIEV", ("qsvciev",), is_carried_over=False),
)
"""The attributes, in the order in which MQSC is written."""
_KEYWORDS: Final = tuple(each.keyword for each in QLOCAL)
_values = attrgetter(*(each.keys[0] for each in QLOCAL))
"""A function that reads the values of all attributes of a queue."""
# Most queues of a plan state the same values for most attributes.
_attribute = lru_cache(maxsize=1000)(mqsc_attribute)
QLOCAL_DEFAULTS: Final = {each.keyword: each.default for each in QLOCAL if each.default is not None}


def is_defined_alike(one: Queue, other: Queue) -> bool:
    """Return True only if `planned_queue` yields the same lines for both queues, without writing them."""
    return _values(one) == _values(other) and (
        one.max_message_length is not None or _largest(one) == _largest(other)
    )


def planned_queue(queue: Queue) -> Iterator[str]:
    """Yield the attributes that DEFINE states for a queue of a plan, as the lines of the command."""
    for keyword, value in zip(_KEYWORDS, _values(queue), strict=True):
        # Checked first: a plan can have 32,000 queues, and most of them state two or three attributes.
        if value is None:
            # With the default, the largest planned messages could not be put.
            if keyword == "MAXMSGL" and (largest := _largest(queue)) > limit("default_maxmsgl_bytes"):
                yield mqsc_attribute(keyword, largest)
        elif keyword == "SHARE":
            default = "SHARED" if queue.share else "EXCL"
            share = "SHARE" if queue.share else "NOSHARE"
            yield f"{share} DEFSOPT({queue.default_share_option or default})"
        elif keyword != "DEFSOPT":  # it is in the line of SHARE
            yield _attribute(keyword, ("NO", "YES")[value] if isinstance(value, bool) else value)


def _largest(queue: Queue) -> int:
    sizes = queue.message_bytes
    return sizes.max if isinstance(sizes, MessageSizes) else sizes
