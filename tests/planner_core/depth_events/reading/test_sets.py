"""Messages are grouped into sets by their events, and each set shows the state of its queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.depth_events.course import Simulation
from planner_core.depth_events.known import read_displayed
from planner_core.depth_events.reading import EventReading, read_all
from planner_core.depth_events.sets import EventContext, EventSet, QueueFacts, sets_of
from planner_core.errors import InputInvalid
from tests.planner_core.depth_events.reading.support import (
    AT,
    CORREL,
    FULL,
    HIGH,
    LOW,
    EventValues,
    as_lines,
    as_text,
    message,
    pcf,
)
from tests.planner_core.depth_events.support import Json, do, member, play, shared

SQ1 = QueueFacts(maxdepth=1000, qdepthhi=80, qdepthlo=20, depth_before=0)
KNOWN = EventContext(members=["QM1", "QM2", "QM3"], queues={"SQ1": SQ1})
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def written(simulation: Simulation, *, with_correl_ids: bool = True) -> bytes:
    """Return the messages of a simulation as amqsevt writes them."""
    return as_lines(
        *(
            EventValues(
                each.queue_manager,
                each.queue,
                each.event.reason,
                each.time_since_reset,
                each.high_q_depth,
                each.msg_enq_count,
                each.msg_deq_count,
                f"{each.occurrence:048X}" if with_correl_ids and each.correl_id else None,
                START + timedelta(seconds=int(each.at)),
            )
            for each in simulation.events
        )
    )


def context_with(**facts: object) -> EventContext:
    """Return KNOWN with these facts changed."""
    return KNOWN.model_copy(update=facts)


def read(data: bytes, known: EventContext = KNOWN) -> EventReading:
    return read_all([("events", data)], known)


def only_set(reading: EventReading) -> EventSet:
    (found,) = reading.sets
    return found


def codes(reading: EventReading) -> list[str]:
    return [finding.code for finding in reading.findings]


# ---- the cases of a shared queue ---------------------------------------------------------------------------------------


def rises(perfmev: Mapping[str, str], *, active: bool = True) -> Simulation:
    """QM2 puts 300 and gets 100, QM1 puts 600: the depth reaches 800, and QM1 detects it."""
    members = [
        member(name, perfmev.get(name, "ENABLED"), active=active or name != "QM3")
        for name in ("QM1", "QM2", "QM3")
    ]
    timeline = [
        do("put", "QM2", "SQ1", 300, 10),
        do("get", "QM2", "SQ1", 100, 20),
        do("put", "QM1", "SQ1", 600, 60),
    ]
    return play(members, [shared()], timeline)  # fmt: skip


def test_se1_three_messages_of_one_event_reconcile_with_its_depth() -> None:
    reading = read(written(rises({})))
    found = only_set(reading)
    assert (found.event.reason, found.grouped_by, found.shared) == (HIGH, "correl_id", True)
    assert [(m.queue_manager, m.msg_enq_count, m.msg_deq_count) for m in found.members] == [
        ("QM1", 600, 0),
        ("QM2", 300, 100),
        ("QM3", 0, 0),
    ]
    assert found.null_events == ("QM3",)
    assert found.missing == ()
    assert (found.reconciliation.computed_depth, found.reconciliation.reported_depth) == (800, 800)
    assert found.reconciliation.unreconciled == 0
    assert codes(reading) == []


def test_se2_idle_member_with_perfmev_disabled_is_the_only_gap() -> None:
    reading = read(
        written(rises({"QM3": "DISABLED"})),
        context_with(perfmev={"QM1": "ENABLED", "QM2": "ENABLED", "QM3": "DISABLED"}),
    )
    found = only_set(reading)
    assert [(each.queue_manager, each.cause) for each in found.missing] == [("QM3", "perfmev_disabled")]
    assert (found.null_events, found.reconciliation.unreconciled) == ((), 0)
    assert codes(reading) == ["READ_SET_INCOMPLETE"]


def test_se3_unreconciled_messages_are_attributed_to_the_silent_member() -> None:
    reading = read(written(rises({"QM2": "DISABLED"})))
    found = only_set(reading)
    assert [m.queue_manager for m in found.members] == ["QM1", "QM3"]
    assert (found.reconciliation.computed_depth, found.reconciliation.unreconciled) == (600, 200)
    (missing,) = found.missing
    assert (missing.queue_manager, missing.cause) == ("QM2", "perfmev_disabled")
    assert codes(reading) == ["READ_SET_INCOMPLETE", "READ_SET_UNRECONCILED"]
    (finding,) = [each for each in reading.findings if each.code == "READ_SET_UNRECONCILED"]
    assert "QM2 did not report: it put 200 more messages than it got" in finding.message


def test_se3_missing_message_of_an_enabled_member_is_reported_as_not_read() -> None:
    found = only_set(
        read(
            written(rises({"QM2": "DISABLED"})), context_with(perfmev=dict.fromkeys(KNOWN.members, "ENABLED"))
        )
    )
    assert [(each.queue_manager, each.cause) for each in found.missing] == [("QM2", "not_read")]


def test_se4_and_se6_without_messages_give_no_set() -> None:
    for perfmev in ({"QM1": "DISABLED"}, dict.fromkeys(("QM1", "QM2", "QM3"), "DISABLED")):
        assert rises(perfmev).events == ()


def test_se5_member_without_events_is_inactive_or_unread() -> None:
    found = only_set(read(written(rises({}, active=False))))
    assert [(each.queue_manager, each.cause) for each in found.missing] == [("QM3", "not_known")]
    assert found.reconciliation.unreconciled == 0


def test_se9_thirty_one_of_thirty_two_messages_are_null_events() -> None:
    names = [f"QM{number:02}" for number in range(32)]
    timeline = [do("put", "QM00", "SQ1", 800, 10)]
    reading = read(
        written(play([member(name) for name in names], [shared()], timeline)),
        EventContext(members=list(names)),
    )
    found = only_set(reading)
    assert (len(found.members), len(found.null_events), found.missing) == (32, 31, ())
    assert found.imbalance.puts is not None
    assert (found.imbalance.puts.queue_manager, found.imbalance.puts.share) == ("QM00", Fraction(1))


# ---- IBM's examples ----------------------------------------------------------------------------------------------------

EXAMPLE_1 = [(HIGH, 800, 1157, 357, 800), (LOW, 900, 1220, 1820, 200)]
EXAMPLE_2 = [
    (HIGH, 800, 1645, 845, 800),
    (LOW, 855, 311, 911, 200),
    (HIGH, 800, 1377, 777, 800),
    (FULL, 1000, 324, 124, 1000),
    (LOW, 1000, 221, 1021, 200),
]


@pytest.mark.parametrize("rows", [EXAMPLE_1, EXAMPLE_2], ids=["example 1", "example 2"])
@pytest.mark.parametrize(
    "known",
    [EventContext(), EventContext(queues={"MYQUEUE1": SQ1.model_copy(update={"qsgdisp": "QMGR"})})],
    ids=["bare", "thresholds known"],
)
def test_depths_of_ibm_examples_follow_from_the_messages(
    rows: list[tuple[int, int, int, int, int]], known: EventContext
) -> None:
    messages = [
        message(
            queue_manager="QM1", queue="MYQUEUE1", reason=reason, high=high, enqueued=enq, dequeued=deq,
            time_since_reset=600, created=START + timedelta(seconds=600 * number),
        )
        for number, (reason, high, enq, deq, _) in enumerate(rows, start=1)
    ]  # fmt: skip
    found = sets_of(messages, known)
    assert [each.reconciliation.computed_depth for each in found] == [depth for *_, depth in rows]
    assert [each.reconciliation.unreconciled or 0 for each in found] == [0] * len(rows)
    assert [each.members[0].counted for each in found] == [None] + ["since_the_set_before"] * (len(rows) - 1)


def test_captured_events_of_the_same_second_have_no_rates() -> None:
    chain = as_lines(
        EventValues("NHARAPP", "EVT.HI", HIGH, 0, 4, 4, 0), EventValues("NHARAPP", "EVT.HI", FULL, 0, 5, 1, 0)
    )
    reading = read(
        chain,
        EventContext(queues={"EVT.HI": QueueFacts(maxdepth=5, qdepthhi=80, qdepthlo=20, depth_before=0)}),
    )
    assert [each.event.reason for each in reading.sets] == [HIGH, FULL]
    assert [each.reconciliation.computed_depth for each in reading.sets] == [4, 5]
    assert [each.reconciliation.reported_depth for each in reading.sets] == [4, 5]
    assert [each.put_rate_per_s for each in reading.sets] == [None, None]


def test_files_with_events_of_the_same_second_are_sorted_by_event() -> None:
    """2053-queue-full.json sorts before 2224-queue-depth-high.json, but its event occurred later."""
    full = as_lines(EventValues("NHARAPP", "EVT.HI", FULL, 0, 5, 1, 0))
    high = as_lines(EventValues("NHARAPP", "EVT.HI", HIGH, 0, 4, 4, 0))
    reading = read_all([("2053.json", full), ("2224.json", high)], EventContext())
    assert [each.event.reason for each in reading.sets] == [HIGH, FULL]


# ---- how messages are brought together ---------------------------------------------------------------------------------


def three(**values: object) -> list[EventValues]:
    return [EventValues(name, "SQ1", HIGH, 60, 800, 100, 0, **values) for name in ("QM1", "QM2", "QM3")]  # type: ignore[arg-type]


def test_messages_without_correl_id_are_grouped_by_time_with_a_finding() -> None:
    told = [replace(each, created=AT + timedelta(seconds=at)) for at, each in enumerate(three())]
    reading = read(as_lines(*told), EventContext())
    found = only_set(reading)
    assert (found.grouped_by, len(found.members), found.shared) == ("time", 3, True)
    assert codes(reading)[-1] == "READ_SET_BY_TIME"
    assert any("within 5 seconds" in each.assumed for each in reading.assumptions)


@pytest.mark.parametrize(("seconds", "sets"), [(5, 1), (6, 2)])
def test_time_window_separates_sets(seconds: int, sets: int) -> None:
    one, two, _ = three()
    data = as_lines(one, replace(two, created=AT + timedelta(seconds=seconds)))
    assert len(read(data, EventContext()).sets) == sets
    assert len(read(data, EventContext(window_s=0)).sets) == 2


def test_set_has_at_most_one_message_of_a_queue_manager() -> None:
    one, two, _ = three()
    data = as_lines(one, two, replace(one, enqueued=1), replace(two, enqueued=1))
    assert [[m.msg_enq_count for m in each.members] for each in read(data, EventContext()).sets] == [
        [100, 100],
        [1, 1],
    ]


def test_messages_with_different_correl_ids_are_in_different_sets() -> None:
    one, two, _ = three()
    data = as_lines(replace(one, correl_id=CORREL), replace(two, correl_id=CORREL[:-1] + "E"))
    assert [len(each.members) for each in read(data, EventContext()).sets] == [1, 1]


def test_nonshared_queues_with_the_same_name_have_separate_sets() -> None:
    known = EventContext(queues={"SQ1": QueueFacts(qsgdisp="QMGR")})
    found = read(as_lines(*three()), known).sets
    assert [(len(each.members), each.shared, each.missing) for each in found] == [(1, False, ())] * 3
    later = [replace(each, created=AT + timedelta(hours=1)) for each in three()]
    chained = read(as_lines(*three(), *later), known).sets
    assert [each.reconciliation.depth_before for each in chained] == [0, 0, 0, 800, 800, 800]


def test_queue_managers_outside_the_group_have_separate_sets() -> None:
    reading = read(as_lines(*three()), EventContext(members=["QM1", "QM2"]))
    assert [[m.queue_manager for m in each.members] for each in reading.sets] == [["QM1", "QM2"], ["QM3"]]


def test_messages_without_times_are_grouped_by_their_order() -> None:
    files = [
        (name, pcf(EventValues(name, "SQ1", HIGH, enqueued=1)) + pcf(EventValues(name, "SQ1", LOW)) + pcf(EventValues(name, "SQ1", HIGH, enqueued=2)))
        for name in ("QM1", "QM2")
    ]  # fmt: skip
    reading = read_all(files, EventContext())
    assert [(each.event.reason, each.grouped_by, len(each.members)) for each in reading.sets] == [
        (HIGH, "order", 2),
        (LOW, "order", 2),
        (HIGH, "order", 2),
    ]
    assert "READ_SET_BY_TIME" in codes(reading)


def test_duplicate_file_changes_nothing() -> None:
    data = written(rises({}))
    once, twice = read_all([("a", data)], KNOWN), read_all([("a", data), ("b", data)], KNOWN)
    assert twice.repeats == 3
    assert [each.as_json() for each in twice.sets] == [each.as_json() for each in once.sets]


def test_equal_messages_without_time_are_not_duplicates() -> None:
    assert read(pcf(EventValues()) * 2, EventContext()).repeats == 0


def test_service_interval_events_are_in_no_set() -> None:
    reading = read(as_lines(EventValues(reason=2226)), EventContext())
    assert (len(reading.sets), len(reading.service_interval_events)) == (0, 1)


# ---- what a set says ---------------------------------------------------------------------------------------------------


def chain(*told: EventValues, known: EventContext | None = None) -> EventReading:
    """Return messages a quarter of an hour apart."""
    at = [replace(each, created=START + timedelta(minutes=15 * number)) for number, each in enumerate(told)]
    return read(as_lines(*at), known or EventContext())


def test_rates_use_time_since_reset_of_each_queue_manager() -> None:
    data = as_lines(
        EventValues("QM1", "SQ1", HIGH, 100, 800, 1000, 0, CORREL),
        EventValues("QM2", "SQ1", HIGH, 50, 790, 100, 300, CORREL),
    )
    found = only_set(read(data, EventContext()))
    assert [(m.put_rate_per_s, m.get_rate_per_s) for m in found.members] == [
        (Fraction(10), Fraction(0)),
        (Fraction(2), Fraction(6)),
    ]
    assert (found.put_rate_per_s, found.get_rate_per_s) == (Fraction(12), Fraction(6))
    assert found.imbalance.puts is not None
    assert found.imbalance.gets is not None
    assert (found.imbalance.puts.queue_manager, found.imbalance.puts.share) == ("QM1", Fraction(10, 11))
    assert (found.imbalance.gets.queue_manager, found.imbalance.gets.share) == ("QM2", Fraction(1))


def test_rates_without_time_since_reset_use_creation_times() -> None:
    low = EventValues("QM1", "SQ1", LOW, 900, 0, 0, 0)
    high = EventValues("QM1", "SQ1", HIGH, 0, 800, 90, 0)
    found = chain(low, high).sets[1].members[0]
    assert (found.put_rate_per_s, found.rate_seconds, found.rate_basis) == (
        Fraction(90, 900),
        Fraction(900),
        "creation_times",
    )


@pytest.mark.parametrize(
    ("seconds", "counted"),
    [(900, "since_the_set_before"), (898, "since_the_set_before"), (897, "shorter"), (902, "since_the_set_before"), (903, "longer")],
)  # fmt: skip
def test_counters_that_do_not_continue_the_previous_set_are_reported(seconds: int, counted: str) -> None:
    reading = chain(
        EventValues("QM1", "SQ1", LOW, 9, 0, 0, 0), EventValues("QM1", "SQ1", HIGH, seconds, 800, 800, 0)
    )
    assert reading.sets[1].members[0].counted == counted
    assert ("READ_SET_COUNTERS" in codes(reading)) is (counted != "since_the_set_before")


def test_queue_manager_without_expected_gets_is_reported() -> None:
    low = EventValues("QM1", "SQ1", LOW, 900, 0, 0, 45)
    for seconds, is_told in ((900, True), (100, True), (99, False)):
        reading = chain(low, EventValues("QM1", "SQ1", HIGH, seconds, 800, 800, 0))
        assert ("READ_SET_GETS_STOPPED" in codes(reading)) is is_told, seconds
    assert "READ_SET_GETS_STOPPED" not in codes(chain(low, EventValues("QM1", "SQ1", HIGH, 900, 800, 801, 1)))


def test_more_gets_than_puts_mean_an_unknown_initial_depth() -> None:
    found = chain(EventValues("QM1", "SQ1", LOW, 60, 0, 100, 700)).sets[0].reconciliation
    assert (found.depth_before, found.computed_depth, found.depth) == (None, None, None)
    facts = EventContext(queues={"SQ1": SQ1.model_copy(update={"depth_before": None})})
    found = chain(EventValues("QM1", "SQ1", LOW, 60, 0, 100, 700), known=facts).sets[0].reconciliation
    assert (found.depth_before, found.depth) == (None, 200)


def test_set_after_an_unreconciled_one_begins_at_the_shown_depth() -> None:
    reading = chain(
        EventValues("QM1", "SQ1", HIGH, 60, 800, 700, 0),
        EventValues("QM1", "SQ1", FULL, 900, 1000, 200, 0),
    )
    assert [each.reconciliation.unreconciled for each in reading.sets] == [100, 0]
    assert codes(reading).count("READ_SET_UNRECONCILED") == 1


def test_high_q_depth_of_a_member_without_puts_is_ignored() -> None:
    """Queue Full right after Queue Depth High at MAXDEPTH, without puts in between."""
    told = EventValues("QM1", "SQ1", FULL, 1, 0, 0, 0, CORREL)
    assert only_set(read(as_lines(told), EventContext())).reconciliation.reported_depth is None
    assert only_set(read(as_lines(told))).reconciliation.reported_depth == 1000


def test_high_q_depth_below_the_threshold_is_reported_and_not_used() -> None:
    reading = read(
        as_lines(EventValues("QM1", "SQ1", HIGH, 60, 799, 799, 0, CORREL)), EventContext(queues={"SQ1": SQ1})
    )
    assert codes(reading) == ["READ_SET_HIGH_DEPTH"]
    assert only_set(reading).reconciliation.reported_depth is None
    reading = read(
        as_lines(EventValues("QM1", "SQ1", HIGH, 60, 800, 800, 0, CORREL)), EventContext(queues={"SQ1": SQ1})
    )
    assert codes(reading) == []


def test_contradictions_with_the_given_members_are_reported() -> None:
    context = context_with(perfmev={"QM3": "DISABLED"})
    assert "READ_SET_MEMBERS_DIFFER" in codes(read(written(rises({})), context))
    context = EventContext(members=["QM1", "QM2"])
    assert "READ_SET_MEMBERS_DIFFER" in codes(read(written(rises({})), context))


def test_member_with_other_events_was_probably_not_active() -> None:
    one, two, three_ = (replace(each, correl_id=CORREL) for each in three())
    reading = chain(
        replace(one, reason=LOW), replace(two, queue="OTHER"), known=EventContext(members=["QM1", "QM2"])
    )
    assert [(each.queue_manager, each.cause) for each in reading.sets[0].missing] == [("QM2", "not_active")]
    reading = chain(one, known=EventContext(members=["QM1", "QM2"], perfmev={"QM2": "ENABLED"}))
    assert [(each.queue_manager, each.cause) for each in reading.sets[0].missing] == [("QM2", "not_read")]
    assert three_.queue_manager == "QM3"


def test_findings_with_the_same_code_are_limited_to_twenty() -> None:
    told = [EventValues("QM1", f"Q{number}", HIGH, 60, 800, 700, 0) for number in range(30)]
    assert codes(chain(*told)).count("READ_SET_UNRECONCILED") == 20


# ---- what is refused ---------------------------------------------------------------------------------------------------


def test_missing_files_and_files_without_events_are_refused() -> None:
    with pytest.raises(InputInvalid, match="must contain at least one event file"):
        read_all([], EventContext())
    with pytest.raises(InputInvalid, match=r"hello\.txt: The format is not supported"):
        read_all([("good", as_lines(EventValues())), ("hello.txt", b"hello")], EventContext())
    with pytest.raises(InputInvalid, match=r"cut\.txt: line 1: 'NO NAME' is not the name of a queue"):
        read_all([("cut.txt", as_text(EventValues(queue="NO NAME")).encode())], EventContext())


def test_damaged_parts_are_reported_and_the_rest_is_read() -> None:
    reading = read(pcf(EventValues()) + pcf(EventValues())[:50], EventContext())
    assert len(reading.sets) == 1
    (finding,) = [each for each in reading.findings if each.code == "READ_EVENTS_UNREAD"]
    assert "offset 236 (X'EC')" in finding.message


def test_assumed_code_page_is_reported_with_its_file() -> None:
    for data, pages in ((pcf(EventValues(), ccsid=1047), ["1047"]), (pcf(EventValues(), ccsid=500), [])):
        told = [each for each in read(data, EventContext()).findings if each.code == "READ_EVENTS_CODE_PAGE"]
        assert [each.field for each in told] == ["/files/0" for _ in pages]
        assert all(page in each.message for each, page in zip(told, pages, strict=True))


def test_displays_of_both_platforms_are_read() -> None:
    text = """
CSQM401I MQP1 QUEUE(SQ1) TYPE(QLOCAL) QSGDISP(SHARED)
MAXDEPTH(1000) QDEPTHHI(80) QDEPTHLO(20) QDPHIEV(ENABLED)
AMQ8409I: Display Queue details.
   QUEUE(LQ1)                              TYPE(QLOCAL)
   MAXDEPTH(5000)                          QDEPTHHI(90)
AMQ8408I: Display Queue Manager details.
   QMNAME(QM1)                             PERFMEV(DISABLED)
"""
    found = read_displayed(text)
    assert found.queues["SQ1"] == QueueFacts(maxdepth=1000, qdepthhi=80, qdepthlo=20, qsgdisp="SHARED")
    assert found.queues["LQ1"] == QueueFacts(maxdepth=5000, qdepthhi=90)
    assert found.perfmev == {"QM1": "DISABLED"}
    assert found.problems == ()


def test_impossible_attributes_are_reported_with_their_line() -> None:
    found = read_displayed("QUEUE(SQ1)\nMAXDEPTH(many)\nQDEPTHHI(101)\nQMNAME(QM1) PERFMEV(PERHAPS)")
    assert [problem.line for problem in found.problems] == [2, 3, 4]
    assert found.queues["SQ1"] == QueueFacts()


# ---- anything ----------------------------------------------------------------------------------------------------------


@st.composite
def timelines(draw: st.DrawFn) -> tuple[list[Json], int, int, int]:
    """Draw puts and gets of three queue managers, at least a second apart."""
    steps, at = [], 0
    for _ in range(draw(st.integers(1, 25))):
        at += draw(st.integers(1, 300))
        name = draw(st.sampled_from(("QM1", "QM2", "QM3")))
        steps.append(do(draw(st.sampled_from(("put", "get"))), name, "SQ1", draw(st.integers(1, 40)), at))
    low, high = sorted((draw(st.integers(0, 99)), draw(st.integers(1, 100))))
    return steps, draw(st.integers(1, 60)), low, high


@settings(max_examples=60)
@given(timelines())
def test_sets_of_all_members_account_for_the_depth(drawn: tuple[list[Json], int, int, int]) -> None:
    """Messages of the simulator read back as complete and reconciled sets, one for each event."""
    steps, maxdepth, low, high = drawn
    simulation = play(
        [member(name) for name in ("QM1", "QM2", "QM3")],
        [shared(maxdepth=maxdepth, qdepthlo=low, qdepthhi=high)],
        steps,
    )
    if not simulation.events:
        return
    facts = QueueFacts(maxdepth=maxdepth, qdepthhi=high, qdepthlo=low, qsgdisp="SHARED", depth_before=0)
    reading = read(written(simulation), context_with(queues={"SQ1": facts}))
    occurrences = [each for each in simulation.occurrences if each.messages]
    assert [each.event for each in reading.sets] == [each.event for each in occurrences]
    for found, happened in zip(reading.sets, occurrences, strict=True):
        assert found.missing == ()
        assert len(found.members) == 3
        assert found.reconciliation.msg_enq_count == sum(each.msg_enq_count for each in happened.written)
        if found.reconciliation.depth_before_basis == "given":
            assert found.reconciliation.computed_depth == happened.depth
        assert found.null_events == tuple(
            sorted(each.queue_manager for each in happened.written if each.is_null)
        )


@given(st.permutations(range(9)), st.booleans())
def test_sets_do_not_depend_on_the_order_of_messages_with_correl_ids(
    order: list[int], one_file: bool
) -> None:
    told = [
        EventValues(
            name, "SQ1", reason, 60, depth, 100, 0, f"{number:048X}",
            START + timedelta(minutes=number),
        )
        for number, (reason, depth) in enumerate(((HIGH, 800), (FULL, 1000), (LOW, 1000)), start=1)
        for name in ("QM1", "QM2", "QM3")
    ]  # fmt: skip
    shuffled = [told[at] for at in order]
    files = (
        [("events", as_lines(*shuffled))]
        if one_file
        else [(f"events {at}", as_lines(each)) for at, each in enumerate(shuffled)]
    )

    def plain(reading: EventReading) -> list[object]:
        return [
            (
                each.event,
                [
                    (m.queue_manager, m.put_rate_per_s, m.get_rate_per_s, m.rate_seconds, m.rate_basis)
                    for m in each.members
                ],
                each.reconciliation,
                each.missing,
            )
            for each in reading.sets
        ]

    assert plain(read_all(files, KNOWN)) == plain(read(as_lines(*told)))
