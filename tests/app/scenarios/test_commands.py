"""`cfplan scenarios ...` on the store of the service, on both databases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import URL

from app.cli import main
from app.texts.documents import example_text
from tests.app.plans.support import app_on
from tests.app.web.support import get

MORE = (
    "note: Two years of trade.\nchanges:\n  queue_managers: 6\n  growth: {percent_per_year: 10, years: 2}\n"
)


@pytest.fixture(autouse=True)
def _stored(url: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store a plan, and return the file of a scenario."""
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", url.render_as_string(hide_password=False))
    monkeypatch.delenv("CFPLAN_PORT", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("SQ03.yaml").write_text(example_text(), encoding="utf-8")
    Path("more.yaml").write_text(MORE, encoding="utf-8")
    Path("lost.json").write_text('{"changes": {"lost": "CF01"}}', encoding="utf-8")
    assert main(["migrate"]) == 0
    assert main(["plans", "put", "SQ03", "SQ03.yaml"]) == 0


def test_scenario_saved_by_command_is_found_by_the_service(
    url: URL, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scenarios", "save", "SQ03", "more", "more.yaml"]) == 0
    assert "more: created, version 1 of SQ03, ETag " in capsys.readouterr().out
    app = app_on(url)
    at = "/api/v1/plans/SQ03/scenarios"
    for command, address in (
        (["show", "SQ03", "more"], f"{at}/more"),
        (["list", "SQ03"], at),
        (["compare", "SQ03", "more"], f"{at}/compare?of=more"),
        (["report", "SQ03", "more"], f"{at}/more/report"),
    ):
        assert main(["scenarios", *command, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == get(app, address).json(), command


def test_change_without_if_match_or_replace_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "save", "SQ03", "more", "more.yaml"]) == 0
    tag = capsys.readouterr().out.rpartition("ETag ")[2].strip()
    assert main(["scenarios", "save", "SQ03", "more", "lost.json"]) == 2
    assert f"Use --if-match '{tag}' if" in capsys.readouterr().err
    assert main(["scenarios", "save", "SQ03", "more", "lost.json", "--create"]) == 2
    assert main(["scenarios", "save", "SQ03", "more", "lost.json", "--if-match", tag]) == 0
    assert main(["scenarios", "save", "SQ03", "more", "more.yaml", "--replace", "--note", "Why not"]) == 0
    assert main(["scenarios", "save", "SQ03", "fresh", "more.yaml", "--replace"]) == 0
    capsys.readouterr()
    assert main(["scenarios", "show", "SQ03", "more"]) == 0
    assert "Why not\nQueue managers: 5 -> 6\n" in capsys.readouterr().out


def test_commands_print_differences_notes_and_documents(capsys: pytest.CaptureFixture[str]) -> None:
    for name, file in (("more", "more.yaml"), ("lost", "lost.json")):
        assert main(["scenarios", "save", "SQ03", name, file]) == 0
    capsys.readouterr()
    assert main(["scenarios", "list", "SQ03"]) == 0
    assert "Queue managers: 6; Growth: 10 % a year for 2 years" in capsys.readouterr().out
    assert main(["scenarios", "compare", "SQ03", "more", "lost"]) == 0
    compared = capsys.readouterr().out
    (row,) = [line.split() for line in compared.splitlines() if "Queue managers" in line]
    assert row == ["Queue", "managers", "5", "6", "*", "5"]
    assert "CFCC level" not in compared  # the same everywhere
    assert main(["scenarios", "report", "SQ03", "more"]) == 0
    told = capsys.readouterr().out
    for heading in (
        "Reason\nTwo years of trade.",
        "Changes",
        "Commands",
        "Notes\n(1) Need",
        "Documents\n[1] ",
    ):
        assert heading in told
    assert "SETXCF START,REBUILD,STRNAME=SQ03CSQ_ADMIN" in told


def test_invalid_request_is_refused_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.yaml").write_text("changes: {queue_managers: 33}", encoding="utf-8")
    Path("odd.yaml").write_text("changes: {levels: 25}", encoding="utf-8")
    Path("torn.json").write_text("{", encoding="utf-8")
    for command, says in (
        (["save", "SQ03", "a", "bad.yaml"], "33 queue managers"),
        (["save", "SQ03", "a", "odd.yaml"], "/changes/levels"),
        (["save", "SQ03", "a", "torn.json"], "The scenario is not valid"),
        (["save", "SQ03", "a", "none.yaml"], "none.yaml"),
        (["save", "SQ03", "new", "lost.json"], "/name"),
        (["save", "NONE", "a", "lost.json"], "There is no plan called NONE"),
        (["show", "SQ03", "a"], "no scenario called a"),
        (["report", "SQ03", "a"], "no scenario called a"),
        (["compare", "SQ03", *"abcd"], "no scenario called a"),
        (["compare", "SQ03", *"abcde"], "name one to 4 scenarios; 5 are named"),
        (["delete", "SQ03", "a"], "no scenario called a"),
    ):
        assert main(["scenarios", *command]) == 2, command
        told = capsys.readouterr()
        assert says in told.err, (command, told.err)
        assert told.out == ""


def test_scenario_with_errors_is_saved_and_the_command_reports_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("tiny.yaml").write_text(
        "changes: {structures: [{name: MYDATA, initsize: 100G, size: 200G}]}", encoding="utf-8"
    )
    assert main(["scenarios", "save", "SQ03", "tiny", "tiny.yaml"]) == 1
    assert main(["scenarios", "delete", "SQ03", "tiny"]) == 0
    assert capsys.readouterr().out.endswith("tiny: deleted\n")
    assert main(["scenarios", "list", "SQ03"]) == 0
    assert "has no scenarios" in capsys.readouterr().out
