"""IBM's examples 1 and 2 of queue depth events, and a real sequence of two events: every published number.

Typed from "Queue depth events examples" (https://www.ibm.com/docs/en/ibm-mq/10.0.x?topic=events-queue-depth-examples). IBM
prints the totals between events and the times as T0, T1, ...; the single puts and gets of the files were chosen to give these
totals without meeting a threshold anywhere else.
"""

from __future__ import annotations

from typing import Any

import pytest

from app.events.service import EXAMPLES, read_yaml_or_json
from planner_core.depth_events.course import Simulation
from planner_core.depth_events.simulate import simulate
from tests.planner_core.depth_events.support import armed, codes, do, enabled, member, nonshared, play

TEXTS = {example.name: example.text for example in EXAMPLES}
MINUTE = 60
Json = dict[str, Any]


def example(number: int) -> Simulation:
    return simulate(read_yaml_or_json(TEXTS[f"ibm-example-{number}"].encode()))


# reason, time (minutes, T1 = 1 ...), time of the reset before it, HighQDepth, MsgEnqCount, MsgDeqCount, depth
EXAMPLE_1 = [
    (2224, 2, 0, 800, 1157, 357, 800),
    (2225, 4, 2, 900, 1220, 1820, 200),
]
EXAMPLE_2 = [
    (2224, 4, 0, 800, 1645, 845, 800),
    (2225, 6, 4, 855, 311, 911, 200),
    (2224, 8, 6, 800, 1377, 777, 800),
    (2053, 9, 8, 1000, 324, 124, 1000),
    (2225, 12, 9, 1000, 221, 1021, 200),
]
# Enabled from this minute on, as IBM's figure has it: H, L, F.
ENABLED_1 = {0: {"H"}, 2: {"L", "F"}, 4: {"H", "F"}}
ENABLED_2 = {0: {"H"}, 4: {"L", "F"}, 6: {"H", "F"}, 8: {"L", "F"}, 9: {"L"}, 12: {"H", "F"}}


@pytest.mark.parametrize(("number", "expected"), [(1, EXAMPLE_1), (2, EXAMPLE_2)])
def test_simulations_of_ibm_examples_give_the_published_events(
    number: int, expected: list[tuple[int, ...]]
) -> None:
    simulation = example(number)
    found = [
        (
            each.event.reason,
            int(each.at) // MINUTE,
            (int(each.at) - each.time_since_reset) // MINUTE,
            each.high_q_depth,
            each.msg_enq_count,
            each.msg_deq_count,
            occurrence.depth,
        )
        for each, occurrence in zip(simulation.events, simulation.occurrences, strict=True)
    ]
    assert found == expected


@pytest.mark.parametrize(("number", "expected"), [(1, ENABLED_1), (2, ENABLED_2)])
def test_simulations_of_ibm_examples_give_the_published_switches(
    number: int, expected: dict[int, set[str]]
) -> None:
    for row in example(number).switches:
        minute = max(each for each in expected if each * MINUTE <= row.at)
        found = {letter for letter, is_armed in zip("HLF", armed(row), strict=True) if is_armed}
        assert found == expected[minute], row


@pytest.mark.parametrize("number", [1, 2])
def test_ibm_examples_reconcile_under_every_interpretation(number: int) -> None:
    simulation = example(number)
    for occurrence in simulation.occurrences:
        assert occurrence.reconciliation is not None
        assert occurrence.reconciliation.unreconciled == 0
        assert occurrence.reconciliation.causes == ()
    assert "EVENT_READING_MATTERS" not in codes(simulation)


def test_events_of_a_nonshared_queue_have_no_correl_id() -> None:
    assert {each.correl_id for each in example(2).events} == {None}


def test_queue_full_is_written_only_for_the_first_rejected_put() -> None:
    simulation = play(
        [member("QM1")],
        [nonshared(qdpmaxev="ENABLED", qdphiev="DISABLED")],
        [
            do("put", "QM1", "LQ1", 1000),
            do("put", "QM1", "LQ1", 5, at=1),
            do("rejected", "QM1", "LQ1", 3, at=2),
        ],
    )
    assert [(each.event.reason, int(each.at)) for each in simulation.events] == [(2053, 1)]
    assert simulation.switches[2].took_effect == 0


def test_simulation_gives_the_events_captured_from_mq_945() -> None:
    """MAXDEPTH(5) QDEPTHHI(80), six puts: 2224 {high 4, enq 4, deq 0}, then 2053 {high 5, enq 1, deq 0}."""
    queue = nonshared("EVT.HI", maxdepth=5, qdpmaxev="ENABLED")
    simulation = play([member("QM1")], [queue], [do("put", "QM1", "EVT.HI", 6)])
    found = [
        (each.event.reason, each.high_q_depth, each.msg_enq_count, each.msg_deq_count)
        for each in simulation.events
    ]
    assert found == [(2224, 4, 4, 0), (2053, 5, 1, 0)]
    assert enabled(simulation, "EVT.HI") == {"L"}
