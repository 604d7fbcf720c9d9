"""Differences between documents, and between results."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_core.document.compare import differences
from tests.planner_core.plans import BASE, plan

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["name", "code", "a", "b/c", "~"]), inner, max_size=3),
    ),
    max_leaves=12,
)


def test_pointer_of_a_difference_names_structure_and_queue() -> None:
    before, after = (
        plan().model_dump(mode="json"),
        plan(structures__0__queues__0__backlog=5).model_dump(mode="json"),
    )

    (found,) = differences(before, after)

    assert found.as_json() == {
        "pointer": "/structures/APP1/queues/Q1/backlog",
        "kind": "changed",
        "before": 100000,
        "after": 5,
    }


def test_queue_moved_within_its_list_is_not_a_difference() -> None:
    document: Any = copy.deepcopy(BASE)
    document["structures"][0]["queues"].append({"name": "Q2", "message_bytes": 1, "backlog": 1})
    turned = copy.deepcopy(document)
    turned["structures"][0]["queues"].reverse()

    assert differences(document, turned) == ()


def test_added_and_removed_queues_are_distinguished() -> None:
    document: Any = copy.deepcopy(BASE)
    document["structures"][0]["queues"][0]["name"] = "Q9"

    found = {(item.kind, item.pointer) for item in differences(BASE, document)}

    assert found == {("removed", "/structures/APP1/queues/Q1"), ("added", "/structures/APP1/queues/Q9")}


def test_list_of_plain_values_is_compared_as_one_value() -> None:
    (found,) = differences({"preflist": ["CF01", "CF02"]}, {"preflist": ["CF02", "CF01"]})

    assert (found.pointer, found.before) == ("/preflist", ["CF01", "CF02"])


def test_values_of_different_types_differ() -> None:
    assert len(differences({"a": 1}, {"a": True})) == 1


@given(json_values)
def test_equal_values_have_no_differences(value: object) -> None:
    assert differences(value, copy.deepcopy(value)) == ()


@given(json_values, json_values)
def test_number_of_differences_is_the_same_in_both_directions(before: object, after: object) -> None:
    there, back = differences(before, after), differences(after, before)

    assert len(there) == len(back)
    assert {item.pointer for item in there} == {item.pointer for item in back}
