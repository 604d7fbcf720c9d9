"""Displays of the sender: joined by QMID and names, in every framing, with reports of missing values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.clusters.displays import MOST_INSTANCES, MOST_ROUTES, Displays, read_displays
from planner_core.document.cluster_instances import Status
from tests.planner_core.clusters.waiting.support import (
    FRAMINGS,
    Framing,
    chstatus,
    clusqmgr,
    display,
    qcluster,
    qmgr,
)

ROWS = (
    clusqmgr("S", DEFTYPE="CLUSRCVR"),
    clusqmgr("A", CLWLRANK=3, CLWLPRTY=4, CLWLWGHT=25, NETPRTY=2, SUSPEND="YES", SHORTRTY=5, SHORTTMR=30),
    clusqmgr("B", STATUS="INITIALIZI"),
    qcluster("Q1", "A", CLWLRANK=1, CLWLPRTY=2, PUT="DISABLED", DEFBIND="OPEN"),
    qcluster("Q1", "B"),
    chstatus("A", "RETRYING", SHORTRTS=4, LONGRTS=999999999, INDOUBT="YES", CURMSGS=50),
    qmgr("S", CLWLUSEQ="ANY", CLWLMRUC=7),
)


def read(*texts: str) -> Displays:
    return read_displays((f"text {number}", text) for number, text in enumerate(texts, start=1))


@pytest.mark.parametrize("framing", FRAMINGS)
def test_displays_in_each_framing_give_the_same_answer(framing: Framing) -> None:
    found = read(display(*ROWS, framing=framing))
    assert found.problems == ()
    assert found.queue_manager == "S"
    assert found.shows == {"CLUSQMGR", "QUEUE", "CHSTATUS", "QMGR"}
    assert (found.local_use, found.most_channels) == ("ANY", 7)
    first = found.route("TO.A")
    assert first is not None
    channel, retries = first.channel, first.retries
    assert (channel.queue_manager, channel.cluster) == ("A", "C")
    assert (channel.rank, channel.priority, channel.weight, channel.netprty) == (3, 4, 25, 2)
    assert (channel.status, first.status_from, channel.suspended) == (Status.RETRYING, "CHSTATUS", True)
    assert (retries.short, retries.short_interval_s, retries.long, retries.long_interval_s) == (
        5,
        30,
        999999999,
        1200,
    )
    assert (retries.short_left, retries.long_left, retries.is_shown) == (4, 999999999, True)
    assert (first.in_doubt, first.in_doubt_messages) == (True, 50)
    second = found.route("TO.B")
    assert second is not None
    assert (second.channel.status, second.status_from, second.in_doubt) == (
        Status.INITIALIZING,
        "CLUSQMGR",
        None,
    )
    queue, other = found.queues
    assert (queue.name, queue.instance.queue_manager, queue.defbind) == ("Q1", "A", "OPEN")
    assert (queue.instance.rank, queue.instance.priority, queue.instance.put_enabled) == (1, 2, False)
    assert other.instance.put_enabled
    assert found.defbinds("Q1") == ("OPEN", "NOTFIXED")


def test_several_texts_are_joined_and_problems_name_their_text() -> None:
    texts = [display(ROWS[1]), display(clusqmgr("B", CLWLRANK="high")), display(*ROWS[3:5])]
    found = read(*texts)
    assert [route.channel.name for route in found.routes] == ["TO.A", "TO.B"]
    (problem,) = found.problems
    assert (problem.text, problem.line) == ("text 2", 8)
    assert problem.message == "CLWLRANK(high) is not a whole number of at most 9 digits: ignored."


def test_only_the_current_status_of_a_sender_channel_is_used() -> None:
    text = display(clusqmgr("A", STATUS="RUNNING"))
    text += display(chstatus("A", "STOPPED", CHLTYPE="CLUSRCVR"))
    text += display({"CHSTATUS": "TO.A", "CHLTYPE": "CLUSSDR", "SAVED": None, "STATUS": "STOPPED"})
    (route,) = read(text).routes
    assert (route.channel.status, route.status_from) == (Status.RUNNING, "CLUSQMGR")


@pytest.mark.parametrize("framing", ["runmqsc", "console"])
def test_channel_status_from_other_queue_managers_is_ignored(framing: Framing) -> None:
    """DISPLAY CHSTATUS(*) CMDSCOPE(*): each member has a channel TO.A of its own."""
    own = display(clusqmgr("A", STATUS="RUNNING"), qcluster("Q1", "A"), framing=framing, queue_manager="MQ1")
    others = display(chstatus("A", "RUNNING"), framing=framing, queue_manager="MQ2")
    mine = display(chstatus("A", "RETRYING"), framing=framing, queue_manager="MQ1")
    found = read(own + others + mine)
    (route,) = found.routes
    assert (route.channel.status, found.queue_manager) == (Status.RETRYING, "MQ1")
    assert [problem.message for problem in found.problems] == [
        "1 row is a response from MQ2 about other channels: ignored. MQ1 is assumed to be the sender."
    ]
    assert read(own + mine).problems == ()


def test_sender_is_chosen_among_several_queue_managers() -> None:
    texts = [
        display(clusqmgr("A", CLWLRANK=rank), queue_manager=name) for rank, name in ((0, "MQ1"), (1, "MQ2"))
    ]
    found = read(*texts)
    assert [route.channel.rank for route in found.routes] == [0]
    assert found.queue_manager == "MQ1"
    assert len(found.problems) == 1


@pytest.mark.parametrize("framing", FRAMINGS)
def test_displays_folded_to_lower_case_are_read_with_an_assumption(framing: Framing) -> None:
    text = display(*ROWS, framing=framing)
    folded, plain = read(text.lower()), read(text)
    assert (folded.queue_manager, folded.shows) == ("S", plain.shows)
    assert [r.channel for r in folded.routes] == [r.channel for r in plain.routes]
    assert [q.instance for q in folded.queues] == [q.instance for q in plain.queues]
    assert any("text 1: all keywords are in lower case" in each.what for each in folded.assumptions)
    assert not any("lower case" in each.what for each in plain.assumptions)


def test_lower_case_value_next_to_upper_case_keywords_is_a_name() -> None:
    (route,) = read(display(clusqmgr("qm.a")) + "see channel(old) of last week\n").routes
    assert (route.channel.queue_manager, route.channel.name) == ("qm.a", "TO.qm.a")


def test_unreadable_state_is_not_reported_as_inactive() -> None:
    (route,) = read(display(clusqmgr("A", STATUS="RUNING"))).routes
    assert route.is_state_unread
    cut = read(display(clusqmgr("A")).replace("STATUS(RUNNING)", "STATUS(RUNN"))
    assert cut.routes[0].is_state_unread
    told = [each.what for each in cut.assumptions if "INACTIVE" in each.what]
    assert told == [
        "The state of TO.A could not be read: where the steps compare states, it is treated as INACTIVE."
    ]
    (known,) = read(display(clusqmgr("A", STATUS="RUNING"), chstatus("A", "STOPPED"))).routes
    assert (known.is_state_unread, known.channel.status) == (False, Status.STOPPED)


def test_channel_without_a_state_is_assumed_inactive() -> None:
    row = {key: value for key, value in clusqmgr("A").items() if key != "STATUS"}
    found = read(display(row))
    assert found.routes[0].channel.status is Status.INACTIVE
    assert any(
        "TO.A: assumed to be INACTIVE" in each.what and each.basis.value == "derived"
        for each in found.assumptions
    )
    assert not any("INACTIVE" in each.what for each in read(display(clusqmgr("A"))).assumptions)


def test_omitted_attributes_have_assumed_defaults() -> None:
    found = read(
        "CLUSQMGR(A) CHANNEL(TO.A) CLUSTER(C) STATUS(RUNNING)\nQUEUE(Q1) TYPE(QCLUSTER) CLUSQMGR(A) CLUSTER(C)\n"
    )
    channel = found.routes[0].channel
    assert (channel.rank, channel.priority, channel.weight, channel.netprty) == (0, 0, 50, 0)
    told = " ".join(each.what for each in found.assumptions)
    assert "CLWLRANK of channels (1 rows)" in told
    assert "CLWLPRTY of queues (1 rows)" in told
    assert "SHORTRTY(10) SHORTTMR(60) LONGRTY(999999999) LONGTMR(1200)" in told
    assert not any(
        "SHORTRTY" in each.what or "CLWLRANK" in each.what for each in read(display(*ROWS)).assumptions
    )


def test_queue_managers_with_the_same_name_are_distinguished_by_qmid() -> None:
    rows = [
        clusqmgr("A", CHANNEL="TO.A1", QMID="A_1"),
        clusqmgr("A", CHANNEL="TO.A2", QMID="A_2"),
        qcluster("Q1", "A", QMID="A_2"),
    ]
    pairs, _ = read(display(*rows)).situation("Q1").pairs()
    assert [(pair.queue_manager, pair.channel and pair.channel.name) for pair in pairs] == [
        ("A A_2", "TO.A2")
    ]


def test_queue_of_the_sender_is_local() -> None:
    text = display(clusqmgr("S", DEFTYPE="CLUSRCVR"), qcluster("Q1", "A"), clusqmgr("A"))
    text += display({"QUEUE": "Q1", "TYPE": "QLOCAL", "CLUSTER": "C", "CLWLUSEQ": "ANY", "CLWLRANK": 5})
    text += display({"QUEUE": "Q2", "TYPE": "QLOCAL", "CLUSTER": "", "CLWLUSEQ": "ANY"})
    found = read(text)
    situation = found.situation("Q1")
    assert [(each.queue_manager, each.is_local, each.rank) for each in situation.instances] == [
        ("A", False, 0),
        ("S", True, 5),
    ]
    assert situation.queue_local_use == "ANY"
    assert [each.name for each in found.queues] == ["Q1", "Q1"]


def test_invalid_values_are_reported_with_their_line() -> None:
    found = read(display(clusqmgr("A", STATUS="FLYING"), qmgr("S", CLWLUSEQ="MAYBE")))
    assert [each.message for each in found.problems] == [
        "STATUS(FLYING) is not a channel state: ignored.",
        "CLWLUSEQ(MAYBE) is not LOCAL, ANY or QMGR: ignored.",
    ]
    assert found.routes[0].channel.status is Status.INACTIVE


def test_clusqmgr_row_without_a_channel_is_ignored_with_a_problem() -> None:
    found = read("CLUSQMGR(A) CLUSTER(C)\n")
    assert found.routes == ()
    assert "has no CHANNEL" in found.problems[0].message


def test_instances_of_a_queue_beyond_the_limit_are_reported() -> None:
    rows = [qcluster("Q1", f"M{number}") for number in range(MOST_INSTANCES + 3)]
    found = read(display(*rows))
    assert len(found.queues) == MOST_INSTANCES
    (problem,) = found.problems
    assert f"more than {MOST_INSTANCES} instances" in problem.message


def test_channels_to_a_queue_manager_beyond_the_limit_are_reported() -> None:
    found = read(display(*(clusqmgr("A", CHANNEL=f"TO.A.{number}") for number in range(MOST_ROUTES + 3))))
    assert len(found.routes) == len(found.routes_to("A")) == MOST_ROUTES
    (problem,) = found.problems
    assert f"more than {MOST_ROUTES} channels to A" in problem.message


@given(st.text(st.sampled_from("CLUSQMGR(A) CHANNEL\n'01"), max_size=300), st.integers(0, 2_000))
def test_any_text_is_read_without_errors(noise: str, at: int) -> None:
    text = display(*ROWS)
    read(text[:at] + noise + text[at:], noise).situation("Q1").pairs()
