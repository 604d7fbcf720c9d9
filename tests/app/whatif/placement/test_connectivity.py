"""Queue managers that end after a loss (CFCONLOS), and structures that recover without an operator (RECAUTO)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import main
from app.texts.yaml_text import yaml_text
from planner_core.whatif.loss import Loss, LossAnswer, losses_of
from tests.planner_core.whatif.placement.scenes import Json, cf, document, result, structure

TWO = [cf("CF01"), cf("CF02")]
IN_CF02 = ["CF02", "CF01"]


def answer(structures: list[Json], **more: object) -> LossAnswer:
    return losses_of([("SQ03", result(TWO, structures, **more))])


def loss(found: LossAnswer, name: str) -> Loss:
    (one,) = [each for each in found.losses if each.name == name]
    return one


def ending_structures(found: LossAnswer, name: str) -> list[tuple[str, ...]]:
    return [each.structures for each in loss(found, name).endings]


@pytest.mark.parametrize(
    ("of_queue_managers", "of_structure", "level", "ends"),
    [
        (None, "ASQMGR", 5, True),
        ("TERMINATE", "ASQMGR", 5, True),
        ("TOLERATE", "ASQMGR", 5, False),
        ("TOLERATE", "TERMINATE", 5, True),
        ("TERMINATE", "TOLERATE", 5, False),
        (None, "TOLERATE", 5, False),
        ("TOLERATE", "ASQMGR", 4, True),  # CFCONLOS needs CFLEVEL(5): without it queue managers end
        ("TOLERATE", "TOLERATE", 4, True),
    ],
)
def test_cfconlos_asqmgr_of_a_structure_defers_to_the_queue_managers(
    of_queue_managers: str | None, of_structure: str, level: int, *, ends: bool
) -> None:
    one = structure("A", preflist=IN_CF02, cfconlos=of_structure, cflevel=level)
    found = answer([one], **({"cfconlos": of_queue_managers} if of_queue_managers else {}))
    assert ending_structures(found, "CF02") == ([("SQ03A",)] if ends else [])


@pytest.mark.parametrize(
    ("of_queue_managers", "ends"), [(None, True), ("TERMINATE", True), ("TOLERATE", False)]
)
def test_cfconlos_of_the_queue_managers_decides_for_csq_admin(
    of_queue_managers: str | None, *, ends: bool
) -> None:
    found = answer([], **({"cfconlos": of_queue_managers} if of_queue_managers else {}))
    assert ending_structures(found, "CF01") == ([("SQ03CSQ_ADMIN",)] if ends else [])
    assert ending_structures(found, "CF02") == []


def test_loss_of_one_copy_of_a_duplexed_structure_ends_no_queue_manager() -> None:
    one = structure("A", preflist=IN_CF02, duplex="ENABLED", cfconlos="TERMINATE")
    assert ending_structures(answer([one], cfconlos="TOLERATE"), "CF02") == []


def test_ending_queue_managers_are_listed_by_group_and_marked_if_assumed() -> None:
    found = answer([], queue_managers=["QM01", "QM02"])
    ending = {
        "plan": "SQ03",
        "qsg": "SQ03",
        "count": 2,
        "names": ["QM01", "QM02"],
        "because_of": ["SQ03CSQ_ADMIN"],
        "is_assumed": True,
        "what_happens": (
            "All 2 queue managers of SQ03 end on losing SQ03CSQ_ADMIN. The plan does not state CFCONLOS of the queue managers: TERMINATE is assumed."
        ),
    }
    assert loss(found, "CF01").as_json()["queue_managers_end"] == [ending]
    (stated,) = loss(answer([], cfconlos="TERMINATE"), "CF01").endings
    assert not stated.is_assumed


def codes(found: LossAnswer) -> list[str]:
    return [each.code for each in found.findings if "CFCONLOS" in each.code or "ENDS" in each.code]


def test_stated_terminate_is_a_warning_and_assumed_terminate_a_note() -> None:
    assert codes(answer([])) == ["QMGR_CFCONLOS_NOT_STATED"]
    assert codes(answer([], cfconlos="TOLERATE")) == []
    assert codes(answer([], cfconlos="TERMINATE")) == ["LOSS_ENDS_QUEUE_MANAGERS"]
    assert "LOSS_ENDS_QUEUE_MANAGERS" in codes(
        answer([structure("A", preflist=IN_CF02, cfconlos="TERMINATE")])
    )


@pytest.mark.parametrize(
    ("given", "by_itself", "words"),
    [
        ({}, True, "MQ has recovered A automatically (RECAUTO(YES))"),
        ({"recauto": False}, False, "an operator issues RECOVER CFSTRUCT(A)"),
        ({"cflevel": 4}, False, "an operator issues RECOVER CFSTRUCT(A)"),
        ({"recover": False}, False, "all its messages are lost"),
    ],
)
def test_recauto_with_recover_and_cflevel_5_recovers_without_an_operator(
    given: Json, words: str, *, by_itself: bool
) -> None:
    queues = [{"name": "Q1", "message_bytes": 1024, "backlog": 1000, "persistent": False}]
    found = answer([structure("A", preflist=IN_CF02, **given) | {"queues": queues}])
    (lost,) = [each for each in loss(found, "CF02").lost if each.wanted.result.name == "A"]
    assert lost.recovers_by_itself is by_itself
    assert words in lost.words


def test_cf_loss_table_lists_ending_queue_managers_and_recovery(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml_text(document(TWO, [structure("A")], cfconlos="TERMINATE")), encoding="utf-8")
    main(["whatif", "cf-loss", str(plan)])
    shown = capsys.readouterr().out
    assert "  All 2 queue managers of SQ03 end on losing SQ03CSQ_ADMIN, SQ03A.\n" in shown
    assert "  Recover without an operator: SQ03CSQ_ADMIN, SQ03A.\n" in shown


@pytest.mark.parametrize(
    ("of_queue_managers", "ends"), [(None, True), ("TERMINATE", True), ("TOLERATE", False)]
)
def test_csqsysappl_is_assumed_to_be_asqmgr_and_recoverable(
    of_queue_managers: str | None, *, ends: bool
) -> None:
    more = {"cfconlos": of_queue_managers} if of_queue_managers else {}
    found = answer([], system={"initsize": "100M", "size": "100M", "preflist": IN_CF02}, **more)
    assert ending_structures(found, "CF02") == ([("SQ03CSQSYSAPPL",)] if ends else [])
    assert all(each.is_assumed for each in loss(found, "CF02").endings)
    (lost,) = [each for each in loss(found, "CF02").lost if each.wanted.result.role == "system"]
    assert lost.recovers_by_itself is None
    assert "RECOVER(YES) is assumed" in lost.words
    assert "RECOVER CFSTRUCT(CSQSYSAPPL)" in lost.words
