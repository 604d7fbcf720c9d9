"""The command `cfplan other-structures`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main
from app.running.description import DB2_POLICY
from planner_core.document.reading import read_json, read_object

PLAN = "qsg: SQ03\nqueue_managers: 2\ncoupling_facilities: [{name: CF01, size: 2G}, {name: CF02}]\n"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN, encoding="utf-8")
    (tmp_path / "policy.txt").write_text(DB2_POLICY, encoding="utf-8")
    return path


def test_command_prints_the_plan_with_the_structures(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["other-structures", str(plan), str(plan.parent / "policy.txt")]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    # Only what the plan states, and the structures: no key gets its default.
    assert list(document) == ["qsg", "queue_managers", "coupling_facilities", "other_structures"]
    assert [each.name for each in read_object(document).other_structures] == [
        "DSNDB0A_LOCK1", "DSNDB0A_SCA", "DSNDB0A_GBP0",
    ]  # fmt: skip
    assert printed.err == ""


def test_command_reports_structures_that_are_left_out(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = plan.parent / "shown.txt"
    shown.write_text(
        "IXC360I  10.11.14  DISPLAY XCF\nSTRNAME: IXCLINKS\n STATUS: ALLOCATED\n", encoding="utf-8"
    )
    assert main(["other-structures", str(plan), str(plan.parent / "policy.txt"), str(shown), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["structures"] == 3
    assert [each["code"] for each in found["findings"]] == ["OTHER_STRUCTURES_OMITTED"]
    assert main(["other-structures", str(plan), str(shown)]) == 0
    printed = capsys.readouterr()
    assert "OTHER_STRUCTURES_OMITTED: IXCLINKS" in printed.err
    assert read_json(printed.out).other_structures == []


def test_command_refuses_a_text_without_structures(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["other-structures", str(plan), str(plan)]) == 2
    assert "contains nothing about the running system" in capsys.readouterr().err
