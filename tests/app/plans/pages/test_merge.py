"""Comparison and merge of two changes to one document."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.plans.editor.merge import conflict_rows, merged
from tests.app.plans.pages.test_form import queues

Json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def plan(**changed: int) -> dict[str, object]:
    """Return a document with changed backlogs of some queues; a negative one removes the queue."""
    dumped = queues(3).model_dump(mode="json")
    kept = []
    for queue in dumped["structures"][0]["queues"]:
        backlog = changed.get(queue["name"].replace(".", "_"), queue["backlog"])
        if backlog >= 0:
            kept.append({**queue, "backlog": backlog})
    dumped["structures"][0]["queues"] = kept
    return dumped


def test_merge_keeps_changes_to_different_queues() -> None:
    assert merged(plan(), plan(Q_0=70), plan(Q_2=80)) == plan(Q_0=70, Q_2=80)


def test_merge_keeps_my_value_if_both_editors_changed_it() -> None:
    assert merged(plan(), plan(Q_0=70), plan(Q_0=80)) == plan(Q_0=80)


def test_merge_removes_a_queue_that_one_editor_removed_and_the_other_left_unchanged() -> None:
    assert merged(plan(), plan(Q_1=-1), plan(Q_0=5)) == plan(Q_0=5, Q_1=-1)
    assert merged(plan(), plan(Q_0=5), plan(Q_1=-1)) == plan(Q_0=5, Q_1=-1)


def test_merge_keeps_a_queue_that_one_editor_removed_and_the_other_changed() -> None:
    names = [
        [queue["name"] for queue in both["structures"][0]["queues"]]
        for both in (
            merged(plan(), plan(Q_1=-1), plan(Q_1=9)),
            merged(plan(), plan(Q_1=9), plan(Q_1=-1)),
        )
    ]
    assert [sorted(each) for each in names] == [["Q.0", "Q.1", "Q.2"]] * 2


def test_values_that_both_editors_changed_differently_are_marked() -> None:
    rows = {row.pointer: row for row in conflict_rows(plan(), plan(Q_0=70, Q_1=5), plan(Q_0=80, Q_1=5))}
    assert rows["/structures/APP/queues/Q.0/backlog"].is_both
    assert not rows["/structures/APP/queues/Q.1/backlog"].is_both
    assert rows["/structures/APP/queues/Q.0/backlog"].place == "Structure APP, queue Q.0: Backlog"
    row = rows["/structures/APP/queues/Q.0/backlog"]
    assert (row.base, row.theirs, row.yours) == (0, 70, 80)


@given(Json, Json)
def test_merge_applies_changes_made_by_only_one_editor(base: object, changed: object) -> None:
    assert merged(base, changed, base) == changed
    assert merged(base, base, changed) == changed
    assert merged(base, changed, changed) == changed
