"""Scenarios R1 to R28: the choice in both orders, and the deciding step. Expectations are typed by hand.

The inputs are files, so that `cfplan cluster decide` can also run them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.clusters.service import read_file
from app.texts.documents import parse_yaml
from planner_core.clusters.answer import answer
from planner_core.clusters.file import read_object
from planner_core.clusters.model import Mode
from planner_core.errors import InputInvalid

DATA = Path(__file__).parent / "data"


class Expected(NamedTuple):
    """The expected outcome of a scenario."""

    number: int
    seed: str
    ibm: str
    step: str | None
    """The step that decides in mode seed."""
    findings: str = ""
    """Codes of the findings in mode seed."""


EXPECTED = (
    Expected(1, "A B C", "A B C", None),
    Expected(2, "B C", "B C", "status"),
    Expected(3, "C", "C", "status"),
    Expected(4, "A", "A B", "status", "CLUSTER_MODES_DIFFER"),
    Expected(5, "A", "A", "channel_rank", "CLUSTER_RANK_HOLDS_MESSAGES"),
    Expected(6, "A", "A", "queue_rank", "CLUSTER_RANK_HOLDS_MESSAGES"),
    Expected(7, "A", "A", "channel_rank", "CLUSTER_RANK_DECIDES"),
    Expected(8, "", "B C", "put", "CLUSTER_MODES_DIFFER CLUSTER_PUT_FAILS"),
    Expected(9, "", "", "put", "CLUSTER_PUT_FAILS"),
    Expected(10, "B C", "B C", "suspended"),
    Expected(11, "A B C", "A B C", None),
    Expected(12, "B C", "B C", "suspended"),
    Expected(13, "A B C", "A B C", "netprty"),
    Expected(14, "A B C", "A B C", "status"),
    Expected(15, "A", "A", "channel_priority"),
    Expected(16, "B C", "B C", "status"),
    Expected(17, "A", "B", "channel_priority", "CLUSTER_MODES_DIFFER"),
    Expected(18, "A", "A", "channel_rank", "CLUSTER_RANK_HOLDS_MESSAGES"),
    Expected(19, "A", "A", None, "CLUSTER_ONLY_CHOICE"),
    Expected(20, "S", "S", "local"),
    Expected(21, "S A B", "S A B", None, "CLUSTER_LOCAL_DEFAULTS"),
    Expected(22, "A B", "A B", None),
    Expected(23, "A", "A", "status", "CLUSTER_MESSAGE_NOT_ELIGIBLE"),
    Expected(24, "A", "A", "status", "CLUSTER_MESSAGE_NOT_ELIGIBLE"),
    Expected(25, "A", "A", "status", "CLUSTER_MESSAGE_NOT_ELIGIBLE"),
    Expected(26, "B C", "B C", "status"),
    Expected(27, "A", "A", "status", "CLUSTER_MESSAGE_NOT_REDRIVEN"),
    Expected(28, "NEWYORK P1 P2 P3", "NEWYORK P1 P2 P3", None),
)


def scenario(number: int) -> Path:
    return DATA / f"R{number:02}.yaml"


def decided(number: int, *, mode: Mode = "seed", **changes: object) -> dict[str, Any]:
    """Return the answer to a scenario with some of its keys changed."""
    parsed = parse_yaml(scenario(number).read_bytes())
    assert isinstance(parsed, dict)
    return answer(read_object({**parsed, **changes}), mode=mode).as_json()


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: f"R{expected.number}")
def test_scenario_in_the_order_of_the_article_has_the_expected_destinations(expected: Expected) -> None:
    found = answer(read_file(scenario(expected.number))).as_json()
    assert found["chosen"] == expected.seed.split()
    assert found["deciding_step"] == expected.step
    assert [item["code"] for item in found["findings"]] == expected.findings.split()


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: f"R{expected.number}")
def test_scenario_in_the_order_of_the_reference_has_the_expected_destinations(expected: Expected) -> None:
    found = answer(read_file(scenario(expected.number)), mode="ibm").as_json()
    assert found["chosen"] == expected.ibm.split()


def test_every_scenario_has_a_file_and_an_expectation() -> None:
    assert [expected.number for expected in EXPECTED] == list(range(1, 29))
    assert {path.stem for path in DATA.glob("*.yaml")} == {f"R{number:02}" for number in range(1, 29)}


def test_r1_equal_destinations_take_turns() -> None:
    assert [item["puts"] for item in decided(1)["destinations"]] == [1000, 1000, 1000]


@pytest.mark.parametrize(("without", "expected"), [("", "C"), ("C", "A"), ("CA", "B")])
def test_r3_stopping_channel_is_preferred_to_retrying_and_stopped_ones(without: str, expected: str) -> None:
    states = {"A": "RETRYING", "B": "STOPPED", "C": "STOPPING"}
    left = [
        {"queue_manager": name, "channels": [{"status": state}]}
        for name, state in states.items()
        if name not in without
    ]
    assert decided(3, instances=left)["chosen"] == [expected]


def test_r5_message_stays_with_a_new_put_time() -> None:
    message = decided(5)["message"]
    assert (message["eligible"], message["redriven"], message["stays"]) == (True, True, True)
    assert message["reason"] == "most_favoured"
    assert "CLWLRANK of the channel" in message["sentence"]
    assert "put time is renewed" in message["sentence"]


@pytest.mark.parametrize("number", [8, 9])
def test_r8_r9_waiting_message_stays_if_the_put_fails(number: int) -> None:
    found = decided(number)
    assert found["put_fails"] is True
    assert found["failure"] == "put_disabled"
    assert found["message"]["stays"] is True
    assert found["message"]["reason"] == "put_disabled"


@pytest.mark.parametrize(("number", "kept"), [(13, "TO.A.1"), (14, "TO.A.2")])
def test_r13_r14_one_of_two_channels_to_a_queue_manager_remains(number: int, kept: str) -> None:
    channels = [item["channel"] for item in decided(number)["destinations"]]
    assert channels == [kept, "TO.B", "TO.C"]


def test_r14_netprty_eliminates_nothing_after_the_channel_state() -> None:
    steps = {step["id"]: step for step in decided(14)["steps"]}
    assert [item["channel"] for item in steps["status"]["eliminated"]] == ["TO.A.1"]
    assert steps["netprty"]["eliminated"] == []


def test_r15_other_channels_are_used_if_the_preferred_one_fails() -> None:
    failing = [
        {"queue_manager": "A", "channels": [{"clwlprty": 9, "status": "RETRYING"}]},
        {"queue_manager": "B"},
        {"queue_manager": "C"},
    ]
    assert decided(15, instances=failing)["chosen"] == ["B", "C"]


def test_r17_reference_chooses_a_queue_by_its_own_priority() -> None:
    found = decided(17, mode="ibm")
    assert found["chosen"] == ["B"]
    assert found["deciding_step"] == "priority"
    assert {item["code"] for item in found["findings"]} == {
        "CLUSTER_MODES_DIFFER",
        "CLUSTER_PRIORITY_READING",
    }


def test_r17_queue_manager_is_chosen_by_the_priority_of_its_channel() -> None:
    assert decided(17, mode="ibm", choosing="queue_manager")["chosen"] == ["A"]


def test_r20_steps_after_the_local_choice_are_not_evaluated() -> None:
    reached = {step["id"] for step in decided(20, mode="ibm")["steps"] if step["reached"]}
    assert reached == {"put", "local"}


def test_r20_step_numbers_follow_the_order_of_evaluation() -> None:
    steps = decided(20, mode="seed")["steps"]
    assert [step["step"] for step in steps] == [str(number) for number in range(9)]
    assert steps[0]["title"] == "The sender's own instance (step 3 of the reference)"


def test_unmodelled_step_of_the_reference_is_an_assumption() -> None:
    said = {
        mode: " ".join(each["what"] for each in decided(1, mode=mode)["assumptions"])
        for mode in ("seed", "ibm")
    }
    assert "Step 4 does not apply" in said["ibm"]
    assert "Step 4" not in said["seed"]


def test_r20_put_disabled_local_instance_is_not_preferred() -> None:
    here = {"queue_manager": "S", "local": True, "put": "DISABLED"}
    for mode in ("seed", "ibm"):
        assert decided(20, mode=mode, instances=[here, {"queue_manager": "A"}])["chosen"] == ["A"]


def test_r21_message_from_a_cluster_channel_stays_at_the_sender() -> None:
    assert decided(21, came_over_cluster=True)["chosen"] == ["S"]


def test_r22_weights_share_two_to_one() -> None:
    destinations = decided(22)["destinations"]
    assert [item["puts"] for item in destinations] == [8, 4]
    assert [item["share_percent"] for item in destinations] == [66.67, 33.33]


@pytest.mark.parametrize(
    ("number", "cause"), [(23, "bind_on_open"), (24, "group"), (25, "queue_manager_named")]
)
def test_r23_r24_r25_bound_message_is_not_eligible(number: int, cause: str) -> None:
    message = decided(number)["message"]
    assert message["eligible"] is False
    assert message["not_eligible_because"] == [cause]
    assert message["stays"] is True


def test_r24_group_without_logical_order_may_be_moved() -> None:
    found = decided(24, message={"held_for": "A", "bind": "GROUP"})
    assert found["chosen"] == ["B"]
    assert found["message"]["reason"] == "reallocated"


def test_r25_system_message_is_not_eligible() -> None:
    message = decided(25, message={"held_for": "A", "system": True})["message"]
    assert message["not_eligible_because"] == ["system"]


def test_r26_one_failed_retry_moves_the_message() -> None:
    message = decided(26)["message"]
    assert message["moves_to"] == ["B", "C"]
    assert message["stays"] is False


def test_r27_stopped_channel_moves_no_message_until_it_fails_again() -> None:
    message = decided(27)["message"]
    assert (message["redriven"], message["stays"], message["reason"]) == (False, True, "not_redriven")
    again = decided(27, message={"held_for": "A", "channel_fails": True})
    assert again["chosen"] == ["B", "C"]


def test_r28_three_quarters_reach_the_shared_queue() -> None:
    by_queue: dict[str, int] = {}
    for item in decided(28)["destinations"]:
        by_queue[item["physical_queue"]] = by_queue.get(item["physical_queue"], 0) + item["puts"]
    assert by_queue == {"NEWYORK": 1000, "SQ03": 3000}


def test_instance_on_the_sender_is_local_by_default() -> None:
    told = {"sender": {"queue_manager": "S"}, "instances": [{"queue_manager": "S"}, {"queue_manager": "A"}]}
    assert answer(read_object(told)).chosen == ("S",)
    assert answer(read_object({**told, "clwluseq": "ANY"})).chosen == ("S", "A")


def test_local_instance_on_another_queue_manager_is_refused() -> None:
    told = {"sender": {"queue_manager": "S"}, "instances": [{"queue_manager": "A", "local": True}]}
    with pytest.raises(InputInvalid) as caught:
        read_object(told)
    assert [problem.field for problem in caught.value.problems] == ["/instances/0/local"]


def test_message_waiting_for_one_of_equal_destinations_is_most_favoured() -> None:
    retrying = [{"status": "RETRYING"}]
    told = {
        "message": {"held_for": "A"},
        "instances": [{"queue_manager": name, "channels": retrying} for name in ("A", "B")],
    }
    found: Any = answer(read_object(told)).as_json()
    assert found["chosen"] == ["A", "B"]
    assert found["message"]["reason"] == "most_favoured"
    assert found["message"]["sentence"].startswith("A is still among the most favored, equal with B:")
