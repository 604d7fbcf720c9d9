"""A plan made from the running system has all displayed values, changes nothing, and reports omissions."""

from __future__ import annotations

from typing import Any

from planner_core.plan.evaluate import evaluate
from planner_core.running.compare import compare
from planner_core.running.from_running import PlanFromRunning, plan_from
from planner_core.running.merge import merge
from planner_core.running.state import read_running

POLICY = """\
  DATA TYPE(CFRM) REPORT(YES)
  DEFINE POLICY NAME(POL1) REPLACE(YES)
    CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(0000000A1B2C)
       PARTITION(0F) CPCID(00) DUMPSPACE(98M) SITE(SITE1)
    CF NAME(CF02) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(0000000A1B2D)
       PARTITION(0F) CPCID(00) SITE(SITE2)
    STRUCTURE NAME(SQ03CSQ_ADMIN) SIZE(40M) INITSIZE(30M) PREFLIST(CF01,CF02)
       ENFORCEORDER(YES)
    STRUCTURE NAME(SQ03APP1) SIZE(1G) INITSIZE(700M) PREFLIST(CF02,CF01)
       DUPLEX(ENABLED,CROSSSITE) SCMMAXSIZE(4G) SCMALGORITHM(KEYPRIORITY1)
       ENFORCEORDER(YES)
"""
CFSTRUCT = """\
CSQM201I +QM01 CSQMDRTC  DISPLAY CFSTRUCT DETAILS
CFSTRUCT(APP1)
CFLEVEL(5)
RECOVER(YES)
OFFLOAD(SMDS)
OFFLD1TH(70)
OFFLD1SZ(64K)
OFFLD2TH(80)
OFFLD2SZ(4K)
OFFLD3TH(90)
OFFLD3SZ(0K)
DSGROUP(MQ.SMDS.*.APP1)
DSBLOCK(512K)
DSBUFS(200)
END CFSTRUCT DETAILS
"""
QUEUES = """\
CSQM201I +QM01 CSQMDRTC  DISPLAY QLOCAL DETAILS
QUEUE(PAY.IN)
TYPE(QLOCAL)
QSGDISP(SHARED)
CFSTRUCT(APP1)
MAXDEPTH(200000)
DEFPSIST(YES)
END QLOCAL DETAILS
"""
ACTIVE = """\
IXC360I  10.21.33  DISPLAY XCF 812
STRNAME: SQ03APP1
 STATUS: ALLOCATED
 POLICY INFORMATION:
  POLICY SIZE    : 1 G
  POLICY INITSIZE: 700 M
  FULLTHRESHOLD  : 80
  ALLOWAUTOALT   : NO
  DUPLEX         : ENABLED CROSSSITE
  PREFERENCE LIST: CF02     CF01
  ENFORCEORDER   : {order}
"""


def plan_from_texts(*texts: str, **keys: int) -> PlanFromRunning:
    return plan_from(read_running(texts), qsg="SQ03", **keys)


def structure(*texts: str, **keys: int) -> dict[str, Any]:
    (found,) = plan_from_texts(*texts, **keys).document["structures"]
    return dict(found)


def finding_messages(plan: PlanFromRunning) -> list[str]:
    return [each.message for each in plan.findings]


def test_enforceorder_duplex_site_and_storage_class_memory_are_read_from_a_policy() -> None:
    found = structure(POLICY, CFSTRUCT)
    assert found["enforce_order"] is True
    assert (found["duplex"], found["duplex_site"]) == ("ENABLED", "CROSSSITE")
    assert found["scm"] == {"max_size": "4G"}
    document = plan_from_texts(POLICY).document
    assert document["admin"]["enforce_order"] is True
    assert [each.get("dumpspace") for each in document["coupling_facilities"]] == ["98M", None]


def test_displayed_enforceorder_takes_precedence_over_the_policy_text() -> None:
    assert structure(ACTIVE.format(order="YES"))["enforce_order"] is True
    assert structure(ACTIVE.format(order="YES"))["duplex_site"] == "CROSSSITE"
    assert "enforce_order" not in structure(POLICY, ACTIVE.format(order="NO"))


def test_rule_that_is_off_keeps_the_numbers_of_later_rules() -> None:
    rules = structure(POLICY, CFSTRUCT)["offload"]["rules"]
    assert [(each["usage_over"], each["size_over"]) for each in rules] == [
        (70, "64K"),
        (80, "4K"),
        (90, "0K"),
    ]
    last_off = CFSTRUCT.replace("OFFLD1SZ(64K)", "OFFLD1SZ(32K)").replace("OFFLD3SZ(0K)", "OFFLD3SZ(64K)")
    rules = structure(POLICY, last_off)["offload"]["rules"]
    assert [(each["usage_over"], each["size_over"]) for each in rules] == [(70, "32K"), (80, "4K")]


def test_unedited_plan_from_running_changes_nothing() -> None:
    texts = (POLICY, CFSTRUCT, QUEUES)
    plan = plan_from_texts(*texts, queue_managers=2, message_bytes=2000)
    result = evaluate(plan.plan)
    assert [step.command for step in compare(result, read_running(texts)).commands] == []
    assert merge(POLICY, result).policy == POLICY


def test_display_qlocal_is_read_like_display_queue() -> None:
    (queue,) = structure(POLICY, QUEUES, message_bytes=2000)["queues"]
    assert queue == {"name": "PAY.IN", "message_bytes": 2000, "backlog": 200_000, "persistent": True}
    assert read_running([QUEUES]).queues.keys() == {"PAY.IN"}


def test_queues_of_an_unknown_structure_are_reported() -> None:
    elsewhere = QUEUES.replace("CFSTRUCT(APP1)", "CFSTRUCT(APP9)")
    plan = plan_from_texts(POLICY, CFSTRUCT, elsewhere, message_bytes=2000)
    assert "PAY.IN is on APP9, which no text describes: omitted." in finding_messages(plan)
    both = elsewhere + elsewhere.replace("PAY.IN", "PAY.OUT")
    plan = plan_from_texts(POLICY, CFSTRUCT, both, message_bytes=2000)
    assert "PAY.IN and 1 more queues are on APP9, which no text describes: omitted." in finding_messages(plan)
    system = QUEUES.replace("CFSTRUCT(APP1)", "CFSTRUCT(CSQSYSAPPL)")
    assert not [
        each for each in finding_messages(plan_from_texts(POLICY, CFSTRUCT, system)) if "CSQSYSAPPL" in each
    ]


def test_structure_without_its_cfstruct_is_reported() -> None:
    (said,) = (each for each in finding_messages(plan_from_texts(POLICY)) if "CFSTRUCT" in each)
    assert said.startswith("No CFSTRUCT(APP1) was provided: CFLEVEL, RECOVER and the offload rules")
    assert not [each for each in finding_messages(plan_from_texts(POLICY, CFSTRUCT)) if "No CFSTRUCT" in each]


def test_number_of_queue_managers_that_differs_from_the_group_is_reported() -> None:
    group = "DISPLAY GROUP\nQM01  1 ACTIVE\nQM02  2 ACTIVE\n"
    assert "DISPLAY GROUP lists 2 queue managers, not 5: the listed ones are used." in finding_messages(
        plan_from_texts(POLICY, group, queue_managers=5)
    )
    assert not [
        each
        for each in finding_messages(plan_from_texts(POLICY, group, queue_managers=2))
        if "GROUP lists" in each
    ]


def test_display_without_data_sets_keeps_default_dsblock_and_dsbufs() -> None:
    """A structure that offloads to Db2 is displayed with DSBLOCK(NONE) and DSBUFS(0)."""
    found = structure(
        "CFSTRUCT(APP1)\nCFLEVEL(5)\nRECOVER(YES)\nOFFLOAD(DB2)\nOFFLD1SZ(64K)\nOFFLD1TH(70)\nOFFLD2SZ(64K)\nOFFLD2TH(80)\n"
        "OFFLD3SZ(64K)\nOFFLD3TH(90)\nDSGROUP( )\nDSBLOCK(NONE)\nDSBUFS(0)\nDSEXPAND(YES)\nEND CFSTRUCT DETAILS\n"
    )
    assert found["offload"]["to"] == "DB2"
    assert {"dsblock", "dsbufs", "dsgroup"}.isdisjoint(found["offload"])
