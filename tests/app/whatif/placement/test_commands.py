"""`cfplan whatif cf-loss` and `cfplan whatif upgrade`: tables, JSON, and error messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.whatif.growth import UpgradeQuestion, upgrades
from planner_core.whatif.loss import losses_of
from tests.planner_core.whatif.placement.scenes import cf, document, structure

TIGHT = document([cf("CF01"), cf("CF02", "3G")], [structure("A", "4G"), structure("B", "2G")])


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(TIGHT), encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["whatif", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_json_output_of_the_command_equals_the_core_result(
    capsys: pytest.CaptureFixture[str], plan_file: Path
) -> None:
    code, out, _ = run(capsys, "cf-loss", plan_file, "--json")
    assert (code, json.loads(out)) == (0, losses_of([("SQ03", evaluate(read_object(TIGHT)))]).as_json())
    code, out, _ = run(capsys, "upgrade", plan_file, "--json", "--queue-managers", 2, "--years", 0)
    expected = upgrades(read_object(TIGHT), UpgradeQuestion(queue_managers=2, years=())).as_json()
    assert (code, json.loads(out)) == (0, expected)


def test_table_lists_moved_and_unplaced_structures(
    capsys: pytest.CaptureFixture[str], plan_file: Path
) -> None:
    code, out, _ = run(capsys, "cf-loss", plan_file)
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "Without CF01: white space 7168 MiB, 4096 MiB of it cannot be placed" in lines
    assert "SQ03CSQ_ADMIN 1024 moves CF02 only_candidate" in lines
    assert "SQ03A 4096 no place" in lines
    assert "CF02 7168 3072 CF01" in lines
    assert any(line.startswith("warning: LOSS_STRUCTURE_NOT_PLACED: Without CF01, SQ03A") for line in lines)


def test_warning_with_fail_on_warning_exits_with_1(
    capsys: pytest.CaptureFixture[str], plan_file: Path
) -> None:
    assert run(capsys, "cf-loss", plan_file, "--fail-on", "warning")[0] == 1


def test_structure_that_cannot_be_placed_is_an_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document([cf("CF01", "4G")], [structure("A", "4G")])), encoding="utf-8")
    assert run(capsys, "cf-loss", path)[0] == 1


def test_other_plans_of_the_sysplex_are_included(
    capsys: pytest.CaptureFixture[str], plan_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**TIGHT, "qsg": "QSG2", "structures": []}), encoding="utf-8")
    code, out, _ = run(capsys, "cf-loss", plan_file, "--with", other, "--json")
    assert code == 0
    assert json.loads(out)["plans"] == ["SQ03", "other"]
    code, _, err = run(capsys, "cf-loss", plan_file, "--with", plan_file)
    assert code == 2
    assert "is in the plans SQ03 and plan" in err


def test_policy_fragment_of_a_single_step_can_be_printed(
    capsys: pytest.CaptureFixture[str], plan_file: Path
) -> None:
    code, out, _ = run(capsys, "upgrade", plan_file, "--fragment", "queue-managers-1")
    assert code == 0
    assert out == upgrades(read_object(TIGHT)).steps[0].fragment
    code, out, err = run(capsys, "upgrade", plan_file, "--fragment", "cfcc-99")
    assert (code, out) == (2, "")
    assert "choose one of queue-managers-1, growth-1, growth-2, growth-3, together." in err


def test_upgrade_table_has_before_after_and_difference(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(
        json.dumps({**TIGHT, "cfcc_level": 14, "admin": {}, "queue_managers": 32, "structures": []}),
        encoding="utf-8",
    )
    code, out, _ = run(capsys, "upgrade", path, "--cfcc", 25, "--years", 0)
    assert code == 1  # the 33rd queue manager
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "CFCC level 25 (cfcc-25)"
    assert any(line.startswith("SQ03CSQ_ADMIN ") and " 51200 +" in line for line in lines)
    assert any(line.startswith("No such plan can exist.") for line in lines)  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ["cf-loss"],
        ["cf-loss", "there-is-none.json"],
        ["cf-loss", "PLAN", "--at", "minsize"],
        ["upgrade", "PLAN", "--cfcc", "25"],
        ["upgrade", "PLAN", "--cfcc", "x"],
        ["upgrade", "PLAN", "--growth", "nan"],
        ["upgrade", "PLAN", "--growth", "1001"],
        ["upgrade", "PLAN", "--years", "51"],
        ["nothing", "PLAN"],
    ],
)
def test_invalid_arguments_are_reported_with_a_message(
    capsys: pytest.CaptureFixture[str], plan_file: Path, arguments: list[Any]
) -> None:
    code, out, err = run(capsys, *[plan_file if each == "PLAN" else each for each in arguments])
    assert (code, out) == (2, "")
    assert err
    assert "Traceback" not in err


@pytest.mark.parametrize("question", ["cf-loss", "upgrade"])
def test_impossible_plan_fails_with_its_findings(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, question: str
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**TIGHT, "queue_managers": 33}), encoding="utf-8")
    code, out, err = run(capsys, question, path, "--json")
    assert code == 1
    assert [each["code"] for each in json.loads(out)["findings"]] == ["TOO_MANY_QUEUE_MANAGERS"]
    assert err.startswith("No such plan can exist.")


def test_structures_assumed_to_fit_are_noted_below_the_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    unknown = [{"name": "CF01"}, {"name": "CF02"}]
    path.write_text(json.dumps(document(unknown, [structure("A", "4G")])), encoding="utf-8")
    assert "info: CF_STORAGE_NOT_STATED: The storage of CF01, CF02" in run(capsys, "cf-loss", path)[1]
