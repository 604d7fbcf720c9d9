"""Only processes that use a connection get its credentials, and every process of a job works without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from app.connections.credentials import variables_of
from app.database.engine import Database
from app.jobs import processes
from app.jobs.watcher import Watcher
from app.settings import Settings
from tests.app.nightly.support import order, put_days, queue, settings_for
from tests.app.nightly.test_killed import wait_until
from tests.connections_support.server import write_file
from tests.process_tree import command_line, descendants, end_with_descendants

DECLARED: dict[str, dict[str, Any]] = {
    "PLEX1": {"kind": "zosmf", "address": "https://zosmf.example.com", "nightly_drift": True},
    "RMF1": {"kind": "dds", "address": "https://dds.example.com"},
}


def connections(folder: Path) -> Path:
    """Write a file whose connections take their credentials from variables such as PLEX1_PASSWORD."""
    entries = {
        name: each | {"user_variable": f"{name}_USER", "password_variable": f"{name}_PASSWORD"}
        for name, each in DECLARED.items()
    }
    return write_file(folder, entries)


def passwords(pid: int) -> set[str]:
    """Return the passwords of this test in the environment of a process."""
    content = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return {each.partition("=")[2] for each in content if "_PASSWORD=" in each} & {"of-PLEX1", "of-RMF1"}


@pytest.mark.long
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_processes_of_a_nightly_run_have_no_credentials_that_they_do_not_use(
    database: Database, url: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in DECLARED:
        monkeypatch.setenv(f"{name}_PASSWORD", f"of-{name}")
        monkeypatch.setenv(f"{name}_USER", "U")
    settings = settings_for(url, tmp_path, connections_file=str(connections(tmp_path)))
    put_days(settings, 2)
    order(settings, pause_s=60)
    watching = Watcher(database, settings)
    run = queue(database)
    watching.look()
    keeper = watching._children[run.job.id]

    def jobs() -> list[int]:
        return [pid for pid in descendants(keeper.pid) if processes.NIGHT in command_line(pid)]

    try:
        wait_until(lambda: bool(jobs()))
        # The keeper compares the policies of PLEX1 after its job.
        assert passwords(keeper.pid) == {"of-PLEX1"}
        found = list(descendants(keeper.pid))
        assert found
        assert [passwords(pid) for pid in found] == [set()] * len(found)
    finally:
        end_with_descendants(keeper)


def test_variables_of_an_invalid_file_are_known(tmp_path: Path) -> None:
    file = connections(tmp_path)
    settings = Settings(connections_file=str(file))
    everything = {f"{name}_{which}" for name in DECLARED for which in ("USER", "PASSWORD")}
    assert variables_of(settings) == everything
    assert variables_of(settings, except_kinds=("zosmf",)) == {"RMF1_USER", "RMF1_PASSWORD"}
    file.write_text(file.read_text().replace('"dds"', '"db2"'))
    assert variables_of(settings, except_kinds=("zosmf",)) == everything
    file.write_text("connections:\n  A:\n    password_variable: SECRET\n   user_variable: 'WHO'\n")
    assert variables_of(settings) == {"SECRET", "WHO"}
    assert variables_of(Settings(connections_file=str(tmp_path / "none.yaml"))) == frozenset()
    assert variables_of(Settings()) == frozenset()


@pytest.mark.parametrize(
    "value", ["SECRET", ">-\n      SECRET", "&a SECRET", "!!str SECRET", "\n      'SECRET'"]
)
def test_variables_of_an_invalid_file_are_known_in_every_notation_of_yaml(tmp_path: Path, value: str) -> None:
    file = tmp_path / "connections.yaml"
    file.write_text(f"connections:\n  A:\n    kind: none\n    password_variable: {value}\n")
    assert variables_of(Settings(connections_file=str(file))) == {"SECRET"}
