from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.texts.documents import example_text
from tests.connections_support.server import entry_of, write_file
from tests.connections_support.zosmf import ZosmfStandIn

Declare = Callable[..., None]
CARRIED = ["initsize", "allowautoalt", "duplex"]


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[ZosmfStandIn]:
    found = ZosmfStandIn()
    with found.running(tmp_path):
        yield found


@pytest.fixture
def declare(stand_in: ZosmfStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Write the file of connections with PLEX1, the stand-in."""
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))

    def write(**more: object) -> None:
        entry = entry_of(stand_in, tmp_path, "zosmf", **({"size_unit": "K", "properties": CARRIED} | more))
        file = write_file(tmp_path, {"PLEX1": entry})
        monkeypatch.setenv("CFPLAN_CONNECTIONS_FILE", str(file))

    return write


@pytest.fixture
def plan(declare: Declare, tmp_path: Path) -> str:
    """Declare the connection, and store the example plan as SQ03."""
    declare()
    file = tmp_path / "SQ03.yaml"
    file.write_text(example_text(), encoding="utf-8")
    assert main(["plans", "put", "SQ03", str(file), "--create"]) == 0
    return "SQ03"


VERIFY = (
    "connections", "check", "PLEX1", "--policy", "CFRM01", "--structure", "SQ03APPLICATION1", "--size-is", "512M",
)  # fmt: skip


@pytest.fixture
def verified(plan: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Verify the unit of sizes as a user does."""
    assert main([*VERIFY]) == 0
    capsys.readouterr()
    return plan


def audit_entries(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return all entries of the audit trail."""
    capsys.readouterr()
    assert main(["audit", "export"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]
