"""The z/OSMF workflow of a merged policy has every statement of the merged text, under the new name."""

from __future__ import annotations

import pytest

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.running.merge import MergedPolicy, MergeRefused, merge
from planner_core.running.merged_workflow import merged_workflow
from planner_core.texts.cfrm.text import read_policy_text
from tests.planner_core.plans import varied
from tests.planner_core.texts.test_workflow import parsed, steps, words
from tests.planner_core.texts.workflow_schema import problems

CF = "TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(0000000A1B2C) PARTITION(0F) CPCID(00)"
POLICY = f"""\
//CFRM     JOB (ACCT),'CFRM'
//SYSIN    DD  *
 DATA TYPE(CFRM) REPORT(YES)
 DEFINE POLICY NAME(PROD01) REPLACE(YES)
   CF NAME(CF01) {CF} /* the first one */
   CF NAME(CF02) {CF.replace("A1B2C", "D3E4F")}
   STRUCTURE NAME(DSNDB0P_LOCK1) SIZE(1G) INITSIZE(131072) PREFLIST(CF02,
      CF01) REBUILDPERCENT(5) EXCLLIST(DSNDB0P_SCA) FUTUREWORD(A,B)
/*
"""
NEW = "P$#@_2"


@pytest.fixture(scope="module")
def result() -> PlanResult:
    return evaluate(read_object(varied()))


def merged(result: PlanResult, policy: str = POLICY) -> MergedPolicy:
    return merge(policy, result)


def test_job_defines_every_statement_of_the_merged_policy(result: PlanResult) -> None:
    found = merged(result)
    root = parsed(merged_workflow(result, found, NEW))
    assert problems(root) == []
    jcl = steps(root)[1].findtext("template/inlineTemplate") or ""
    assert jcl.startswith("//DEFINE   EXEC PGM=IXCMIAPU")
    assert max(map(len, jcl.splitlines())) <= 71
    assert f" DEFINE POLICY NAME({NEW}) REPLACE(NO)\n" in jcl
    assert "PROD01" not in jcl
    of_text, of_job = (
        sorted(
            (each.verb, *sorted((item.keyword, item.values) for item in each.parameters))
            for each in read_policy_text(text).statements
            if each.verb in {"CF", "STRUCTURE"}
        )
        for text in (found.policy, jcl)
    )
    assert of_text == of_job
    assert "FUTUREWORD(A,B)" in jcl
    definition = words(steps(root)[1])
    assert "Check that PROD01 is still active" in definition
    assert "D XCF,POLICY,TYPE=CFRM" in definition
    activation = words(steps(root)[2])
    assert f"SETXCF START,POLICY,TYPE=CFRM,POLNAME={NEW}" in activation
    assert "policy-name" not in activation


@pytest.mark.parametrize(
    ("old", "new", "name", "told"),
    [
        ("", "", "PROD01", "PROD01 is the name of the current policy"),
        ("", "", "prod2", "a CFRM policy name has 1 to 8 characters"),
        (" DEFINE POLICY NAME(PROD01) REPLACE(YES)\n", "", NEW, "with DEFINE POLICY and no other policy"),
        (" NAME(PROD01) REPLACE", " REPLACE", NEW, "has no name that can be read"),
        ("/*\n", " DELETE POLICY NAME(OLD)\n/*\n", NEW, "with DEFINE POLICY and no other policy"),
        ("   CF NAME(CF01)", "   WHAT IS THIS\n   CF NAME(CF01)", NEW, "is not a statement"),
    ],
)
def test_text_that_is_not_one_complete_policy_is_refused(
    result: PlanResult, old: str, new: str, name: str, told: str
) -> None:
    assert old in POLICY
    found = merged(result, POLICY.replace(old, new, 1) if old else POLICY)
    with pytest.raises(MergeRefused, match=told):
        merged_workflow(result, found, name)


@pytest.mark.parametrize("word", ["\x01", "\udcfc", "\u00fc", "A\x85B", "\u2028", "'A B'", '"A,B"'])
def test_words_that_a_workflow_would_change_are_refused(result: PlanResult, word: str) -> None:
    found = merged(result, POLICY.replace("FUTUREWORD(A,B)", f"FUTUREWORD({word},C)"))
    assert word in found.policy
    with pytest.raises(MergeRefused, match="Line 8 of the merged policy has"):
        merged_workflow(result, found, NEW)


def test_bytes_of_comments_are_left_out(result: PlanResult) -> None:
    found = merged(result, POLICY.replace("the first one", "\x01\udcfc 'a b'"))
    assert problems(parsed(merged_workflow(result, found, NEW))) == []


def test_merged_policy_with_errors_is_refused(result: PlanResult) -> None:
    found = merge(
        POLICY.replace("/*\n", "   STRUCTURE NAME(SQ03APP1) SIZE(8G) MINSIZE(8G) PREFLIST(CF01)\n/*\n"),
        result,
    )
    assert [each.severity for each in found.findings].count("error")
    with pytest.raises(MergeRefused, match="has errors"):
        merged_workflow(result, found, NEW)
