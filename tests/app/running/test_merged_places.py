"""Merge and comparison place structures with the kept keywords of the policy, and refuse policies with errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from planner_core.document.reading import read_object
from planner_core.errors import OutputRefused
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.running.compare import compare
from planner_core.running.merge import merge
from planner_core.running.state import read_running
from planner_core.running.unstated import Unstated
from tests.planner_core.running.test_compare import display

POLICY = """\
  DATA TYPE(CFRM) REPORT(YES)
  DEFINE POLICY NAME(POLICY1) REPLACE(YES)
    CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02)
       SEQUENCE(0000000A1B2C) PARTITION(0F) CPCID(00)
    CF NAME(CF02) TYPE(003931) MFG(IBM) PLANT(02)
       SEQUENCE(0000000A1B2D) PARTITION(0E) CPCID(00)
    STRUCTURE NAME(QSG1CSQ_ADMIN) SIZE(60000) INITSIZE(30000)
       FULLTHRESHOLD(85) PREFLIST(CF01,CF02)
    STRUCTURE NAME(QSG1ORDERS) SIZE(1G) INITSIZE(512M)
       FULLTHRESHOLD(85) PREFLIST(CF01,CF02)
"""
OURS = "FULLTHRESHOLD(85) PREFLIST(CF01,CF02)\n"
AT_RISK = "SIZE(1G) INITSIZE(512M)\n       "


def policy(ours: str) -> str:
    """Return the policy with other keywords after the sizes of QSG1ORDERS."""
    return POLICY.replace(f"{AT_RISK}{OURS}", f"{AT_RISK}{ours}\n")


def document(*, size: str = "5G", free: tuple[int, int] = (6, 4), **ours: object) -> dict[str, Any]:
    """Return a plan with one structure, and this free storage [GiB] in each of two coupling facilities."""
    return {
        "qsg": "QSG1",
        "queue_managers": 2,
        "system": {"include": False},
        "admin": {"initsize": 30000, "size": 60000},
        "coupling_facilities": [
            {"name": f"CF0{number}", "size": "16G", "occupied": f"{16 - left}G", "cfcc_level": 25}
            for number, left in enumerate(free, start=1)
        ],
        "structures": [
            {
                "name": "ORDERS",
                "initsize": size,
                "size": size,
                "full_threshold": 85,
                "queues": [{"name": "ORDERS.IN", "message_bytes": 2048, "backlog": 5000}],
                "offload": {"to": "SMDS", "dsgroup": "MQPROD.QSG1.*.ORDERS"},
                **ours,
            }
        ],
    }


def evaluated_plan(**given: Any) -> PlanResult:  # noqa: ANN401
    return evaluate(read_object(document(**given)))


def refusal(text: str, result: PlanResult, unstated: Unstated = "policy") -> dict[str, OutputRefused]:
    """Return the errors with which the merge and the comparison are refused."""
    with pytest.raises(OutputRefused) as of_merge:
        merge(text, result, unstated=unstated)
    with pytest.raises(OutputRefused) as of_compare:
        compare(result, read_running([text]), unstated=unstated)
    return {"policy": of_merge.value, "commands": of_compare.value}


KEPT = {
    "a second copy": ("DUPLEX(ENABLED) PREFLIST(CF02,CF01)", "SECOND_COPY_NOT_PLACED"),
    "a smaller coupling facility": ("PREFLIST(CF02)", "STRUCTURE_NOT_PLACED"),
}


@pytest.mark.parametrize(("kept", "code"), KEPT.values(), ids=KEPT)
def test_merge_and_commands_are_refused_if_a_kept_structure_cannot_be_placed(kept: str, code: str) -> None:
    for kind, refused in refusal(policy(kept), evaluated_plan()).items():
        assert (refused.kind, refused.of) == (kind, "merged policy")
        assert [each.code for each in refused.findings if each.severity == "error"] == [code]
        (unstated,) = [each for each in refused.findings if each.code == "UNSTATED_KEPT"]
        assert (unstated.structure, unstated.severity) == ("ORDERS", "warning")
    assert merge(policy(kept), evaluated_plan(), unstated="plan").changes
    assert compare(evaluated_plan(), read_running([policy(kept)]), unstated="plan").commands


@pytest.mark.parametrize("kept", [kept for kept, _ in KEPT.values()], ids=list(KEPT))
def test_kept_structure_that_fits_is_merged(kept: str) -> None:
    result = evaluated_plan(free=(6, 6))
    assert "DUPLEX" not in policy(kept) or "DUPLEX(ENABLED)" in merge(policy(kept), result).policy
    assert compare(result, read_running([policy(kept)])).commands


def test_site_restriction_in_duplex_of_the_policy_is_applied() -> None:
    """With SAMESITEONLY the second copy may go to no other site."""
    result = evaluated_plan(size="1G")
    sites = document(size="1G")
    for each, site in zip(sites["coupling_facilities"], ("SITE1", "SITE2"), strict=True):
        each["site"] = site
    apart = evaluate(read_object(sites))
    only = policy("DUPLEX(ENABLED,SAMESITEONLY) PREFLIST(CF01,CF02)")
    assert merge(only, result).changes
    for refused in refusal(only, apart).values():
        assert "SAMESITEONLY" in str(refused)
    assert merge(policy("DUPLEX(ENABLED) PREFLIST(CF01,CF02)"), apart).changes


def test_structure_known_only_from_a_display_is_kept_and_placed() -> None:
    """D XCF,STR shows the keywords of the active policy."""
    shown = display(
        "QSG1ORDERS", actual="512 M", size="1 G", initsize="512 M", duplex="ENABLED", threshold=85
    )
    with pytest.raises(OutputRefused, match="its second copy cannot be placed"):
        compare(evaluated_plan(), read_running([shown]))
    assert compare(evaluated_plan(free=(6, 6)), read_running([shown])).commands


def test_finding_that_only_the_merged_policy_raises_is_reported() -> None:
    text = policy("PREFLIST(CF02)")
    result = evaluated_plan(size="1G")
    for found in (merge(text, result).findings, compare(result, read_running([text])).findings):
        codes = [(each.code, each.structure) for each in found]
        assert ("PREFLIST_SINGLE_CF", "ORDERS") in codes
    assert "PREFLIST_SINGLE_CF" not in {each.code for each in result.findings}


def test_kept_keyword_is_a_warning_only_for_duplex_and_preflist() -> None:
    for kept, severity in (
        ("DUPLEX(ALLOWED) PREFLIST(CF01,CF02)", "warning"),
        ("PREFLIST(CF02,CF01)", "warning"),
        ("ALLOWAUTOALT(YES) PREFLIST(CF01,CF02)", "info"),
    ):
        found = merge(policy(kept), evaluated_plan(size="1G")).findings
        assert {
            each.severity for each in found if each.code == "UNSTATED_KEPT" and each.structure == "ORDERS"
        } == {severity}


def test_merged_policy_with_an_error_gives_no_commands() -> None:
    text = policy("MINSIZE(256M) PREFLIST(CF01,CF02)")
    small, large = evaluated_plan(size="200M"), evaluated_plan(size="256M")
    (error,) = [each for each in merge(text, small).findings if each.severity == "error"]
    assert error.code == "MINSIZE_ABOVE_INITSIZE"
    with pytest.raises(OutputRefused, match="MINSIZE") as refused:
        compare(small, read_running([text]))
    assert refused.value.findings == (error.finding,)
    assert compare(large, read_running([text])).commands


def test_displays_after_the_policy_do_not_hide_its_errors() -> None:
    text = policy("MINSIZE(256M) PREFLIST(CF01,CF02)") + display("QSG1ORDERS", actual="512 M")
    with pytest.raises(OutputRefused, match="MINSIZE"):
        compare(evaluated_plan(size="200M"), read_running([text]))


def test_diff_without_a_result_exits_with_1_and_prints_the_error_and_kept_keywords(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, current = tmp_path / "plan.json", tmp_path / "policy.txt"
    plan.write_text(json.dumps(document()), encoding="utf-8")
    current.write_text(policy("DUPLEX(ENABLED) PREFLIST(CF02,CF01)"), encoding="utf-8")
    for words in (["merge", str(plan), "--policy"], ["diff", str(plan), "--current"]):
        assert main([*words, str(current)]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert "its second copy cannot be placed" in err
        assert "warning: UNSTATED_KEPT: QSG1ORDERS keeps DUPLEX(ENABLED)" in err
    assert main(["diff", str(plan), "--current", str(current), "--output", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [each["code"] for each in found] == ["SECOND_COPY_NOT_PLACED", "UNSTATED_KEPT"]


def test_conflicting_stated_values_are_refused_by_the_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(document(duplex="ENABLED", preflist=["CF02", "CF01"])), encoding="utf-8")
    assert main(["plan", str(plan), "--output", "policy"]) == 1
    assert "its second copy cannot be placed" in capsys.readouterr().err
