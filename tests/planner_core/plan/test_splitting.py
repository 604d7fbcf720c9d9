"""Advice to move queues to structures of their own."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import PlanRefused
from planner_core.plan.evaluate import evaluate
from planner_core.plan.splitting import advise, gains
from tests.planner_core.plans import documents, varied


def queue(name: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": name, "message_bytes": 1024, "backlog": 100, "persistent": True, **given}


def proposed(*queues: dict[str, Any], **more: Any) -> tuple[PlanDocument, dict[str, tuple[str, str]]]:  # noqa: ANN401
    """Return the proposed document, and the structure and reason for each moved queue."""
    advice = advise(read_object(varied(structures__0__queues=list(queues), **more)))
    return advice.document, {move.queue: (move.to_structure, move.reason) for move in advice.moves}


def test_plan_without_a_reason_to_split_is_unchanged() -> None:
    document = read_object(varied(structures__0__queues=[queue("A"), queue("B")]))

    advice = advise(document)

    assert advice.document is document
    assert advice.moves == ()


def test_nonpersistent_queues_are_moved_away_from_persistent_ones() -> None:
    document, moves = proposed(queue("A"), queue("B"), queue("C", persistent=False))

    assert moves["C"][0] == "APP12"
    assert "nonpersistent" in moves["C"][1]
    assert set(moves) == {"C"}
    assert [[q.name for q in s.queues] for s in document.structures] == [["A", "B"], ["C"]]


def test_queue_read_by_selectors_gets_its_own_structure() -> None:
    _, moves = proposed(queue("A"), queue("B"), queue("C", selector_reads=True))

    assert "selectors" in moves["C"][1]


def test_queues_with_isolation_labels_get_their_own_structures() -> None:
    document, moves = proposed(queue("A", isolation="PCI"), queue("B"), queue("C", isolation="HR"))

    assert set(moves) == {"A", "C"}
    assert len({s.name for s in document.structures for q in s.queues}) == 3
    assert "DATA_NOT_ISOLATED" not in {
        f.code for f in evaluate(document).findings if f.field and f.field.endswith("/queues")
    }


def test_queue_that_fills_most_of_its_structure_is_moved() -> None:
    _, moves = proposed(queue("A"), queue("B"), queue("BIG", backlog=10_000))

    assert "most of its structure" in moves["BIG"][1]


def test_share_of_a_queue_of_small_messages_is_measured_in_entries() -> None:
    # 100 bytes take 2 of the 6 elements of an entry: by elements alone, SMALL would be a third of the structure.
    _, moves = proposed(queue("A"), queue("B"), queue("SMALL", message_bytes=100, backlog=300))

    assert set(moves) == {"SMALL"}
    assert "most of its structure" in moves["SMALL"][1]


def test_queue_that_needs_most_of_a_coupling_facility_is_moved() -> None:
    _, moves = proposed(
        queue("A", backlog=600_000),
        queue("B", backlog=600_000),
        queue("C", backlog=600_000),
        coupling_facilities=[{"name": "CF01", "size": "2G"}, {"name": "CF02", "size": "2G"}],
    )

    assert any("half of a coupling facility" in reason for _, reason in moves.values())


def test_queues_beyond_the_limit_of_a_structure_are_moved() -> None:
    document, moves = proposed(*(queue(f"Q{n}") for n in range(1300)))

    assert [len(structure.queues) for structure in document.structures] == [512, 512, 276]
    assert len(moves) == 788
    evaluate(document)


def test_changed_structure_loses_given_sizes_and_rotates_its_preflist() -> None:
    document, _ = proposed(
        queue("A"), queue("C", persistent=False), structures__0__initsize="1G", structures__0__size="2G"
    )

    assert [(s.initsize, s.size, s.preflist) for s in document.structures] == [
        (None, None, ["CF01", "CF02"]),
        (None, None, ["CF02", "CF01"]),
    ]
    assert document.structures[1].offload.dsgroup == "MQ.SMDS.*.APP12"


def test_gains_report_the_storage_before_and_after_a_split() -> None:
    document = read_object(varied(structures__0__queues=[queue("A"), queue("C", persistent=False)]))

    before, after = gains(document, advise(document))

    assert before < after  # a second base of 22 MiB


@settings(max_examples=60, deadline=None)
@given(documents())
def test_proposal_is_valid_and_keeps_every_queue_once(document: dict[str, Any]) -> None:
    plan = read_object(document)

    advice = advise(plan)

    before = sorted(q.model_dump_json() for s in plan.structures for q in s.queues)
    after = sorted(q.model_dump_json() for s in advice.document.structures for q in s.queues)
    assert before == after
    again = read_object(advice.document.model_dump(mode="json"))
    try:
        evaluate(again)
    except PlanRefused:
        evaluate(plan)  # refused the same
        raise
    assert {move.queue for move in advice.moves} == {
        q.name
        for s in advice.document.structures
        for q in s.queues
        if s.name not in {t.name for t in plan.structures}
    }
