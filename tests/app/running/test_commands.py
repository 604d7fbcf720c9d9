"""The commands about running systems: unchanged bytes, and messages about unreadable input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.running.texts import running_example
from app.texts.documents import example_text, parse_text
from tests.planner_core.running.sysplex import pasted, taken_out
from tests.planner_core.running.test_compare import display

POLICY = running_example().policy


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return the files of the example plan and of the running system."""
    (tmp_path / "plan.yaml").write_text(example_text(), encoding="utf-8")
    for name, text in running_example()._asdict().items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def test_lint_reports_findings_with_lines(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(files / "policy.txt"), "--cfcc", "25", "--queue-managers", "5", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [(each["code"], each["line"], each["severity"]) for each in found] == [
        ("ADMIN_BELOW_MINIMUM", 20, "error"),
        ("SYSTEM_STRUCTURE_BELOW_MINIMUM", 24, "error"),
    ]
    assert all(set(each) >= {"code", "severity", "message", "source", "line"} for each in found)


def test_lint_without_json_prints_file_and_line(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = files / "policy.txt"
    path.write_text(POLICY.replace("SIZE(512M)", "SIZE(512X)"), encoding="utf-8")
    assert main(["lint", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"{path}:29: error: POLICY_VALUE_INVALID: SIZE(512X)")
    path.write_text(POLICY, encoding="utf-8")
    assert main(["lint", str(path)]) == 0
    assert "no finding in 31 lines (policy)" in capsys.readouterr().out


def test_merge_prints_the_workflow_of_the_merged_policy(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    merge = ["merge", str(files / "plan.yaml"), "--policy", str(files / "policy.txt"), "--workflow"]
    assert main([*merge, "NEW$1"]) == 0
    assert " DEFINE POLICY NAME(NEW$1) REPLACE(NO)\n" in capsys.readouterr().out
    assert main([*merge, "PROD01"]) == 2
    said = capsys.readouterr()
    assert (said.out, "PROD01 is the name of the current policy" in said.err) == ("", True)


def test_lint_uses_the_given_group_name(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = files / "group.mqsc"
    path.write_text("DEFINE CFSTRUCT(SQ03APP1) CFLEVEL(3)\n", encoding="utf-8")
    assert main(["lint", str(path), "--fail-on", "warning"]) == 0
    assert main(["lint", str(path), "--fail-on", "warning", "--qsg", "SQ03"]) == 1
    assert "group.mqsc:1: warning: CFSTRUCT_HAS_GROUP_PREFIX" in capsys.readouterr().out
    assert main(["lint", str(path), "--qsg", "sq-3"]) == 2


def test_lint_with_fail_on_warning_exits_with_1(files: Path) -> None:
    path = files / "policy.txt"
    path.write_text(POLICY.replace("SIZE(512M)", "SIZE(600M)"), encoding="utf-8")
    assert main(["lint", str(path)]) == 0
    assert main(["lint", str(path), "--fail-on", "warning"]) == 1


def test_merge_prints_the_policy_with_other_bytes_unchanged(
    files: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    foreign = "   /* GR\u00d6SSE: \u00fc */ \r\n".encode("latin-1")
    head, tail = POLICY.replace("\n", "\r\n").encode().split(b"   /* ---- MQ ---- */\r\n")
    (files / "policy.txt").write_bytes(head + foreign + tail)
    assert main(["merge", str(files / "plan.yaml"), "--policy", str(files / "policy.txt")]) == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(head + foreign)
    assert b"\n" not in out.replace(b"\r\n", b"")
    assert out.endswith(b"/*\r\n")
    assert b"STRUCTURE NAME(SQ03MYDATA)\r\n" in out
    assert b"MERGE_REMARK_STALE" in err


def test_merge_prints_the_difference_or_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["merge", str(files / "plan.yaml"), "--policy", str(files / "policy.txt")]
    assert main([*given, "--difference"]) == 0
    assert "-             SIZE(512M)\n" in capsys.readouterr().out
    assert main([*given, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["policy_name"] == "PROD01"
    assert {each["structure"] for each in answer["changes"]} == {
        f"SQ03{name}" for name in ("CSQ_ADMIN", "CSQSYSAPPL", "APPLICATION1", "MYDATA")
    }


def test_merged_policy_with_an_error_is_printed_with_exit_code_1(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = files / "policy.txt"
    path.write_text(POLICY.replace("SIZE(512M)", "SIZE(900M) MINSIZE(900M)"), encoding="utf-8")
    assert main(["merge", str(files / "plan.yaml"), "--policy", str(path)]) == 1
    out, err = capsys.readouterr()
    assert "MINSIZE(900M)" in out
    assert "error: MINSIZE_ABOVE_INITSIZE" in err
    path.write_text(out, encoding="utf-8")
    assert main(["merge", str(files / "plan.yaml"), "--policy", str(path)]) == 1
    again = capsys.readouterr()
    assert again.out == out
    assert "error: MINSIZE_ABOVE_INITSIZE" in again.err


def test_diff_prints_commands_in_order(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    current = [str(files / f"{name}.txt") for name in ("displays", "definitions", "policy")]
    assert main(["diff", str(files / "plan.yaml"), "--current", *current]) == 0
    text = capsys.readouterr().out
    assert {line.split(" ")[0] for line in pasted(text)} <= {"D", "DISPLAY"}
    lines = [line for line in taken_out(text) if line.startswith("SETXCF")]
    assert lines[:2] == [
        "SETXCF START,ALTER,STRNAME=SQ03APPLICATION1,SIZE=523264",
        "SETXCF START,POLICY,TYPE=CFRM,POLNAME=PROD01",
    ]
    assert main(["diff", str(files / "plan.yaml"), "--current", *current, "--output", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["command"].split(" ")[0] for each in answer["commands"]][:3] == [
        "SETXCF",
        "IXCMIAPU:",
        "SETXCF",
    ]
    assert all(
        each["takes_effect"] in {"at once", "pending until rebuild", "needs an outage"}
        for each in answer["commands"]
    )


def test_from_running_prints_a_valid_plan(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    current = [str(files / f"{name}.txt") for name in ("displays", "definitions", "policy")]
    assert main(["from-running", *current, "--queue-managers", "5"]) == 0
    out, err = capsys.readouterr()
    (files / "made.json").write_text(out, encoding="utf-8")
    assert "RUNNING_FIGURES_TO_CHECK" in err
    assert main(["plan", str(files / "made.json")]) == 1  # CSQ_ADMIN is too small for CFCC 25
    assert "ADMIN_BELOW_MINIMUM" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["lint", "none.txt"], "cannot be read"),
        (["lint", "."], "cannot be read"),
        (["merge", "plan.yaml", "--policy", "plan.yaml"], "no statements of a CFRM policy"),
        (["merge", "plan.yaml", "--policy", "utf16.txt"], "UTF-16"),
        (["merge", "plan.yaml", "--policy", "ebcdic.txt"], "EBCDIC"),
        (["merge", "plan.yaml"], "--policy"),
        (["diff", "plan.yaml", "--current", "plan.yaml"], "contains nothing about the running system"),
        (["diff", "policy.txt", "--current", "policy.txt"], "not YAML"),
        (["from-running", "displays.txt"], "No structure name ends in CSQ_ADMIN"),
    ],
)
def test_unreadable_input_is_reported_with_exit_code_2(
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(files)
    (files / "utf16.txt").write_text(POLICY, encoding="utf-16")
    (files / "ebcdic.txt").write_bytes(POLICY.replace("\n", " " * 40).encode("cp037"))
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert "Traceback" not in err


def test_damaged_policy_is_reported_with_its_line(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "policy.txt").write_text(POLICY.replace("INITSIZE(131072)", "INITSIZE(131072"), encoding="utf-8")
    assert main(["merge", str(files / "plan.yaml"), "--policy", str(files / "policy.txt")]) == 2
    assert "Line 14: A parenthesis inside INITSIZE(...), on line 15" in capsys.readouterr().err


def test_plan_with_errors_is_not_merged(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document: Any = parse_text(example_text().encode())
    document["structures"][0].update(cflevel=2, recover=True)
    (files / "plan.yaml").write_text(json.dumps(document), encoding="utf-8")
    assert main(["merge", str(files / "plan.yaml"), "--policy", str(files / "policy.txt")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "not available while the plan has errors" in err


@pytest.mark.parametrize(
    ("more", "duplex"),
    [([], "ENABLED"), (["--unstated", "policy"], "ENABLED"), (["--unstated", "plan"], "DISABLED")],
)
def test_merge_and_diff_keep_unstated_keywords(
    files: Path, capsys: pytest.CaptureFixture[str], more: list[str], duplex: str
) -> None:
    """The example plan does not state DUPLEX of CSQ_ADMIN."""
    path = files / "policy.txt"
    path.write_text(
        POLICY.replace("INITSIZE(16384)", "INITSIZE(16384)\n             DUPLEX(ENABLED)"), encoding="utf-8"
    )
    plan = str(files / "plan.yaml")
    assert main(["merge", plan, "--policy", str(path), *more, "--json"]) == 0
    merged = json.loads(capsys.readouterr().out)
    changed = {(each["structure"], each["keyword"]): each["after"] for each in merged["changes"]}
    assert changed.get(("SQ03CSQ_ADMIN", "DUPLEX"), "ENABLED") == duplex
    assert main(["diff", plan, "--current", str(path), *more, "--output", "json"]) == 0
    diff = json.loads(capsys.readouterr().out)
    assert {each["name"]: each["planned"]["duplex"] for each in diff["structures"]}["CSQ_ADMIN"] == duplex


def test_merge_warns_of_a_structure_smaller_than_its_current_use(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = display("SQ03APPLICATION1", actual="1 G", size="1 G", initsize="512 M", in_use=(80, 20))
    (files / "now.txt").write_text(shown, encoding="utf-8")
    given = ["merge", str(files / "plan.yaml"), "--policy", str(files / "policy.txt")]
    assert main([*given, "--current", str(files / "displays.txt"), str(files / "now.txt")]) == 0
    assert "warning: STRUCTURE_SHRINKS: SQ03APPLICATION1 has" in capsys.readouterr().err
