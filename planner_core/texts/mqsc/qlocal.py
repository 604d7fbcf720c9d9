"""The attributes of a shared queue that a plan states, declared once.

DEFINE, the comparison with the running system and the commands that move a queue follow from this table. Source of the
defaults: IBM MQ, DEFINE QLOCAL.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Final

from planner_core.document.model import MessageSizes, Queue
from planner_core.limits import limit
from planner_core.names import mqsc_attribute
from planner_core.texts.mqsc.cfstruct import bounds_of


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
_OWN = range(_KEYWORDS.index("BOQNAME"), _KEYWORDS.index("MAXDEPTH") + 1)
"""The places of the attributes that usually differ from queue to queue."""
_MAXMSGL, _DEFSOPT = _KEYWORDS.index("MAXMSGL"), _KEYWORDS.index("DEFSOPT")
QLOCAL_BOUNDS: Final = {
    each.keyword: bounds for each in QLOCAL if (bounds := bounds_of(Queue.model_fields[each.keys[0]]))
}
"""The lowest and the highest number of each attribute that is a number, as the plan document accepts it."""
QLOCAL_DEFAULTS: Final = {each.keyword: each.default for each in QLOCAL if each.default is not None}


def is_defined_alike(one: Queue, other: Queue) -> bool:
    """Return True only if `planned_queue` returns the same lines for both queues, without writing them."""
    return _values(one) == _values(other) and (
        one.max_message_length is not None or _largest(one) == _largest(other)
    )


def planned_queue(queue: Queue) -> tuple[str, ...]:
    """Return the attributes that DEFINE states for a queue of a plan, as the lines of the command."""
    values = _values(queue)
    # With the default, the largest planned messages could not be put.
    if queue.max_message_length is None and (largest := _largest(queue)) > limit("default_maxmsgl_bytes"):
        values = (*values[:_MAXMSGL], largest, *values[_MAXMSGL + 1 :])
    return (
        *_usual_lines(0, values[: _OWN.start]),
        *_lines(_OWN.start, values[_OWN.start : _OWN.stop]),
        *_usual_lines(_OWN.stop, values[_OWN.stop :]),
    )


def _lines(first: int, values: tuple[object, ...]) -> tuple[str, ...]:
    """Return the lines of the attributes from the place `first` on, which have these values."""
    found = []
    for keyword, value in zip(_KEYWORDS[first:], values, strict=False):
        if value is None:
            continue
        if keyword == "SHARE":
            default_share_option = values[_DEFSOPT - first] or ("SHARED" if value else "EXCL")
            found.append(f"{'SHARE' if value else 'NOSHARE'} DEFSOPT({default_share_option})")
        elif keyword != "DEFSOPT":  # it is in the line of SHARE
            found.append(mqsc_attribute(keyword, ("NO", "YES")[value] if isinstance(value, bool) else value))
    return tuple(found)


# A plan can have 32,000 queues, and most of them state the same values for these attributes. Each place has values of one
# type, so that 1 and True are never confused.
_usual_lines = lru_cache(maxsize=1000)(_lines)


def _largest(queue: Queue) -> int:
    sizes = queue.message_bytes
    return sizes.max if isinstance(sizes, MessageSizes) else sizes
