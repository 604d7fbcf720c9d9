"""Single rules of the model: switches, resets, counts and refusals."""

from __future__ import annotations

import pytest

from planner_core.depth_events.course import MOST_EVENTS
from planner_core.depth_events.file import MOST_QUEUES, MOST_STEPS, read_object
from planner_core.depth_events.model import DepthLimits, Event
from planner_core.depth_events.simulate import simulate
from planner_core.errors import InputInvalid
from tests.planner_core.depth_events.support import (
    Json,
    codes,
    do,
    enabled,
    file,
    member,
    message_counts,
    nonshared,
    play,
    shared,
    switches,
)

QM1, QM2 = member("QM1"), member("QM2")


@pytest.mark.parametrize(
    ("event", "before", "after"),
    [
        (Event.HIGH, (True, False, False), (False, True, True)),
        (Event.HIGH, (True, True, False), (False, True, True)),
        (Event.LOW, (False, True, True), (True, False, True)),
        (Event.LOW, (False, True, False), (True, False, True)),
        (Event.FULL, (False, True, True), (False, True, False)),
        (Event.FULL, (True, False, True), (True, True, False)),
    ],
)
def test_events_enable_and_disable_event_attributes(
    event: Event, before: tuple[bool, ...], after: tuple[bool, ...]
) -> None:
    assert switches(*before).after(event) == switches(*after)


@pytest.mark.parametrize(
    ("maxdepth", "qdepthhi", "qdepthlo", "high", "truncated", "low"),
    [
        (1000, 80, 20, 800, 800, 200),
        (5, 80, 20, 4, 4, 1),
        (7, 80, 20, 6, 5, 1),
        (999_999_999, 1, 1, 10_000_000, 9_999_999, 9_999_999),
        (10, 100, 0, 10, 10, 0),
        (0, 80, 20, 0, 0, 0),
    ],
)
def test_thresholds_are_percentages_of_maxdepth(
    maxdepth: int, qdepthhi: int, qdepthlo: int, high: int, truncated: int, low: int
) -> None:
    limits = DepthLimits(maxdepth=maxdepth, qdepthhi=qdepthhi, qdepthlo=qdepthlo)
    assert (limits.high_depth(), limits.high_depth("truncated"), limits.low_depth()) == (
        high,
        truncated,
        low,
    )


def test_high_event_enabled_above_its_threshold_occurs_at_the_next_put() -> None:
    queue = nonshared(qdphiev="DISABLED", depth=900)
    enable = {"at": 1, "action": "alter_queue", "queue": "LQ1", "qdphiev": "ENABLED"}
    simulation = play(
        [QM1], [queue], [enable, do("get", "QM1", "LQ1", 50, at=2), do("put", "QM1", "LQ1", 1, at=3)]
    )
    assert [(int(each.at), each.event) for each in simulation.occurrences] == [(3, Event.HIGH)]


def test_maxdepth_below_the_depth_gives_queue_full_and_leaves_high_enabled() -> None:
    lower = {"at": 1, "action": "alter_queue", "queue": "LQ1", "maxdepth": 100}
    queue = nonshared(depth=500, qdpmaxev="ENABLED")
    simulation = play([QM1], [queue], [lower, do("put", "QM1", "LQ1", 1, at=2)])
    assert message_counts(simulation) == [("Full", "QM1", 0, 0)]
    assert enabled(simulation, "LQ1") == {"H", "L"}


def test_second_rise_without_queue_depth_low_gives_no_second_high() -> None:
    swings = [
        step
        for n in range(5)
        for step in (do("put", "QM1", "SQ1", 600, at=n), do("get", "QM1", "SQ1", 600, at=n))
    ]
    simulation = play([QM1], [shared(depth=250)], swings)
    assert [each.event for each in simulation.occurrences] == [Event.HIGH]
    assert "EVENT_HIGH_SPENT" in codes(simulation)


def test_equal_thresholds_raise_high_and_low_events_alternately() -> None:
    queue = shared(maxdepth=10, qdepthhi=50, qdepthlo=50, depth=4)
    swings = [
        step
        for n in range(3)
        for step in (do("put", "QM1", "SQ1", 1, at=n), do("get", "QM1", "SQ1", 1, at=n))
    ]
    assert [each.event.title[12:] for each in play([QM1], [queue], swings).occurrences] == [
        "High",
        "Low",
    ] * 3


def test_expired_messages_cause_a_low_event_and_are_not_counted() -> None:
    queue = shared(depth=900, qdphiev="DISABLED", qdploev="ENABLED")
    simulation = play([QM1, QM2], [queue], [do("expire", "QM2", "SQ1", 700)])
    assert message_counts(simulation) == [("Low", "QM2", 0, 0), ("Low", "QM1", 0, 0)]
    (occurrence,) = simulation.occurrences
    assert occurrence.reconciliation is not None
    (cause,) = occurrence.reconciliation.causes
    assert (cause.cause, cause.messages) == ("expired", -700)


def test_backout_changes_neither_event_switches_nor_counters() -> None:
    simulation = play(
        [QM1],
        [nonshared()],
        [
            do("put", "QM1", "LQ1", 800),
            do("backout_put", "QM1", "LQ1", 800, at=1),
            do("put", "QM1", "LQ1", 900, at=2),
            do("get", "QM1", "LQ1", 100, at=3),
            do("backout_get", "QM1", "LQ1", 100, at=4),
            do("get", "QM1", "LQ1", 700, at=5),
        ],
    )
    assert message_counts(simulation) == [("High", "QM1", 800, 0), ("Low", "QM1", 900, 800)]
    low = simulation.occurrences[1].reconciliation
    assert low is not None
    assert {(each.cause, each.messages) for each in low.causes} == {
        ("backed_out_puts", -800),
        ("backed_out_gets", 100),
    }


def test_reset_qstats_resets_one_member_and_fails_with_perfmev_disabled() -> None:
    reset = {"action": "reset_qstats", "queue": "SQ1"}
    simulation = play(
        [QM1, QM2, member("QM3", "DISABLED")],
        [shared()],
        [
            do("put", "QM1", "SQ1", 300, at=1),
            do("put", "QM2", "SQ1", 300, at=1),
            {**reset, "queue_manager": "QM2", "at": 10},
            {**reset, "queue_manager": "QM3", "at": 11},
            do("put", "QM1", "SQ1", 200, at=20),
        ],
    )
    assert message_counts(simulation) == [("High", "QM1", 500, 0), ("High", "QM2", 0, 0)]
    assert [each.time_since_reset for each in simulation.events] == [20, 10]
    (occurrence,) = simulation.occurrences
    assert occurrence.reconciliation is not None
    (cause,) = occurrence.reconciliation.causes
    assert (cause.cause, cause.queue_manager, cause.messages) == ("counters_reset", "QM2", 300)
    assert "EVENT_STATISTICS_NOT_RESET" in codes(simulation)


def test_reset_qstats_with_cmdscope_reaches_all_active_members() -> None:
    reset = {"action": "reset_qstats", "queue": "SQ1", "queue_manager": "*", "at": 10}
    puts = [do("put", name, "SQ1", 300, at=1) for name in ("QM1", "QM2")]
    simulation = play(
        [QM1, QM2, member("QM3", active=False)],
        [shared()],
        [*puts, reset, do("put", "QM1", "SQ1", 200, at=20)],
    )
    assert message_counts(simulation) == [("High", "QM1", 200, 0), ("High", "QM2", 0, 0)]


def test_restart_resets_the_counters_and_not_the_switches() -> None:
    simulation = play(
        [QM1, QM2],
        [shared()],
        [
            do("put", "QM2", "SQ1", 500, at=1),
            {"at": 5, "action": "stop", "queue_manager": "QM2"},
            {"at": 9, "action": "start", "queue_manager": "QM2"},
            do("put", "QM1", "SQ1", 300, at=12),
        ],
    )
    assert message_counts(simulation) == [("High", "QM1", 300, 0), ("High", "QM2", 0, 0)]
    assert simulation.events[1].time_since_reset == 3
    assert simulation.occurrences[0].reconciliation is not None
    assert [each.cause for each in simulation.occurrences[0].reconciliation.causes] == ["counters_reset"]


@pytest.mark.parametrize(("reading", "expected"), [("reset", 0), ("kept", 300)])
def test_counters_of_a_disabled_member_depend_on_the_interpretation(reading: str, expected: int) -> None:
    simulation = play(
        [QM1, member("QM2", "DISABLED")],
        [shared()],
        [
            do("put", "QM2", "SQ1", 300),
            do("put", "QM1", "SQ1", 500, at=1),
            {"at": 2, "action": "alter_qmgr", "queue_manager": "QM2", "perfmev": "ENABLED"},
            do("get", "QM1", "SQ1", 600, at=3),
        ],
        statistics_of_disabled=reading,
    )
    assert message_counts(simulation)[-1] == ("Low", "QM2", expected, 0)
    assert "EVENT_READING_MATTERS" in codes(simulation)


def test_rounding_that_changes_the_event_messages_is_reported() -> None:
    queue = nonshared(maxdepth=7)
    simulation = play([QM1], [queue], [do("put", "QM1", "LQ1", 5)])
    assert message_counts(simulation) == []
    (finding,) = [each for each in simulation.findings if each.code == "EVENT_READING_MATTERS"]
    assert finding.field == "/readings/rounding"
    assert message_counts(play([QM1], [queue], [do("put", "QM1", "LQ1", 5)], rounding="truncated")) == [
        ("High", "QM1", 5, 0)
    ]


@pytest.mark.parametrize("reason", [2192, 2053])
def test_puts_rejected_below_maxdepth_give_no_queue_full(reason: int) -> None:
    queue = shared(qdpmaxev="ENABLED", depth=500)
    simulation = play([QM1], [queue], [do("rejected", "QM1", "SQ1", 3, reason=reason)])
    assert message_counts(simulation) == []
    (finding,) = [each for each in simulation.findings if each.code == "EVENT_PUTS_REJECTED_OTHERWISE"]
    assert f"reason {reason}" in finding.message


def test_puts_rejected_at_maxdepth_give_queue_full() -> None:
    queue = shared(qdpmaxev="ENABLED", depth=1000)
    assert message_counts(play([QM1], [queue], [do("rejected", "QM1", "SQ1", 3)])) == [("Full", "QM1", 0, 0)]


def test_gets_from_an_empty_queue_are_reported() -> None:
    simulation = play([QM1], [shared(depth=10, qdploev="ENABLED")], [do("get", "QM1", "SQ1", 15)])
    assert simulation.switches[-1].took_effect == 10
    assert "EVENT_GETS_FOUND_NONE" in codes(simulation)


def test_repeated_steps_of_two_members_are_interleaved() -> None:
    queue = shared(maxdepth=10, qdepthhi=70)
    puts = [do("put", name, "SQ1", 1, at=at, times=5, every_s=2) for name, at in (("QM1", 0), ("QM2", 1))]
    simulation = play([QM1, QM2], [queue], puts)
    assert message_counts(simulation) == [("High", "QM1", 4, 0), ("High", "QM2", 3, 0)]
    assert simulation.events[0].at == 6


def test_counter_above_its_limit_is_returned_as_the_limit() -> None:
    queue = shared(maxdepth=999_999_999, qdepthhi=100)
    puts = [
        do("put", "QM1", "SQ1", 999_999_998),
        do("get", "QM1", "SQ1", 999_999_998),
        do("put", "QM1", "SQ1", 999_999_999),
    ]
    (event,) = play([QM1], [queue], puts).events
    assert event.msg_enq_count == 999_999_999
    assert event.msg_deq_count == 999_999_998


WRONG: list[tuple[str, Json, str]] = [
    ("no list of queues", {"queue_managers": [QM1], "timeline": []}, "/queues: is required"),
    ("unknown key", {**file([QM1], [shared()], []), "perfmev": "ENABLED"}, "/perfmev: is not a key of the depth event file"),
    ("no members", file([], [shared()], []), "/queue_managers: must not be empty"),
    ("33 members", file([member(f"M{n:02}") for n in range(33)], [shared()], []), "/queue_managers: "),
    ("many queues", file([QM1], [shared(f"Q{n}") for n in range(MOST_QUEUES + 1)], []), "/queues: "),
    ("duplicate member", file([QM1, QM1], [shared()], []), "/queue_managers/1/name: queue manager QM1 is defined twice"),
    ("duplicate queue", file([QM1], [shared(), shared()], []), "/queues/1/name: queue SQ1 is defined twice"),
    ("nonshared without owner", file([QM1], [{**shared(), "qsgdisp": "COPY"}], []), "/queues/0/queue_manager: is required"),
    ("shared with owner", file([QM1], [shared(queue_manager="QM1")], []), "/queues/0/queue_manager: is only for nonshared"),
    ("unknown owner", file([QM1], [nonshared(queue_manager="QM9")], []), "/queues/0/queue_manager: QM9 is not one of"),
    ("QDEPTHHI below QDEPTHLO", file([QM1], [shared(qdepthhi=10)], []), "/queues/0/qdepthhi: QDEPTHHI 10 is less than QDEPTHLO 20"),
    ("percentage above 100", file([QM1], [shared(qdepthhi=101)], []), "/queues/0/qdepthhi: "),
    ("no action", file([QM1], [shared()], [{"at": 1}]), "/timeline/0: must have an action, one of put, "),
    ("unknown action", file([QM1], [shared()], [{"at": 1, "action": "browse"}]), "/timeline/0: must have an action, one of put, "),
    ("no messages", file([QM1], [shared()], [do("put", "QM1", "SQ1", 0)]), "/timeline/0/messages: "),
    ("negative time", file([QM1], [shared()], [do("put", "QM1", "SQ1", 1, at=-1)]), "/timeline/0/at: must be a number of"),
    ("too many decimals", file([QM1], [shared()], [do("put", "QM1", "SQ1", 1, at=0.0001)]), "/timeline/0/at: must be a number of"),
    ("unknown queue", file([QM1], [shared()], [do("put", "QM1", "SQ2", 1)]), "/timeline/0/queue: SQ2 is not one of the queues"),
    ("unknown member", file([QM1], [shared()], [do("put", "QM9", "SQ1", 1)]), "/timeline/0/queue_manager: QM9 is not one of"),
    ("queue of another member", file([QM1, QM2], [nonshared()], [do("put", "QM2", "LQ1", 1)]), "LQ1 is a nonshared queue of QM1"),
    ("repetition without interval", file([QM1], [shared()], [do("put", "QM1", "SQ1", 1, times=2)]), "/timeline/0/every_s: is required"),
    ("nothing to alter", file([QM1], [shared()], [{"at": 1, "action": "alter_queue", "queue": "SQ1"}]), "must have an attribute"),
    (
        "too many steps",
        file([QM1], [shared()], [do("put", "QM1", "SQ1", 1, times=MOST_STEPS, every_s=1), do("get", "QM1", "SQ1", 1)]),
        f"/timeline: must not have more than {MOST_STEPS} steps",
    ),
    (
        "too many rows",
        file([QM1], [shared(f"Q{n}") for n in range(32)], [
            {"at": n, "action": "alter_qmgr", "queue_manager": "QM1", "perfmev": "ENABLED"} for n in range(2000)]),
        "/timeline: must not result in more than 50000 rows of switches, but results in 64000",
    ),
    ("two lines", {**file([QM1], [shared()], []), "title": "a\nb"}, "/title: must be one line"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "said"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_invalid_file_is_refused_with_its_place(document: Json, said: str) -> None:
    with pytest.raises(InputInvalid) as error:
        read_object(document)
    assert any(said in str(problem) for problem in error.value.problems), error.value.problems


@pytest.mark.parametrize("document", [None, [], "text", 3])
def test_file_that_is_not_an_object_is_refused(document: object) -> None:
    with pytest.raises(InputInvalid, match="must be an object with the keys"):
        read_object(document)


QM9 = member("QM9", active=False)
IMPOSSIBLE: list[tuple[str, Json, str]] = [
    ("put through an inactive member", do("put", "QM9", "SQ1", 1), "/timeline/0/queue_manager: QM9 is not active at 0 s"),
    ("stopped twice", {"at": 1, "action": "stop", "queue_manager": "QM9"}, "/timeline/0/queue_manager: QM9 is not active"),
    ("started twice", {"at": 1, "action": "start", "queue_manager": "QM1"}, "QM1 is active already at 1 s"),
    ("altered while inactive", {"at": 1, "action": "alter_qmgr", "queue_manager": "QM9", "perfmev": "ENABLED"}, "QM9 is not active"),
    ("reset while inactive", {"at": 1, "action": "reset_qstats", "queue": "SQ1", "queue_manager": "QM9"}, "QM9 is not active"),
    ("backs out more than is available", do("backout_put", "QM1", "SQ1", 3), "/timeline/0/messages: only 2 messages are on SQ1"),
    ("QDEPTHLO above QDEPTHHI", {"at": 1, "action": "alter_queue", "queue": "SQ1", "qdepthlo": 81}, "/timeline/0/qdepthlo: QDEPTHHI 80"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("step", "said"), [case[1:] for case in IMPOSSIBLE], ids=[case[0] for case in IMPOSSIBLE]
)
def test_impossible_step_is_refused_with_its_place(step: Json, said: str) -> None:
    with pytest.raises(InputInvalid) as error:
        play([QM1, QM9], [shared(depth=2)], [step])
    assert any(said in str(problem) for problem in error.value.problems)


def test_timeline_with_too_many_messages_is_refused() -> None:
    queue = shared(maxdepth=10, qdepthhi=50, qdepthlo=50, depth=4)
    members = [member(f"M{number:03}") for number in range(32)]
    each = MOST_STEPS // 2
    swings = [
        do("put", "M000", "SQ1", 1, times=each, every_s=2),
        do("get", "M000", "SQ1", 1, at=1, times=each, every_s=2),
    ]
    with pytest.raises(InputInvalid, match=f"more than {MOST_EVENTS} event messages"):
        simulate(read_object(file(members, [queue], swings)))


def test_high_q_depth_of_a_shared_queue_counts_own_puts_from_zero() -> None:
    simulation = play(
        [QM1, QM2],
        [shared()],
        [
            do("put", "QM1", "SQ1", 700, at=1),
            do("put", "QM2", "SQ1", 100, at=2),
            do("get", "QM2", "SQ1", 300, at=3),
            do("backout_get", "QM2", "SQ1", 250, at=4),
            do("get", "QM2", "SQ1", 550, at=5),
        ],
    )
    high, low = simulation.occurrences
    assert {each.queue_manager: each.high_q_depth for each in high.written} == {"QM1": 700, "QM2": 800}
    assert {each.queue_manager: each.high_q_depth for each in low.written} == {"QM1": 0, "QM2": 0}
    assert [each.is_null for each in low.written] == [False, True]


def test_high_q_depth_of_a_nonshared_queue_counts_backed_out_gets() -> None:
    simulation = play(
        [QM1],
        [nonshared(depth=500, qdploev="ENABLED")],
        [
            do("get", "QM1", "LQ1", 200),
            {"at": 1, "action": "reset_qstats", "queue": "LQ1", "queue_manager": "QM1"},
            do("backout_get", "QM1", "LQ1", 150, at=2),
            do("get", "QM1", "LQ1", 250, at=3),
        ],
    )
    assert [each.high_q_depth for each in simulation.events] == [450]


def test_counters_kept_since_before_the_last_event_are_reported_as_a_cause() -> None:
    simulation = play(
        [QM1, member("QM2", "DISABLED", active=False)],
        [shared()],
        [
            {"at": 0.5, "action": "start", "queue_manager": "QM2"},
            do("put", "QM2", "SQ1", 300, at=1),
            do("put", "QM1", "SQ1", 500, at=2),
            {"at": 3, "action": "alter_qmgr", "queue_manager": "QM2", "perfmev": "ENABLED"},
            do("get", "QM1", "SQ1", 600, at=4),
        ],
        statistics_of_disabled="kept",
    )
    low = simulation.occurrences[1].reconciliation
    assert low is not None
    assert [(each.cause, each.queue_manager, each.messages) for each in low.causes] == [
        ("counted_before", "QM2", -300)
    ]
