"""Entries and elements of CSQ_ADMIN are read from displays and checked."""

from __future__ import annotations

import pytest

from planner_core.plan.evaluate import evaluate
from planner_core.running.compare import compare
from planner_core.running.from_running import plan_from
from planner_core.running.lint import lint
from planner_core.running.state import read_running
from tests.planner_core.plans import plan

# APAR PH39578: the counts as published, in the form of the message that IBM's manuals show.
IXC585E = """\
*IXC585E STRUCTURE SQ03CSQ_ADMIN IN COUPLING FACILITY CF01, 725
 PHYSICAL STRUCTURE VERSION B4704775 92D95302,
 IS AT OR ABOVE STRUCTURE FULL MONITORING THRESHOLD OF 85%.
 ENTRIES:  IN USE:     {entries} TOTAL:    52945, {entries_percent}% FULL
 ELEMENTS: IN USE:   {elements} TOTAL:   {total}, {percent}% FULL
"""
DISPLAY = """\
IXC360I  10.21.33  DISPLAY XCF 812
STRNAME: SQ03CSQ_ADMIN
 STATUS: ALLOCATED
 POLICY INFORMATION:
  POLICY SIZE    : 60 M
  POLICY INITSIZE: 30 M
  FULLTHRESHOLD  : {threshold}
 ACTIVE STRUCTURE
 ----------------
  ALLOCATION TIME: 03/14/2026 09:12:44
  CFNAME         : CF01
  ACTUAL SIZE            : 30 M
                IN-USE        TOTAL     %
  ENTRIES:      {entries}         7347    {entries_percent}
  ELEMENTS:     {elements}        14694    {percent}
"""
STATUS = """\
CSQM201I +QM01 CSQMDRTC  DISPLAY CFSTATUS DETAILS
CFSTATUS(CSQ_ADMIN)
TYPE(SUMMARY)
SIZEMAX(30720)
SIZEUSED(20)
ENTSMAX({entries_max})
ENTSUSED({entries})
END CFSTATUS DETAILS
"""


def event(elements: int = 107_043, total: int = 107_055, entries: int = 6708) -> str:
    return IXC585E.format(
        entries=entries,
        entries_percent=100 * entries // 52_945,
        elements=elements,
        total=total,
        percent=100 * elements // total,
    )


def display(elements: int, *, entries: int = 1000, threshold: int = 85) -> str:
    return DISPLAY.format(
        threshold=threshold,
        entries=entries,
        entries_percent=100 * entries // 7347,
        elements=elements,
        percent=100 * elements // 14_694,
    )


def messages(text: str, code: str, **keys: int) -> list[str]:
    found = compare(evaluate(plan(**keys)), read_running([text])).findings
    return [each.message for each in found if each.code == code]


def test_published_case_has_nearly_all_elements_and_few_entries_in_use() -> None:
    (message,) = messages(event(), "ADMIN_NEARLY_FULL")
    assert "6708 of 52945 entries (12 %) and 107043 of 107055 elements (99 %)" in message
    assert "00C51165, 00C510AB" in message


@pytest.mark.parametrize(("elements", "is_full"), [(12_489, False), (12_490, True)])
def test_elements_of_a_display_are_compared_with_fullthreshold(elements: int, is_full: bool) -> None:
    # 85 % of 14,694 is 12,489.9.
    text = display(elements)
    assert bool(messages(text, "ADMIN_NEARLY_FULL")) is is_full
    (found,) = [lint(text).findings] if is_full else [()]
    assert [each.line for each in found if each.code == "ADMIN_NEARLY_FULL"] == ([2] if is_full else [])


@pytest.mark.parametrize(("threshold", "is_full"), [(90, False), (80, True), (0, True)])
def test_threshold_is_that_of_the_policy_or_of_ibms_example_without_monitoring(
    threshold: int, is_full: bool
) -> None:
    assert bool(messages(display(12_600, threshold=threshold), "ADMIN_NEARLY_FULL")) is is_full


def test_full_entries_are_reported_from_cfstatus() -> None:
    near, full = (STATUS.format(entries_max=7347, entries=entries) for entries in (6000, 6300))
    assert not messages(near, "ADMIN_NEARLY_FULL")
    (message,) = messages(full, "ADMIN_NEARLY_FULL")
    assert "6300 of 7347 entries (85 %) in use" in message
    assert [each.code for each in lint(full).findings] == ["ADMIN_NEARLY_FULL"]
    assert not lint(near).findings


@pytest.mark.parametrize(("queue_managers", "codes"), [(7, []), (8, ["ENTSMAX", "ELEMENTS"])])
def test_comparison_checks_both_pools_against_the_queue_managers(
    queue_managers: int, codes: list[str]
) -> None:
    found = compare(evaluate(plan(queue_managers=queue_managers)), read_running([display(2000)])).findings
    short = [each.code for each in found if each.code.endswith("_TOO_LOW")]
    assert short == [f"ADMIN_{pool}_TOO_LOW" for pool in codes]


def test_size_for_both_pools_uses_the_highest_level_in_preflist() -> None:
    # The z16 charts have 28 MB for 8 queue managers at CFCC 25, and less at 24.
    document = plan(
        queue_managers=8,
        cfcc_level=24,
        coupling_facilities__0__cfcc_level=24,
        coupling_facilities__1__cfcc_level=25,
    )
    found = compare(evaluate(document), read_running([display(2000)])).findings
    (message,) = [each.message for each in found if each.code == "ADMIN_ELEMENTS_TOO_LOW"]
    assert f"at least {28 * 1024}K" in message


@pytest.mark.parametrize(("queue_managers", "is_short"), [(7, False), (8, True)])
def test_lint_checks_elements_against_the_queue_managers(queue_managers: int, is_short: bool) -> None:
    found = lint(display(2000), queue_managers=queue_managers).findings
    assert [(each.code, each.line) for each in found if each.code == "ADMIN_ELEMENTS_TOO_LOW"] == (
        [("ADMIN_ELEMENTS_TOO_LOW", 2)] if is_short else []
    )


def test_plan_from_running_states_entries_and_elements() -> None:
    made = plan_from(read_running([display(12_600)]), qsg="SQ03", queue_managers=3)
    assert (made.plan.admin.entsmax, made.plan.admin.elements_total) == (7347, 14_694)
    assert "ADMIN_NEARLY_FULL" in [each.code for each in made.findings]
    made = plan_from(read_running([event(elements=5)]), qsg="SQ03", queue_managers=3)
    assert (made.plan.admin.entsmax, made.plan.admin.elements_total) == (52_945, 107_055)
    assert "ADMIN_NEARLY_FULL" not in [each.code for each in made.findings]


def test_cfstatus_takes_precedence_over_d_xcf_for_the_entries_in_a_plan() -> None:
    running = read_running([display(100), STATUS.format(entries_max=9000, entries=1)])
    made = plan_from(running, qsg="SQ03", queue_managers=3)
    assert (made.plan.admin.entsmax, made.plan.admin.elements_total) == (9000, 14_694)


def test_entry_and_element_counts_of_another_structure_are_not_used_for_csq_admin() -> None:
    text = event().replace("SQ03CSQ_ADMIN", "SQ03APP1")
    assert not messages(text, "ADMIN_NEARLY_FULL")
    assert not lint(text).findings
