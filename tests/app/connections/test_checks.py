"""Reports of checks: shapes that are compared with the documented ones, and nothing of the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import main
from app.connections.checks import compared_step, failed_step
from app.connections.errors import ConnectionFailed
from tests.app.zosmf.conftest import audit_entries
from tests.connections_support.server import Answer, Fault, StandIn, entry_of, write_file


def test_list_of_texts_is_the_documented_member() -> None:
    step = compared_step("GET /a", 200, {"row": [{"col": ["a"], "new": 1}]}, ("row[].col[]", "row[].refno"))
    assert (step.missing, step.additional) == (("row[].refno",), ("row[].new",))


def test_name_of_a_server_in_a_fault_of_its_certificate_is_left_out() -> None:
    fault = (
        "No connection: Hostname mismatch, certificate is not valid for 'zosmf.example.com'. (_ssl.c:1006)."
    )
    step = failed_step("GET /a", ConnectionFailed("PLEX1", "GET", "/a", fault, "Check it."))
    assert step.fault is not None
    assert "example.com" not in step.fault
    assert "certificate is not valid for '{name}'" in step.fault


@pytest.mark.parametrize("kind", ["zosmf", "dds", "gatherer"])
def test_each_request_of_a_check_is_in_the_audit_trail(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with StandIn.serving(tmp_path, lambda _: Answer.json({})) as server:
        file = write_file(tmp_path, {"ONE": entry_of(server, tmp_path, kind, attempts=1)})
        monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setenv("CFPLAN_CONNECTIONS_FILE", str(file))
        main(["connections", "check", "ONE"])
        server.faults.append(Fault(status=401))
        assert main(["connections", "check", "ONE"]) == 1
        found = [each["details"] for each in audit_entries(capsys) if each["action"] == "connection.called"]
        assert [f"GET {each['path'].partition('?')[0]}" for each in found] == server.lines
    assert all(each["check"] for each in found)
    assert (found[-1]["status"], "status 401" in found[-1]["fault"]) == (401, True)
    assert main(["connections", "list"]) == 0
    assert " failed " in capsys.readouterr().out
