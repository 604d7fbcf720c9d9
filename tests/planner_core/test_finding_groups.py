"""The groups of findings in the result of a plan."""

from __future__ import annotations

import json

import pytest

from planner_core.document.reading import read_object
from planner_core.findings import Finding, catalogue, finding, finding_groups, in_order
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import plan_answer, plan_json
from tests.planner_core.plans import varied


def missing(structure: str | None, message: str = "") -> Finding:
    return finding("DSGROUP_MISSING", message or f"{structure} has no DSGROUP.", structure=structure)


def test_findings_of_one_code_form_a_group_with_their_structures() -> None:
    (group,) = finding_groups([missing("B"), missing("A"), missing("B", "another")])
    assert (group.code, group.severity, group.count) == ("DSGROUP_MISSING", "warning", 3)
    assert group.structures == ("B", "A")
    assert group.message == f"{catalogue()['DSGROUP_MISSING'].title}: 3 findings on 2 structures."


@pytest.mark.parametrize(
    ("structures", "end"),
    [(("A", "B"), ": 2 structures."), ((None, None), ": 2 findings."), (("A", "A"), ": 2 findings on 1 structure.")],
)  # fmt: skip
def test_group_message_counts_findings_and_structures(structures: tuple[str | None, ...], end: str) -> None:
    (group,) = finding_groups([missing(name) for name in structures])
    assert group.message.endswith(end)


def test_group_of_one_finding_has_its_message() -> None:
    only = missing("A")
    (group,) = finding_groups([only])
    assert (group.count, group.structures, group.message) == (1, ("A",), only.message)


def test_groups_are_ordered_by_severity_then_count_then_code() -> None:
    found = [
        finding("DSGROUP_MISSING", "info", severity="info"),
        finding("CF_STORAGE_NOT_STATED", "1", severity="warning"),
        finding("CF_OVERCOMMITTED_AT_SIZE", "2", severity="warning"),
        missing("A"),
        missing("B"),
        finding("STRUCTURE_NOT_PLACED", "4"),
    ]
    expected = [
        ("STRUCTURE_NOT_PLACED", "error"),
        ("DSGROUP_MISSING", "warning"),
        ("CF_OVERCOMMITTED_AT_SIZE", "warning"),
        ("CF_STORAGE_NOT_STATED", "warning"),
        ("DSGROUP_MISSING", "info"),
    ]
    for order in (found, found[::-1]):
        assert [(group.code, group.severity) for group in finding_groups(order)] == expected


def test_unknown_code_of_a_stored_result_is_grouped_under_its_code() -> None:
    source = missing("A").source
    (group,) = finding_groups([Finding("OF_OLD", "info", f"{n}", source) for n in range(2)])
    assert group.message == "OF_OLD: 2 findings."


def test_result_lists_each_finding_and_its_group() -> None:
    result = evaluate(read_object(varied()))
    answer = plan_answer(result).as_json()
    assert json.loads(plan_json(result)) == answer
    assert answer["findings"] == [each.as_json() for each in in_order(list(result.findings))]
    assert sum(group["count"] for group in answer["finding_groups"]) == len(answer["findings"]) > 0
    assert set(answer["finding_groups"][0]) == {"code", "severity", "count", "structures", "message"}
