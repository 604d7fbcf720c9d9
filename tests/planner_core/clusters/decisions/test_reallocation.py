"""Outcomes for a waiting message, and their reasons."""

from __future__ import annotations

import pytest

from planner_core.clusters.answer import answer
from planner_core.clusters.file import read_object

A, B = ({"queue_manager": name, "channels": [{"status": "RETRYING"}]} for name in "AB")


@pytest.mark.parametrize(
    ("instances", "message", "reason", "moves_to"),
    [
        ([A], {}, "only_choice", ()),
        ([A, B], {}, "most_favoured", ("A", "B")),
        ([A, {"queue_manager": "B"}], {}, "reallocated", ("B",)),
        ([A, {"queue_manager": "B"}], {"bind": "OPEN"}, "not_eligible", ()),
        ([A, {"queue_manager": "B"}], {"bind": "GROUP"}, "reallocated", ("B",)),
        ([A, {"queue_manager": "B"}], {"bind": "GROUP", "logical_order": True}, "not_eligible", ()),
        ([A, {"queue_manager": "B"}], {"channel_fails": False}, "not_redriven", ()),
        ([{**A, "put": "DISABLED"}, {"queue_manager": "B", "put": "DISABLED"}], {}, "put_disabled", ()),
    ],
)  # fmt: skip
def test_waiting_message_stays_or_moves_with_a_reason(
    instances: list[object], message: dict[str, object], reason: str, moves_to: tuple[str, ...]
) -> None:
    given = {"queue": "ORDERS", "message": {"held_for": "A", **message}, "instances": instances}
    found = answer(read_object(given)).message
    assert found is not None
    assert (found.reason, found.moves_to, found.stays) == (reason, moves_to, not moves_to)
