"""Explanations of waiting messages. Names with R… are those of the acceptance scenarios for clusters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.clusters import explain as module
from planner_core.clusters.displays import Displays, Route, read_displays
from planner_core.clusters.explain import (
    REASONS,
    ExplainedMessage,
    NextRetry,
    WaitingExplanation,
    explain,
    next_retry,
)
from planner_core.clusters.messages import read_messages, read_rows
from planner_core.clusters.model import Mode
from planner_core.document.cluster_instances import Status
from tests.planner_core.clusters.waiting.support import (
    ELIGIBLE,
    PINNED,
    Row,
    chstatus,
    clusqmgr,
    display,
    dump,
    qcluster,
    qmgr,
)

FAILED = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


def shows(*rows: Row) -> Displays:
    found = read_displays([("displays", display(clusqmgr("S", DEFTYPE="CLUSRCVR"), *rows, qmgr("S")))])
    assert found.problems == ()
    return found


def cluster(
    queue: Mapping[str, Mapping[str, object]] | None = None, **channels: Mapping[str, object]
) -> Displays:
    """Return displays with instances of Q1 on the queue managers of `channels`, with the values of their rows."""
    rows: list[Row] = [clusqmgr(name, **values) for name, values in channels.items()]
    rows += [qcluster("Q1", name, **(queue or {}).get(name, {})) for name in channels]
    return shows(*rows)


def waiting(*, at: str = "A", token: str = ELIGIBLE, **more: object) -> dict[str, object]:
    return {"channel": f"TO.{at}", "queue_manager": at, "queue": "Q1", "accounting_token": token, **more}


def whole(
    displays: Displays, *rows: dict[str, object], mode: Mode = "seed", **more: object
) -> WaitingExplanation:
    browse = read_rows(list(rows))
    assert browse.problems == ()
    return explain(displays, browse, mode=mode, **more)  # type: ignore[arg-type]


def one(displays: Displays, row: dict[str, object], *, mode: Mode = "seed") -> ExplainedMessage:
    (found,) = whole(displays, row, mode=mode).messages
    return found


def codes(found: WaitingExplanation) -> set[str]:
    return {each.code for each in found.findings}


def test_r5_channel_rank_holds_a_message_for_a_retrying_channel() -> None:
    found = whole(cluster(A={"CLWLRANK": 1, "STATUS": "RETRYING"}, B={}, C={}), waiting())
    (message,) = found.messages
    assert (message.reason, message.step, message.attribute) == (
        "most_favoured",
        "channel_rank",
        "CLWLRANK of the channel",
    )
    assert "Without the rank, it would go elsewhere" in message.explanation
    assert "step 1 eliminates B through TO.B: CLWLRANK(0) is below CLWLRANK(1)" in message.explanation
    assert "CLUSTER_RANK_HOLDS_MESSAGES" in codes(found)


def test_r6_queue_rank_holds_a_message_for_a_stopped_channel() -> None:
    found = whole(cluster({"A": {"CLWLRANK": 1}}, A={"STATUS": "STOPPED"}, B={}, C={}), waiting())
    (message,) = found.messages
    assert (message.reason, message.step) == ("most_favoured", "queue_rank")
    assert {"CLUSTER_RANK_HOLDS_MESSAGES", "CLUSTER_STOPPED_CHANNEL_HOLDS"} <= codes(found)


def test_rank_that_does_not_change_the_outcome_is_not_reported() -> None:
    # Without the rank A, which retries, is preferred to B, which is stopped, all the same.
    displays = cluster(A={"CLWLRANK": 1, "STATUS": "RETRYING"}, B={"STATUS": "STOPPED"})
    found = whole(displays, waiting())
    assert found.messages[0].step == "channel_rank"
    assert "Without the rank" not in found.messages[0].explanation
    assert "CLUSTER_RANK_HOLDS_MESSAGES" not in codes(found)


@pytest.mark.parametrize(("mode", "reason"), [("seed", "put_disabled"), ("ibm", "not_redriven")])
def test_r8_put_disabled_instance_with_the_highest_rank_gives_different_reasons_by_mode(
    mode: Mode, reason: str
) -> None:
    displays = cluster({"A": {"CLWLRANK": 1, "PUT": "DISABLED"}}, A={"STATUS": "RETRYING"}, B={}, C={})
    found = whole(displays, waiting(), mode=mode)
    assert found.messages[0].reason == reason
    assert "CLUSTER_MODES_DIFFER" in codes(found)


@pytest.mark.parametrize("mode", ["seed", "ibm"])
def test_r9_message_waits_if_every_instance_is_put_disabled(mode: Mode) -> None:
    queue = {name: {"PUT": "DISABLED"} for name in "ABC"}
    message = one(cluster(queue, A={"STATUS": "RETRYING"}, B={}, C={}), waiting(), mode=mode)
    assert (message.reason, message.goes_to) == ("put_disabled", ())


def test_r14_other_channel_to_the_same_queue_manager_is_preferred() -> None:
    displays = shows(
        clusqmgr("A", CHANNEL="TO.A.1", NETPRTY=5, STATUS="RETRYING"),
        clusqmgr("A", CHANNEL="TO.A.2", NETPRTY=1),
        qcluster("Q1", "A"),
    )
    message = one(displays, waiting() | {"channel": "TO.A.1"})
    assert (message.reason, message.goes_to) == ("not_redriven", ("A through TO.A.2",))


def test_r18_rank_decides_before_priority() -> None:
    message = one(cluster(A={"CLWLRANK": 5, "STATUS": "RETRYING"}, B={"CLWLPRTY": 9}), waiting())
    assert (message.reason, message.step) == ("most_favoured", "channel_rank")


def test_r19_single_instance_is_the_only_choice() -> None:
    message = one(cluster(A={"STATUS": "RETRYING"}), waiting())
    assert message.reason == "only_choice"


def test_instance_without_a_channel_is_not_a_choice() -> None:
    displays = shows(clusqmgr("A", STATUS="RETRYING"), qcluster("Q1", "A"), qcluster("Q1", "B"))
    assert one(displays, waiting()).reason == "only_choice"


@pytest.mark.parametrize(
    ("told", "causes"),
    [
        ({"token": PINNED}, ("token_zero",)),
        ({"token": "", "bind": "OPEN"}, ("bind_on_open",)),
        ({"token": "", "bind": "GROUP", "logical_order": True}, ("group",)),
        ({"token": "", "bind": "NOTFIXED", "names_queue_manager": True}, ("queue_manager_named",)),
        ({"token": PINNED, "queue": "SYSTEM.CLUSTER.COMMAND.QUEUE"}, ("system",)),
    ],
    ids=["token", "R23", "R24", "R25", "R25 system"],
)
def test_message_tied_to_its_destination_is_reported_with_the_cause(
    told: dict[str, object], causes: tuple[str, ...]
) -> None:
    found = whole(cluster(A={"STATUS": "RETRYING"}, B={}), waiting(**told))  # type: ignore[arg-type]
    (message,) = found.messages
    assert (message.reason, message.eligible, message.causes) == ("not_eligible", False, causes)
    assert "CLUSTER_MESSAGE_NOT_ELIGIBLE" in codes(found)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"token": "", "bind": "NOTFIXED"},
        {"token": "", "bind": "GROUP", "logical_order": False},
        # What the browse shows counts, not what somebody says of the binding.
        {"bind": "OPEN"},
    ],
    ids=["token", "not fixed", "R24 without logical order", "token and bind"],
)
def test_r26_eligible_messages_would_move(told: dict[str, object]) -> None:
    message = one(cluster(A={"STATUS": "RETRYING"}, B={}, C={}), waiting(**told))  # type: ignore[arg-type]
    assert (message.reason, message.eligible) == ("not_redriven", True)
    assert message.goes_to == ("B through TO.B", "C through TO.C")


@pytest.mark.parametrize(
    "told", [{"token": ""}, {"token": "", "bind": "GROUP"}], ids=["not stated", "group of unknown order"]
)
def test_unknown_binding_leaves_the_reason_unknown(told: dict[str, object]) -> None:
    found = whole(cluster(A={"STATUS": "RETRYING"}, B={}), waiting(**told))  # type: ignore[arg-type]
    assert (found.messages[0].reason, found.messages[0].eligible) == ("unknown", None)
    assert "CLUSTER_MESSAGES_UNKNOWN" in codes(found)


@pytest.mark.parametrize(
    ("defbind", "more", "eligible", "causes"),
    [
        ("OPEN", {}, False, ("bind_on_open",)),
        ("NOTFIXED", {}, True, ()),
        ("GROUP", {"logical_order": True}, False, ("group",)),
        ("GROUP", {}, None, ()),
    ],
)
def test_bind_as_q_def_uses_defbind(
    defbind: str, more: dict[str, Any], eligible: bool | None, causes: tuple[str, ...]
) -> None:
    displays = cluster({"A": {"DEFBIND": defbind}, "B": {"DEFBIND": defbind}}, A={"STATUS": "RETRYING"}, B={})
    told = waiting(token="", bind="MQBND_BIND_AS_Q_DEF", **more)
    found = whole(displays, told)
    (message,) = found.messages
    assert (message.eligible, message.causes) == (eligible, causes)
    assert any("with the DEFBIND that the queue's instances" in each.what for each in found.assumptions)
    if eligible is False:
        assert message.explanation.endswith(f"Q1 has DEFBIND({defbind}).")


def test_bind_as_q_def_without_defbind_leaves_the_reason_unknown() -> None:
    told = waiting(token="", bind="AS_Q_DEF")
    differ = one(cluster({"A": {"DEFBIND": "OPEN"}}, A={"STATUS": "RETRYING"}, B={}), told)
    assert (differ.reason, differ.eligible) == ("unknown", None)
    assert "instances of Q1 have different values (OPEN, NOTFIXED)" in differ.explanation
    silent = one(shows(clusqmgr("A", STATUS="RETRYING")), told)
    assert "no DISPLAY QCLUSTER row of Q1 shows it" in silent.explanation


def test_defbind_open_is_named_as_a_likely_cause() -> None:
    displays = cluster({"A": {"DEFBIND": "OPEN"}}, A={"STATUS": "RETRYING"}, B={})
    assert "Q1 has DEFBIND(OPEN)" in one(displays, waiting(token=PINNED)).explanation
    assert "DEFBIND" not in one(cluster(A={"STATUS": "RETRYING"}, B={}), waiting(token=PINNED)).explanation


def test_r27_nothing_moves_while_the_channel_is_stopped() -> None:
    found = whole(cluster(A={"STATUS": "STOPPED"}, B={}), waiting())
    (message,), (channel,) = found.messages, found.channels
    assert (message.reason, message.goes_to) == ("not_redriven", ("B through TO.B",))
    assert channel.next_retry is not None
    assert (channel.next_retry.at, channel.next_retry.within_s, channel.next_retry.attempts_left) == (
        None,
        None,
        0,
    )
    assert "CLUSTER_STOPPED_CHANNEL_HOLDS" in codes(found)


@pytest.mark.parametrize("status", ["RUNNING", "INACTIVE"])
def test_messages_of_a_working_channel_wait_to_be_sent(status: str) -> None:
    # B is preferred, but what waits for A is sent to A.
    found = whole(cluster(A={"STATUS": status}, B={"CLWLPRTY": 9}), waiting())
    assert found.messages[0].reason == "channel_works"
    assert found.channels[0].next_retry is None


@pytest.mark.parametrize(
    "status", ["STARTING", "BINDING", "INITIALIZING", "REQUESTING", "STOPPING", "PAUSED"]
)
def test_messages_of_a_starting_channel_move_if_it_fails(status: str) -> None:
    message = one(cluster(A={"STATUS": status}, B={"CLWLPRTY": 9}), waiting())
    assert (message.reason, message.goes_to) == ("not_redriven", ("B through TO.B",))
    assert f"TO.A is {status}" in message.explanation


def test_message_for_one_of_equal_destinations_is_most_favoured() -> None:
    message = one(cluster(A={"STATUS": "RETRYING"}, B={"STATUS": "RETRYING"}), waiting())
    assert (message.reason, message.step) == ("most_favoured", "")
    assert "equal with B through TO.B" in message.explanation


def test_priority_never_holds_a_message_for_a_failing_channel() -> None:
    message = one(cluster(A={"CLWLPRTY": 9, "STATUS": "RETRYING"}, B={}), waiting())
    assert (message.reason, message.goes_to) == ("not_redriven", ("B through TO.B",))


@pytest.mark.parametrize(
    ("row", "missing"),
    [
        ({"channel": "", "queue_manager": ""}, "names neither a channel"),
        ({"channel": "TO.Z"}, "No DISPLAY CLUSQMGR row has channel TO.Z"),
        ({"queue": ""}, "does not show which queue"),
        ({"queue": "Q9"}, "No DISPLAY QCLUSTER row has queue Q9"),
        ({"channel": "TO.C", "queue_manager": "C"}, "Q1 has no instance on C"),
    ],
)
def test_explanation_names_the_missing_display_or_value(row: dict[str, object], missing: str) -> None:
    displays = shows(
        clusqmgr("A", STATUS="RETRYING"),
        clusqmgr("B"),
        clusqmgr("C", STATUS="RETRYING"),
        qcluster("Q1", "A"),
        qcluster("Q1", "B"),
    )
    message = one(displays, waiting() | row)
    assert message.reason == "unknown"
    assert missing in message.explanation


def test_message_without_a_channel_gets_the_only_one_to_its_queue_manager() -> None:
    message = one(cluster(A={"STATUS": "RETRYING"}, B={}), waiting() | {"channel": ""})
    assert (message.channel, message.reason) == ("TO.A", "not_redriven")


def test_given_queue_applies_to_messages_without_a_queue() -> None:
    found = whole(cluster(A={"STATUS": "RETRYING"}, B={}), waiting() | {"queue": ""}, queue="Q1")
    assert found.messages[0].reason == "not_redriven"
    assert any("are for Q1, as entered" in each.what for each in found.assumptions)


def test_messages_are_counted_by_channel_and_reason() -> None:
    displays = shows(
        clusqmgr("A", STATUS="RETRYING", CLWLRANK=1),
        clusqmgr("B"),
        qcluster("Q1", "A"),
        qcluster("Q1", "B"),
        qcluster("Q2", "A"),
        chstatus("A", "RETRYING", SHORTRTS=3, LONGRTS=999999999),
    )
    rows = [waiting(), waiting(), waiting(token=PINNED), waiting() | {"queue": "Q2"}, waiting(at="B")]
    found = whole(displays, *rows)
    first, second = found.channels
    assert (first.channel, first.messages, first.status) == ("TO.A", 4, Status.RETRYING)
    assert {reason: count for reason, count in first.counts.items() if count} == {
        "not_eligible": 1,
        "only_choice": 1,
        "most_favoured": 2,
    }
    assert {reason: count for reason, count in second.counts.items() if count} == {"channel_works": 1}
    assert sum(found.counts.values()) == 5
    assert [each.queue for each in found.decisions] == ["Q1", "Q2"]
    ranked = next(each for each in found.findings if each.code == "CLUSTER_RANK_HOLDS_MESSAGES")
    assert ranked.message.startswith("2 messages for Q1 stay because of CLWLRANK of the channel")


def test_batch_in_doubt_is_reported() -> None:
    displays = shows(
        clusqmgr("A"),
        clusqmgr("B"),
        qcluster("Q1", "A"),
        qcluster("Q1", "B"),
        chstatus("A", "RETRYING", INDOUBT="YES", CURMSGS=50),
    )
    found = whole(displays, waiting())
    assert found.channels[0].in_doubt
    (said,) = [each.message for each in found.findings if each.code == "CLUSTER_CHANNEL_IN_DOUBT"]
    assert "50 messages cannot be re-allocated" in said
    assert "CLUSTER_CHANNEL_IN_DOUBT" not in codes(whole(cluster(A={}, B={}), waiting()))


def test_missing_displays_are_reported_with_the_commands_to_issue() -> None:
    found = whole(read_displays([]), waiting())
    (said,) = [each.message for each in found.findings if each.code == "CLUSTER_DISPLAY_MISSING"]
    assert "DISPLAY CLUSQMGR(*) ALL, DISPLAY QCLUSTER(*) ALL, DISPLAY CHSTATUS(*) ALL" in said
    assert found.messages[0].reason == "unknown"
    assert whole(read_displays([]), waiting(token=PINNED)).messages[0].reason == "not_eligible"


def test_unrecognized_channel_and_unread_text_are_reported() -> None:
    displays = read_displays(
        [("d", display(clusqmgr("A", DEFTYPE="CLUSSDR", STATUS="WILD"), qcluster("Q1", "A")))]
    )
    assert {"CLUSTER_CHANNEL_NOT_RECOGNISED", "CLUSTER_TEXT_NOT_READ"} <= codes(whole(displays, waiting()))


def test_reason_is_unknown_for_queues_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_QUEUES", 1)
    displays = shows(clusqmgr("A", STATUS="RETRYING"), qcluster("Q1", "A"), qcluster("Q2", "A"))
    found = whole(displays, waiting(), waiting() | {"queue": "Q2"}, waiting())
    assert [each.reason for each in found.messages] == ["only_choice", "unknown", "only_choice"]
    assert "at most 1 queues" in found.messages[1].explanation


# Put times.


def test_message_with_a_renewed_put_time_was_evaluated() -> None:
    displays = cluster(A={"STATUS": "RETRYING", "CLWLRANK": 1}, B={})
    told = {"channel": "TO.A", "queue": "Q1", "queue_manager": "A", "put": "2026112112064150"}
    browse = read_messages(
        dump({**told, "original": "2026112112004117"}, {**told, "original": "2026112112064150"})
    )
    found = explain(displays, browse)
    assert [each.evaluated_since for each in found.messages] == [True, None]
    assert "evaluated since" in found.messages[0].explanation
    assert "evaluated since" not in found.messages[1].explanation
    assert found.channels[0].last_evaluated_at == datetime(2026, 11, 21, 12, 6, 41, 500_000, tzinfo=UTC)


def test_message_put_after_the_known_failure_was_evaluated() -> None:
    displays = cluster(A={"STATUS": "RETRYING"}, B={})
    rows = [waiting(put_at="2026-11-21T11:59:59Z"), waiting(put_at="2026-11-21T12:01:00Z")]
    found = whole(displays, *rows, failed_at=FAILED)
    assert [each.evaluated_since for each in found.messages] == [False, True]
    assert "it stayed" in found.messages[1].explanation


def test_message_put_after_the_failure_was_not_evaluated() -> None:
    displays = cluster(A={"STATUS": "RETRYING"}, B={})
    put = "2026-11-21T12:01:00Z"
    (found,) = whole(displays, waiting(put_at=put, original_put_at=put), failed_at=FAILED).messages
    assert (found.reason, found.evaluated_since) == ("not_redriven", False)
    assert "evaluated since" not in found.explanation


def test_put_time_before_the_failure_does_not_show_an_attempt() -> None:
    displays = cluster(A={"STATUS": "RETRYING"}, B={})
    row = waiting(put_at="2026-11-21T11:55:00Z", original_put_at="2026-11-21T11:00:00Z")
    found = whole(displays, row, failed_at=FAILED, browsed_at=FAILED + timedelta(seconds=5))
    assert found.channels[0].last_evaluated_at is None
    assert found.channels[0].next_retry is not None
    assert found.channels[0].next_retry.at == FAILED + timedelta(seconds=60)


@pytest.mark.parametrize(("put", "renewed"), [("12:00:00.99", None), ("12:00:01", True)])
def test_put_times_that_differ_within_one_put_do_not_show_an_attempt(put: str, renewed: bool | None) -> None:
    displays = cluster(A={"STATUS": "RETRYING"}, B={})
    row = waiting(put_at=f"2026-11-21T{put}Z", original_put_at="2026-11-21T12:00:00Z")
    assert one(displays, row).evaluated_since is renewed


def test_reason_is_unknown_for_a_channel_with_a_truncated_state() -> None:
    text = display(clusqmgr("A"), clusqmgr("B"), qcluster("Q1", "A"), qcluster("Q1", "B"))
    displays = read_displays([("d", text.replace("STATUS(RUNNING)", "STATUS(RETRY", 1))])
    found = one(displays, waiting())
    assert found.reason == "unknown"
    assert found.explanation.startswith("The state of TO.A was truncated")


def test_truncated_state_is_not_shown() -> None:
    text = display(clusqmgr("A"), clusqmgr("B"), qcluster("Q1", "A"), qcluster("Q1", "B"))
    displays = read_displays([("d", text.replace("STATUS(RUNNING)", "STATUS(RETRY", 1))])
    (channel,) = whole(displays, waiting()).channels
    assert (channel.channel, channel.status, channel.next_retry) == ("TO.A", None, None)


def test_message_with_one_choice_and_a_working_channel_waits_to_be_sent() -> None:
    found = one(cluster(A={}), waiting())
    assert (found.reason, found.explanation[-47:]) == (
        "only_choice",
        " TO.A is RUNNING: the message waits to be sent.",
    )


# When the next retry comes: SHORTRTY(10) SHORTTMR(60), then LONGTMR(1200).


def route(**values: object) -> Route:
    status = chstatus("A", "RETRYING", **values)
    (made,) = read_displays([("d", display(clusqmgr("A"), status))]).routes
    return made


def retry(
    seconds: int | None, *, failed: bool = True, last: int | None = None, **values: object
) -> NextRetry:
    made = next_retry(
        route(**values),
        failed_at=FAILED if failed else None,
        browsed_at=None if seconds is None else FAILED + timedelta(seconds=seconds),
        last_at=None if last is None else FAILED + timedelta(seconds=last),
    )
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (0, 60),
        (59, 60),
        (60, 120),
        (61, 120),
        (599, 600),
        (600, 1800),
        (1799, 1800),
        (1800, 3000),
        (4500, 5400),
    ],
)
def test_retry_schedule_counts_from_the_failure(now: int, then: int) -> None:
    assert retry(now).at == FAILED + timedelta(seconds=then)


def test_remaining_retry_attempts_determine_the_interval() -> None:
    assert retry(None, failed=False, SHORTRTS=7, LONGRTS=999999999).within_s == 60
    late = retry(None, failed=False, SHORTRTS=0, LONGRTS=999999990)
    assert (late.within_s, late.attempts_left, late.at) == (1200, 999999990, None)


def test_next_retry_after_the_last_attempt_is_none() -> None:
    spent = retry(600, last=540, SHORTRTS=0, LONGRTS=0)
    assert (spent.at, spent.within_s, spent.attempts_left) == (None, None, 0)
    assert spent.explanation.startswith("No attempt is left (SHORTRTS(0), LONGRTS(0)): ")
    assert "Next attempt" not in spent.explanation


def test_messages_of_a_channel_without_retries_left_have_no_next_attempt() -> None:
    def found(**values: object) -> str:
        status = chstatus("A", "RETRYING", SHORTRTS=0, LONGRTS=0)
        rows = [clusqmgr("A", **values), clusqmgr("B"), qcluster("Q1", "A"), qcluster("Q1", "B"), status]
        return one(shows(*rows), waiting()).explanation

    assert "an attempt that fails would send it to B through TO.B. No attempt is left" in found()
    assert "Each attempt renews" not in found(CLWLRANK=1)


def test_channel_without_long_retries_has_no_long_retry() -> None:
    def asked(seconds: int, **shown: object) -> NextRetry:
        (made,) = read_displays([("d", display(clusqmgr("A", LONGRTY=0, STATUS="RETRYING", **shown)))]).routes
        found = next_retry(made, failed_at=FAILED, browsed_at=FAILED + timedelta(seconds=seconds))
        assert found is not None
        return found

    assert asked(599).at == FAILED + timedelta(seconds=600)
    assert asked(600).at is None
    assert asked(600).explanation.startswith("No attempt is left (LONGRTY(0)): ")
    assert asked(599).explanation.endswith(
        "10 every 60 s (SHORTRTY, SHORTTMR), then none after that (LONGRTY(0))."
    )
    assert "every 60 s" not in asked(0, SHORTRTY=0).explanation


def test_retry_schedule_ends_after_the_last_long_retry() -> None:
    (made,) = read_displays([("d", display(clusqmgr("A", LONGRTY=2, STATUS="RETRYING")))]).routes

    def at(seconds: int) -> object:
        found = next_retry(made, failed_at=FAILED, browsed_at=FAILED + timedelta(seconds=seconds))
        return found and found.at

    assert at(2999) == FAILED + timedelta(seconds=3000)
    assert at(3000) is None


def test_next_retry_counts_from_the_last_attempt_shown_by_messages() -> None:
    assert retry(None, failed=False, last=367, SHORTRTS=4).at == FAILED + timedelta(seconds=427)
    # A browse that is later than that attempt would have been: nothing is claimed but the interval.
    stale = next_retry(
        route(SHORTRTS=4), browsed_at=FAILED + timedelta(seconds=500), last_at=FAILED + timedelta(seconds=367)
    )
    assert stale is not None
    assert (stale.at, stale.within_s) == (None, 60)


def test_next_retry_without_times_states_the_schedule() -> None:
    alone = retry(None, failed=False)
    assert (alone.at, alone.within_s) == (None, None)
    assert "SHORTRTS, LONGRTS" in alone.explanation
    assert "10 every 60 s" in alone.explanation
    assert "12:01:00 UTC, 2026-11-21 12:02:00 UTC, 2026-11-21 12:03:00 UTC …" in retry(None).explanation


def test_channel_that_is_not_retrying_has_no_next_retry() -> None:
    (running,) = read_displays([("d", display(clusqmgr("A")))]).routes
    assert next_retry(running) is None


# What holds for every cluster.


@st.composite
def anything(draw: st.DrawFn) -> tuple[Displays, list[dict[str, object]]]:
    levels = st.integers(0, 2)
    names = draw(st.lists(st.sampled_from("ABCD"), min_size=1, unique=True))
    rows: list[Row] = []
    for name in names:
        rows.append(
            clusqmgr(
                name,
                CLWLRANK=draw(levels),
                CLWLPRTY=draw(levels),
                NETPRTY=draw(levels),
                STATUS=draw(st.sampled_from(Status)),
                SUSPEND=draw(st.sampled_from(["YES", "NO"])),
            )
        )
        rows.append(
            qcluster(
                "Q1",
                name,
                CLWLRANK=draw(levels),
                CLWLPRTY=draw(levels),
                PUT=draw(st.sampled_from(["ENABLED", "DISABLED"])),
            )
        )
    messages = [
        waiting(at=draw(st.sampled_from(names)), token=draw(st.sampled_from([ELIGIBLE, PINNED])))
        for _ in range(draw(st.integers(1, 4)))
    ]
    return shows(*rows), messages


@given(anything(), st.sampled_from(["seed", "ibm"]))
def test_every_message_has_one_reason_and_an_explanation(
    case: tuple[Displays, list[dict[str, object]]], mode: Mode
) -> None:
    displays, rows = case
    found = whole(displays, *rows, mode=mode)
    assert len(found.messages) == len(rows) == sum(channel.messages for channel in found.channels)
    for row, message in zip(rows, found.messages, strict=True):
        assert (message.reason == "not_eligible") == (row["accounting_token"] == PINNED)
        assert message.reason != "unknown"
        assert message.explanation.endswith(".")
        assert bool(message.goes_to) == (message.reason == "not_redriven")
        assert not any(each.endswith(message.channel) for each in message.goes_to)
        working = displays.route(message.channel)
        assert working is not None
        if message.reason == "channel_works":
            assert working.channel.status in (Status.RUNNING, Status.INACTIVE)
        if message.reason == "only_choice":
            assert len(displays.queues) == 1
    assert set(found.counts) == set(REASONS)
