"""The rendered policy: every keyword, in upper case, in columns 2 to 71, with user input only in its field."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.texts.cfrm.render import (
    LAST_COLUMN,
    fragment,
    job,
    policy_bytes,
    policy_size,
    structure_lines,
)
from planner_core.units import parse_size
from tests.planner_core.plans import job_plan, policy_documents, varied

K, M = 1024, 1024**2


def rendered(**paths: Any) -> str:  # noqa: ANN401
    return fragment(evaluate(read_object(varied(**paths))))


def statement(name: str, **paths: Any) -> str:  # noqa: ANN401
    """Return the lines of one structure without comments and blanks."""
    result = evaluate(read_object(varied(**paths)))
    (found,) = [s for s in result.structures if s.name == name]
    return " ".join(re.sub(r"/\*.*?\*/", "", line).strip() for line in structure_lines(found))


def test_statement_has_every_planned_keyword() -> None:
    given_values = {
        "initsize": 300_000,
        "size": "500M",
        "minsize": "200M",
        "allow_auto_alter": True,
        "full_threshold": 77,
        "duplex": "ENABLED",
        "exclist": ["DB2_GBP1"],
        "preflist": ["CF02", "CF01"],
    }
    assert statement("APP1", **{f"structures__0__{key}": value for key, value in given_values.items()}) == (
        "STRUCTURE NAME(SQ03APP1) SIZE(512000) INITSIZE(300000) MINSIZE(204800) ALLOWAUTOALT(YES) "
        "FULLTHRESHOLD(77) DUPLEX(ENABLED) EXCLLIST(DB2_GBP1) PREFLIST(CF02,CF01)"
    )


def test_statement_has_placement_and_storage_class_memory() -> None:
    given_values = {
        "initsize": "1G",
        "size": "1G",
        "duplex": "ENABLED",
        "duplex_site": "CROSSSITE",
        "enforce_order": True,
        "scm": {"max_size": "4G"},
    }
    assert statement("APP1", **{f"structures__0__{key}": value for key, value in given_values.items()}) == (
        "STRUCTURE NAME(SQ03APP1) SIZE(1048576) INITSIZE(1048576) SCMMAXSIZE(4194304) SCMALGORITHM(KEYPRIORITY1) "
        "ALLOWAUTOALT(NO) FULLTHRESHOLD(85) DUPLEX(ENABLED,CROSSSITE) PREFLIST(CF01,CF02) ENFORCEORDER(YES)"
    )


def test_site_without_a_second_copy_is_omitted() -> None:
    assert "DUPLEX(DISABLED) " in statement("APP1", structures__0__duplex_site="CROSSSITE")


def test_keywords_that_the_plan_does_not_set_are_omitted() -> None:
    text = statement("APP1")
    assert "MINSIZE(" not in text.replace("INITSIZE(", "")
    assert not {"EXCLLIST", "ENFORCEORDER", "SCMMAXSIZE", "SCMALGORITHM"} & set(re.findall(r"[A-Z]+", text))


def test_missing_preflist_is_written_as_a_comment() -> None:
    text = rendered(coupling_facilities=[], structures__0__preflist=[])
    assert "PREFLIST(" not in text
    assert text.count("/* PREFLIST IS REQUIRED: ADD IT BEFORE SUBMITTING */") == 3


def test_group_name_is_padded_in_every_structure_name() -> None:
    names = re.findall(r"STRUCTURE NAME\((.*)\)", rendered(qsg="MQ"))
    assert names == ["MQ@@CSQ_ADMIN", "MQ@@APP1", "MQ@@CSQSYSAPPL"]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (1, "1"),
        (262144 * K, "262144"),
        (262144 * K + 1, "262145"),
        (999_999_999 * K, "999999999"),
        (999_999_999 * K + 1, "976563M"),
        (2**40, "1048576M"),
    ],
)
def test_sizes_are_in_k_up_to_nine_digits_and_rounded_up(size: int, text: str) -> None:
    assert policy_size(size) == text
    assert policy_bytes(size) == parse_size(text)


@pytest.mark.parametrize(
    ("kib", "remark"),
    [
        (262144, "256 MB"),
        (1536, "1.5 MB"),
        (102_400, "100 MB"),
        (1024 + 256, "1.25 MB"),
        (1023, "1 MB"),
        (2047, "2 MB"),
        (512, "0.5 MB"),
    ],
)
def test_comment_next_to_a_size_shows_mb(kib: int, remark: str) -> None:
    text = rendered(structures__0__initsize=kib)
    assert re.search(rf"^ +INITSIZE\({kib}\) +/\* {re.escape(remark)} \*/$", text, re.MULTILINE), text


def test_fragment_states_that_it_must_be_merged() -> None:
    head = "\n".join(rendered().splitlines()[:4])
    assert "A FRAGMENT TO MERGE" in head
    assert "REPLACE(YES) REPLACES THE WHOLE POLICY" in head


@settings(max_examples=150)
@given(policy_documents())
def test_lines_are_upper_case_and_within_their_columns(document: dict[str, Any]) -> None:
    text = fragment(evaluate(read_object(document)))
    assert text.endswith("\n")
    assert text.isascii()
    for line in text.splitlines():
        assert line.startswith(" "), line
        assert line == line.upper().rstrip()
        assert len(line) <= LAST_COLUMN, line
        assert line.count("/*") == line.count("*/")


@settings(max_examples=50)
@given(policy_documents())
def test_parentheses_are_balanced(document: dict[str, Any]) -> None:
    text = re.sub(r"/\*.*?\*/", "", fragment(evaluate(read_object(document))))
    assert text.count("(") == text.count(")")
    assert text.count("STRUCTURE NAME(") == len(document["structures"]) + 2
    keywords = set(re.findall(r"([A-Z]+)\(", text))
    assert keywords <= {
        "NAME",
        "SIZE",
        "INITSIZE",
        "MINSIZE",
        "ALLOWAUTOALT",
        "FULLTHRESHOLD",
        "DUPLEX",
        "EXCLLIST",
        "PREFLIST",
    }


def test_job_contains_a_policy_with_all_coupling_facilities() -> None:
    text = job(evaluate(read_object(job_plan())))
    lines = text.splitlines()
    assert lines[0].startswith("//CFPLAN   JOB ")
    assert "//DEFINE   EXEC PGM=IXCMIAPU" in lines
    assert "//SYSPRINT DD  SYSOUT=*" in lines
    assert "//SYSABEND DD  SYSOUT=*" in lines
    assert lines[-1] == "/*"
    sysin = lines[lines.index("//SYSIN    DD  *") + 1 : -1]
    assert sysin[0] == " DATA TYPE(CFRM) REPORT(YES)"
    assert sysin[1] == " DEFINE POLICY NAME(POLICY1) REPLACE(NO)"
    assert all(line.startswith(" ") for line in sysin)
    assert all(len(line) <= LAST_COLUMN for line in lines)
    flat = " ".join(line.strip() for line in sysin)
    assert (
        "CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(0000000A1B2C) PARTITION(0F) CPCID(00) "
        "DUMPSPACE(100352) SITE(SITE1) CF NAME(CF02) TYPE(003931)" in flat
    )


def test_policy_is_replaced_only_on_request() -> None:
    asked = job(evaluate(read_object(job_plan(policy__replace=True))))
    assert " DEFINE POLICY NAME(POLICY1) REPLACE(YES)\n" in asked
    assert "REPLACE(YES)" not in job(evaluate(read_object(job_plan())))


def test_longest_lists_are_broken_after_commas() -> None:
    preflist = [f"CFACIL0{n}" for n in range(8)]
    text = rendered(structures__0__preflist=preflist)
    lines = [line for line in text.splitlines() if "CFACIL0" in line]
    assert len(lines) == 2
    assert lines[0].endswith(",")
    assert [name for line in lines for name in re.findall(r"CFACIL0\d", line)] == preflist
