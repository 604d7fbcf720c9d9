"""Attributes for applications: SHARE, DEFSOPT, INDXTYPE, MAXMSGL, BOTHRESH and BOQNAME, in plans, tables and displays."""

from __future__ import annotations

from typing import Any

import pytest

from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid
from planner_core.plan.evaluate import evaluate
from planner_core.running.from_running import plan_from
from planner_core.running.lint_mqsc import lint_mqsc
from planner_core.running.state import read_running
from planner_core.texts.outputs import render_output
from planner_core.texts.queue_paste import read_queues
from tests.planner_core.plans import varied

AT = "structures__0__queues__0__"
CODES = {"MESSAGES_ABOVE_MAXMSGL", "QUEUE_WITHOUT_SHARE", "CFCONLOS_NEEDS_CFLEVEL_5"}


def findings(**paths: Any) -> list[tuple[str, str, str | None]]:  # noqa: ANN401
    found = evaluate(read_object(varied(**paths))).findings
    return [(each.code, each.severity, each.field) for each in found if each.code in CODES]


@pytest.mark.parametrize(
    ("message_bytes", "length", "is_found"),
    [
        (1024, 1024, False),
        (1025, 1024, True),
        ({"mean": 900, "p95": 1000, "max": 1024}, 1024, False),
        ({"mean": 900, "p95": 1000, "max": 1025}, 1024, True),
        (5_000_000, None, False),
    ],
)
def test_messages_above_maxmsgl_are_errors(message_bytes: Any, length: int | None, is_found: bool) -> None:  # noqa: ANN401
    changes = {AT + "message_bytes": message_bytes}
    if length is not None:
        changes[AT + "max_message_length"] = length
    expected = [("MESSAGES_ABOVE_MAXMSGL", "error", "/structures/0/queues/0/max_message_length")]
    assert findings(**changes) == (expected if is_found else [])


def test_queue_without_share_is_noted() -> None:
    assert findings() == []
    assert findings(**{AT + "share": False}) == [
        ("QUEUE_WITHOUT_SHARE", "info", "/structures/0/queues/0/share")
    ]


def test_cfconlos_below_cflevel_5_has_no_effect() -> None:
    changes = {"structures__0__cflevel": 4, "structures__0__offload": {}}
    assert findings(**changes) == []
    assert findings(**changes, structures__0__cfconlos="TOLERATE") == [
        ("CFCONLOS_NEEDS_CFLEVEL_5", "warning", "/structures/0/cfconlos")
    ]


def test_msgtoken_is_refused_for_shared_queues() -> None:
    with pytest.raises(DocumentInvalid):
        read_object(varied(**{AT + "index_type": "MSGTOKEN"}))
    found, _ = lint_mqsc(
        "DEFINE QLOCAL(Q1) QSGDISP(SHARED) CFSTRUCT(APP1) SHARE DEFSOPT(SHARED) INDXTYPE(MSGTOKEN)\n"
    )
    assert [each.code for each in found] == ["MQSC_VALUE_INVALID"]


DISPLAY = """\
QUEUE(Q1) TYPE(QLOCAL) QSGDISP(SHARED) CFSTRUCT(APP1) DEFPSIST(YES) MAXDEPTH(5000)
{words}
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("SHARE DEFSOPT(SHARED) INDXTYPE(NONE) MAXMSGL(4194304) BOTHRESH(0) BOQNAME( )", {}),
        ("NOSHARE DEFSOPT(EXCL)", {"share": False}),
        ("SHARE DEFSOPT(EXCL)", {"default_share_option": "EXCL"}),
        (
            "SHARE\nDEFSOPT(SHARED)\nINDXTYPE(CORRELID)\nMAXMSGL(1000)\nBOTHRESH(3)\nBOQNAME(Q1.BACKOUT)",
            {
                "index_type": "CORRELID",
                "max_message_length": 1000,
                "backout_threshold": 3,
                "backout_queue": "Q1.BACKOUT",
            },
        ),
        ("MAXMSGL(999999999) BOTHRESH(x) BOQNAME(A B) INDXTYPE(MSGTOKEN)", {}),
    ],
)
def test_queue_usage_attributes_are_read_from_a_display(words: str, expected: dict[str, Any]) -> None:
    text = DISPLAY.format(words=words)
    (pasted,) = read_queues(text).queues
    base = {"name": "Q1", "backlog": 5000, "persistent": True}
    assert {key: value for key, value in pasted.items() if key != "maxdepth"} == {**base, **expected}
    made = plan_from(read_running([text, "CFSTRUCT(APP1)\nCFLEVEL(5)\n"]), qsg="SQ03", message_bytes=100)
    (queue,) = made.document["structures"][0]["queues"]
    assert queue == {**base, "message_bytes": 100, **expected}


def test_queue_usage_attributes_are_read_from_a_table() -> None:
    heading = "name,message bytes,backlog,share,defsopt,indxtype,maxmsgl,bothresh,boqname"
    (queue,) = read_queues(f"{heading}\nQ1,100,5,no,shared,msgid,4K,3,q.Backout\n").queues
    assert queue == {
        "name": "Q1", "message_bytes": 100, "backlog": 5, "share": False, "default_share_option": "SHARED",
        "index_type": "MSGID", "max_message_length": 4096, "backout_threshold": 3, "backout_queue": "q.Backout",
    }  # fmt: skip


def test_loss_attributes_are_read_from_displayed_structures() -> None:
    text = "CFSTRUCT(APP1)\nCFLEVEL(5)\nCFCONLOS(TOLERATE)\nRECAUTO(NO)\nDSEXPAND(NO)\n"
    made = plan_from(read_running([text]), qsg="SQ03").document["structures"][0]
    assert (made["cfconlos"], made["recauto"], made["offload"]["dsexpand"]) == ("TOLERATE", False, False)


def test_document_without_usage_attributes_has_the_defaults_of_define() -> None:
    plan = read_object(varied())
    structure = plan.structures[0]
    assert (plan.cfconlos, structure.cfconlos, structure.recauto) == (None, "ASQMGR", True)
    assert structure.offload.dsexpand
    queue = structure.queues[0]
    assert queue.share
    assert {getattr(queue, key) for key in ("default_share_option", "index_type", "max_message_length")} == {
        None
    }


def test_runbook_lists_queues_with_noshare() -> None:
    command = "ALTER QLOCAL(Q1) QSGDISP(SHARED) SHARE DEFSOPT(SHARED)"
    assert command not in render_output("runbook", evaluate(read_object(varied()))).text
    assert command in render_output("runbook", evaluate(read_object(varied(**{AT + "share": False})))).text
