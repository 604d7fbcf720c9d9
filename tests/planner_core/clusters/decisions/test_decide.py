"""Properties of every decision."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.clusters.advice import remarks
from planner_core.clusters.answer import shares
from planner_core.clusters.decide import Decision, decide, spread
from planner_core.clusters.model import Mode, Situation
from planner_core.document.cluster_instances import Channel, Instance, Status

LEVELS = st.integers(0, 3)
MODES: tuple[Mode, ...] = ("seed", "ibm")


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """Draw up to five queue managers with up to two channels each."""
    instances, channels = [], []
    for name in draw(st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True)):
        instances.append(
            Instance(
                queue_manager=name,
                rank=draw(LEVELS),
                priority=draw(LEVELS),
                put_enabled=draw(st.booleans()),
                is_local=name == "A" and draw(st.booleans()),
            )
        )
        channels += [
            Channel(
                name=f"TO.{name}.{number}",
                queue_manager=name,
                rank=draw(LEVELS),
                priority=draw(LEVELS),
                weight=draw(st.integers(1, 99)),
                netprty=draw(LEVELS),
                status=draw(st.sampled_from(Status)),
                suspended=draw(st.booleans()),
                last_used=draw(st.integers(0, 9)),
            )
            for number in range(draw(st.integers(0, 2)))
        ]
    return Situation(
        instances=tuple(instances),
        channels=tuple(channels),
        choosing=draw(st.sampled_from(["queue", "queue_manager"])),
        queue_local_use=draw(st.sampled_from(["LOCAL", "ANY", "QMGR"])),
        queue_manager_local_use=draw(st.sampled_from(["LOCAL", "ANY"])),
        came_over_cluster=draw(st.booleans()),
        most_channels=draw(st.integers(1, 4)),
    )


def both(situation: Situation) -> Sequence[Decision]:
    return [decide(situation, mode=mode) for mode in MODES]


@given(situations())
def test_decision_without_a_destination_states_a_failure(situation: Situation) -> None:
    for decision in both(situation):
        assert bool(decision.chosen) == (decision.failure is None)
        if decision.failure == "put_disabled":
            (put,) = [step for step in decision.steps if step.id == "put"]
            assert put.eliminated
            assert not any(item.candidate.instance.put_enabled for item in put.eliminated)
        if decision.failure == "no_destination":
            assert not decision.candidates


@given(situations())
def test_each_candidate_is_chosen_or_eliminated_once_with_a_reason(situation: Situation) -> None:
    for decision in both(situation):
        out = [item.candidate for step in decision.steps for item in step.eliminated]
        assert all(item.reason for step in decision.steps for item in step.eliminated)
        assert len(out) == len(set(out))
        assert set(out) | set(decision.chosen) == set(decision.candidates)
        assert not set(out) & set(decision.chosen)


@given(situations())
def test_decision_does_not_depend_on_the_order_of_the_displays(situation: Situation) -> None:
    turned = Situation(
        **{
            **{name: getattr(situation, name) for name in Situation.__slots__},
            "instances": situation.instances[::-1],
            "channels": situation.channels[::-1],
            "most_channels": 9,
        }
    )
    straight = Situation(
        **{**{name: getattr(situation, name) for name in Situation.__slots__}, "most_channels": 9}
    )
    for mode in MODES:
        assert set(decide(turned, mode=mode).chosen) == set(decide(straight, mode=mode).chosen)


@given(situations())
def test_chosen_instances_are_put_enabled(situation: Situation) -> None:
    for decision in both(situation):
        assert all(candidate.instance.put_enabled for candidate in decision.chosen)


@given(situations())
def test_additional_put_disabled_candidate_changes_nothing(situation: Situation) -> None:
    worse_instance = Instance(queue_manager="Z", put_enabled=False)
    worse = Situation(
        **{
            **{name: getattr(situation, name) for name in Situation.__slots__},
            "instances": (*situation.instances, worse_instance),
            "channels": (*situation.channels, Channel(name="TO.Z", queue_manager="Z")),
        }
    )
    assert set(decide(worse, mode="ibm").chosen) == set(decide(situation, mode="ibm").chosen)


@given(situations())
def test_different_results_of_the_two_orders_are_reported(situation: Situation) -> None:
    seed, ibm = both(situation)
    differs = (set(seed.chosen), seed.failure) != (set(ibm.chosen), ibm.failure)
    assert differs == ("CLUSTER_MODES_DIFFER" in {item.code for item in remarks(seed)})


@settings(max_examples=40)
@given(situations(), st.integers(0, 500))
def test_numbers_of_puts_and_shares_add_up_to_their_totals(situation: Situation, puts: int) -> None:
    decision = decide(situation)
    assert sum(spread(decision.chosen, puts=puts).values()) == (puts if decision.chosen else 0)
    assert sum(shares(decision.chosen).values()) == (1 if decision.chosen else 0)


def test_distribution_of_many_puts_matches_the_weights() -> None:
    situation = Situation(
        instances=tuple(Instance(queue_manager=name) for name in "ABC"),
        channels=tuple(
            Channel(name=f"TO.{name}", queue_manager=name, weight=weight)
            for name, weight in (("A", 50), ("B", 20), ("C", 10))
        ),
    )
    counts = {
        candidate.queue_manager: count
        for candidate, count in spread(decide(situation).chosen, puts=8000).items()
    }
    assert counts == {"A": 5000, "B": 2000, "C": 1000}


def test_clwlmruc_limits_the_channels_only_in_ibm_mode() -> None:
    situation = Situation(
        instances=tuple(Instance(queue_manager=name) for name in "ABC"),
        channels=tuple(
            Channel(name=f"TO.{name}", queue_manager=name, last_used=used)
            for name, used in (("A", 7), ("B", 9), ("C", 3))
        ),
        most_channels=2,
    )
    assert decide(situation, mode="ibm").queue_managers == ("A", "B")
    assert decide(situation, mode="seed").queue_managers == ("A", "B", "C")


def test_instances_are_joined_only_with_channels_of_their_cluster() -> None:
    situation = Situation(
        instances=(
            Instance(queue_manager="A", cluster="ALPHA"),
            Instance(queue_manager="B", cluster="BETA"),
            Instance(queue_manager="C", cluster="ALPHA"),
        ),
        channels=(
            Channel(name="ALPHA.A", queue_manager="A", cluster="ALPHA"),
            Channel(name="BETA.A", queue_manager="A", cluster="BETA"),
            Channel(name="BETA.B", queue_manager="B", cluster="BETA"),
        ),
        clusters=("ALPHA",),
    )
    decision = decide(situation)
    assert [candidate.label for candidate in decision.candidates] == ["A through ALPHA.A"]
    assert [item.what for item in decision.dropped] == [
        "instance on B",
        "instance on C",
        "channel BETA.A",
        "channel BETA.B",
    ]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("running", Status.RUNNING),
        ("INITIALIZI", Status.INITIALIZING),
        ("gone", None),
        ("", None),
        ("I", None),
    ],
)
def test_channel_state_is_read_from_a_display(text: str, status: Status | None) -> None:
    assert Status.read(text) == status


def test_channel_states_that_the_article_does_not_mention_are_reported() -> None:
    situation = Situation(
        instances=(Instance(queue_manager="A"), Instance(queue_manager="B")),
        channels=(
            Channel(name="TO.A", queue_manager="A", status=Status.BINDING),
            Channel(name="TO.B", queue_manager="B", status=Status.RETRYING),
        ),
    )
    assert [item.code for item in remarks(decide(situation))] == ["CLUSTER_STATE_ASSUMED"]
    assert [item.code for item in remarks(decide(situation, mode="ibm"))] == []


@pytest.mark.parametrize("mode", MODES)
def test_instance_without_a_channel_is_not_a_destination(mode: Mode) -> None:
    instances = (Instance(queue_manager="A"),)
    alone = decide(Situation(instances=instances), mode=mode)
    assert (alone.chosen, [item.code for item in remarks(alone)]) == ((), ["CLUSTER_NO_DESTINATION"])
    reached = decide(
        Situation(instances=instances, channels=(Channel(name="TO.A", queue_manager="A"),)), mode=mode
    )
    assert "CLUSTER_NO_DESTINATION" not in {item.code for item in remarks(reached)}


def test_distribution_of_many_puts_equals_that_of_single_puts() -> None:
    """Compare with a choice among all channels for each put: lowest factor, then longest unused, then first."""
    channels = tuple(
        Channel(name=f"C{n}", queue_manager=f"Q{n}", weight=weight, factor=factor, last_used=used)
        for n, (weight, factor, used) in enumerate(
            [(50, 0, 3), (25, 10, 1), (99, 0, 3), (7, 0, 0), (33, 60, 9)]
        )
    )
    instances = tuple(Instance(queue_manager=channel.queue_manager) for channel in channels)
    chosen = decide(Situation(instances=instances, channels=channels)).chosen
    rows = [[c.factor, c.last_used, place, c.weight, 0] for place, c in enumerate(channels)]
    for now in range(10, 510):
        picked = min(rows, key=lambda row: row[:3])
        picked[0] += 1000 // picked[3]
        picked[1] = now
        picked[4] += 1
    assert list(spread(chosen, puts=500).values()) == [row[4] for row in rows]


def test_put_disabled_instance_of_the_sender_is_reported() -> None:
    own = Instance(queue_manager="S", is_local=True, put_enabled=False)
    found = decide(
        Situation(
            instances=(own, Instance(queue_manager="A")),
            channels=(Channel(name="TO.A", queue_manager="A"),),
        )
    )
    assert found.steps[0].note == "The queue is PUT(DISABLED) at the sender."
    assert [item.code for item in remarks(found)] == []
