"""Structures of Db2 and others from policies and displays, as entries of a plan document."""

from __future__ import annotations

from typing import Any

import pytest

from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid
from planner_core.plan.evaluate import evaluate
from planner_core.running.from_running import plan_from
from planner_core.running.merge import merge
from planner_core.running.others import OtherStructuresFound, with_other_structures
from planner_core.running.state import read_running

POLICY = """\
DEFINE POLICY NAME(POLICY1)
  CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(0000000A1B2C) PARTITION(0F) CPCID(00)
  STRUCTURE NAME(DSNDB0A_LOCK1) SIZE(131072) INITSIZE(65536) PREFLIST(CF01,CF02)
  STRUCTURE NAME(DSNDB0A_SCA) SIZE(64M) PREFLIST(CF02,CF01) ENFORCEORDER(YES)
  STRUCTURE NAME(DSNDB0A_GBP0) SIZE(262144) INITSIZE(131072) PREFLIST(CF01,CF02) EXCLLIST(DSNDB0A_SCA)
            DUPLEX(ENABLED,CROSSSITE)
  STRUCTURE NAME(SQ03CSQ_ADMIN) SIZE(65536) INITSIZE(32768) PREFLIST(CF01,CF02)
  STRUCTURE NAME(SQ04APP1) SIZE(65536) INITSIZE(32768) PREFLIST(CF01,CF02)
"""
DISPLAY = """\
D XCF,STR,STRNAME=DSNDB0A_LOCK1
IXC360I  10.11.12  DISPLAY XCF
STRNAME: DSNDB0A_LOCK1
 STATUS: ALLOCATED
 POLICY INFORMATION:
  POLICY SIZE    : 128 M
  POLICY INITSIZE: 64 M
  PREFERENCE LIST: CF01 CF02
 ACTIVE STRUCTURE
 ----------------
  ALLOCATION TIME: 03/14/2026 09:12:44
  CFNAME         : CF01
  ACTUAL SIZE            : 96 M
"""
UNALLOCATED = """\
IXC360I  10.11.13  DISPLAY XCF
STRNAME: DSNDB0A_SCA
 STATUS: NOT ALLOCATED
 POLICY INFORMATION:
  POLICY SIZE    : 64 M
  PREFERENCE LIST: CF02 CF01
"""
NO_SIZE = """\
IXC360I  10.11.14  DISPLAY XCF
STRNAME: IXCLINKS
 STATUS: ALLOCATED
"""
PLAN: dict[str, Any] = {
    "qsg": "SQ03",
    "queue_managers": 2,
    "coupling_facilities": [{"name": "CF01", "size": "2G"}],
}


def found(*texts: str, **plan: Any) -> OtherStructuresFound:  # noqa: ANN401
    return with_other_structures({**PLAN, **plan}, read_running(texts))


def entries(*texts: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in found(*texts).document["other_structures"]}


def test_policy_gives_sizes_and_places_of_all_structures_of_others() -> None:
    assert entries(POLICY) == {
        "DSNDB0A_LOCK1": {
            "name": "DSNDB0A_LOCK1", "size": "128M", "initsize": "64M", "preflist": ["CF01", "CF02"],
        },
        "DSNDB0A_SCA": {
            "name": "DSNDB0A_SCA", "size": "64M", "preflist": ["CF02", "CF01"], "enforce_order": True,
        },
        "DSNDB0A_GBP0": {
            "name": "DSNDB0A_GBP0", "size": "256M", "initsize": "128M", "preflist": ["CF01", "CF02"],
            "exclist": ["DSNDB0A_SCA"], "duplex": "ENABLED", "duplex_site": "CROSSSITE",
        },
        "SQ04APP1": {"name": "SQ04APP1", "size": "64M", "initsize": "32M", "preflist": ["CF01", "CF02"]},
    }  # fmt: skip


def test_display_adds_the_current_size() -> None:
    assert entries(POLICY, DISPLAY)["DSNDB0A_LOCK1"]["allocated"] == "96M"
    assert entries(DISPLAY) == {
        "DSNDB0A_LOCK1": {
            "name": "DSNDB0A_LOCK1", "size": "128M", "initsize": "64M", "allocated": "96M", "preflist": ["CF01", "CF02"],
        }
    }  # fmt: skip


def test_structures_that_are_not_allocated_or_have_no_size_are_omitted_and_reported() -> None:
    answer = found(POLICY, UNALLOCATED, NO_SIZE)
    names = {each["name"] for each in answer.document["other_structures"]}
    assert names == {"DSNDB0A_LOCK1", "DSNDB0A_GBP0", "SQ04APP1"}
    said = [each.message for each in answer.findings if each.code == "OTHER_STRUCTURES_OMITTED"]
    assert [each.split(":")[0] for each in said] == ["DSNDB0A_SCA", "IXCLINKS"]
    assert "OTHER_STRUCTURES_OMITTED" not in {each.code for each in found(POLICY).findings}


def test_names_that_begin_with_that_of_the_group_are_not_lost() -> None:
    # The group DSND shares its four characters with the Db2 group.
    answer = found(POLICY, qsg="DSND")
    assert {"DSNDB0A_LOCK1", "DSNDB0A_SCA", "DSNDB0A_GBP0", "SQ03CSQ_ADMIN"} <= {
        each["name"] for each in answer.document["other_structures"]
    }


def test_structures_of_the_group_that_are_not_in_the_plan_are_reported() -> None:
    old = "  STRUCTURE NAME(SQ03OLD) SIZE(1G) PREFLIST(CF01)\n"
    said = [each.message for each in found(POLICY + old).findings if each.code == "OTHER_STRUCTURES_OMITTED"]
    assert [each.split(":")[0] for each in said] == ["SQ03OLD"]
    assert "their storage is not counted" in said[0]
    assert not found(POLICY + old, structures=[{"name": "OLD"}]).findings


def test_document_keeps_everything_else_and_loses_old_entries() -> None:
    old = [{"name": "OLD", "size": "1M"}]
    answer = found(DISPLAY, other_structures=old, cfcc_level=24)
    assert {key: value for key, value in answer.document.items() if key != "other_structures"} == {
        **PLAN,
        "cfcc_level": 24,
    }
    assert answer.structures == len(answer.plan.other_structures) == 1


def test_invalid_document_is_refused() -> None:
    with pytest.raises(DocumentInvalid):
        found(POLICY, queue_managers="many")


def test_plan_from_running_has_the_other_structures() -> None:
    made = plan_from(read_running([POLICY]), qsg="SQ03")
    assert [each.name for each in made.plan.other_structures] == [
        "DSNDB0A_LOCK1",
        "DSNDB0A_SCA",
        "DSNDB0A_GBP0",
        "SQ04APP1",
    ]


def test_merge_leaves_their_statements_as_they_are() -> None:
    answer = found(POLICY)
    structure = {
        "name": "APP1", "offload": {"dsgroup": "MQ.*.APP1"}, "preflist": ["CF01", "CF02"],
        "queues": [{"name": "Q1", "message_bytes": 1024, "backlog": 100, "persistent": True}],
    }  # fmt: skip
    document = read_object({**answer.document, "structures": [structure]})
    merged = merge(POLICY, evaluate(document))
    own = ("SQ03",)
    kept = [line for line in POLICY.splitlines() if "DSNDB0A" in line or "SQ04" in line]
    assert all(line in merged.policy.splitlines() for line in kept)
    assert all(each.structure.startswith(own) for each in merged.changes)
