"""From the data server to the usage page: polls over TLS, an upload, its reading by the processes of the service."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from app.cli import main
from app.dds.poller import Poller
from app.jobs import processes
from app.jobs.models import JobState
from app.jobs.watcher import Watcher
from app.main import create_app
from app.settings import Settings
from tests.app.dds.support import NOON, Site, minutes
from tests.app.uploads.support import job, wait_until
from tests.app.web.support import get
from tests.connections_support.dds import MINUTE
from tests.connections_support.server import Answer, Fault, Received

COMMAND = "import sys; from app.cli import main; sys.exit(main(sys.argv[1:]))"
HOUR = timedelta(hours=1)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        bool(processes.missing_packages()), reason="the packages of the jobs are not installed"
    ),
]


@pytest.fixture
def environment(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give commands the settings of the site, and those of this machine to none."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"CFPLAN_{name.upper()}", raising=False)
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    # The processes must import this source tree, not another one that is installed.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    site.server.scm = ("1073741824", "17", "23")
    site.declare(poll=True)
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(site.settings.data_dir))
    monkeypatch.setenv("CFPLAN_CONNECTIONS_FILE", str(site.settings.connections_file))


def poll_once(site: Site, *, at_minute: int) -> int:
    """Poll by the command, so many minutes after noon."""
    site.now = NOON + at_minute * MINUTE
    return main(["dds", "poll", "--connection", "DDS1", "--once"])


def poll_until_killed(site: Site, *, at_minute: int, requests: int) -> None:
    """Let a process poll, and kill it while it waits for an answer."""
    site.now = NOON + at_minute * MINUTE
    answer, reached, continued, left = (
        site.server.answer,
        threading.Event(),
        threading.Event(),
        [requests],
    )

    def held(request: Received) -> Answer:
        left[0] -= 1
        if left[0] < 0:
            reached.set()
            continued.wait()
        return answer(request)

    site.server.answer = held  # type: ignore[method-assign]
    words = [sys.executable, "-P", "-c", COMMAND, "dds", "poll", "--connection", "DDS1"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
    site.server.answer = answer  # type: ignore[method-assign]
    continued.set()


def poll_in_thread(site: Site, *, at_minute: int) -> None:
    """Start the thread of the service, and stop it after its first poll."""
    site.now = NOON + at_minute * MINUTE
    poller = Poller(site.database, site.settings, on_queued=lambda: None)
    poller.start()
    try:
        wait_until(lambda: site.now - MINUTE in site.intervals())
    finally:
        poller.stop()


def read_upload(site: Site) -> None:
    """Let the watcher of the service start the processes that read the upload."""
    watcher = Watcher(site.database, site.settings)
    assert watcher.look() == 1
    ((job_id, keeper),) = watcher._children.items()
    try:
        assert keeper.wait(120) == 0
    finally:
        keeper.kill()
        keeper.wait()
    assert job(site.database, job_id).state == JobState.DONE, job(site.database, job_id).sentence


def history_rows(site: Site) -> list[dict[str, str]]:
    """Return the rows of the usage history as users export them."""
    words = processes.history_command(site.settings, "export", "--table", "structure_usage")
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=dict(os.environ))
    return list(csv.DictReader(done.stdout.splitlines()))


def test_polled_hour_with_an_outage_and_a_killed_poller_is_in_the_history_once(
    site: Site, environment: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for minute in (1, 2, 5):
        assert poll_once(site, at_minute=minute) == 0
    # The server does not answer for ten minutes.
    for minute in (10, 15):
        site.server.faults.append(Fault(status=503))
        assert poll_once(site, at_minute=minute) == 1
    poll_in_thread(site, at_minute=16)
    poll_until_killed(site, at_minute=40, requests=5)
    for minute in (41, 60, 60, 61):
        assert poll_once(site, at_minute=minute) == 0
    assert "uploads 1 created" in capsys.readouterr().out
    assert set(site.intervals()) == minutes(NOON, 61)

    read_upload(site)

    rows = history_rows(site)
    every_minute = {f"{each + MINUTE:%Y-%m-%dT%H:%M:%S.000000Z}" for each in minutes(NOON, 60)}
    for structure in ("QSG1CSQ_ADMIN", "QSG1APP1"):
        for system in ("", "SYSA", "SYSB"):
            ends = Counter(
                row["interval_end"]
                for row in rows
                if (row["xcf_structure"], row["system_id"]) == (structure, system)
            )
            assert set(ends) == every_minute, (structure, system)
            assert set(ends.values()) == {1}, (structure, system)
    assert len(rows) == 60 * 2 * 3
    wanted = {
        "source": "CFACT", "qsg": "QSG1", "structure": "APP1", "sysplex": "PLEX1", "coupling_facility": "CF01",
        "interval_start": "2026-11-27T12:37:00.000000Z", "interval_us": "60000000", "in_use_kind": "at_end",
        "entries_in_use": "137", "entries_total": "2060", "elements_in_use": "287", "elements_total": "2109",
        "size_bytes": "20971520", "size_min_bytes": "19922944", "size_max_bytes": "31457280",
        "scm_max_bytes": "1073741824", "scm_entries_in_use": "17", "scm_elements_in_use": "23",
    }  # fmt: skip
    of_all = {"system_id": "", "status": "ActiveInUse", "sync_requests": "", "async_requests": ""}
    of_one = {"system_id": "SYSA", "sync_requests": "10", "async_requests": "0", "changed_requests": "0"}
    found = [
        row
        for row in rows
        if row["interval_end"] == "2026-11-27T12:38:00.000000Z" and row["structure"] == "APP1"
    ]
    everywhere, one, _ = sorted(found, key=lambda row: row["system_id"])
    assert {name: everywhere[name] for name in wanted | of_all} == wanted | of_all
    # Rows of systems have the contents of the structure, but neither its limits nor its state.
    limits = {"size_min_bytes": "", "size_max_bytes": "", "status": ""}
    expected = wanted | of_one | limits
    assert {name: one[name] for name in expected} == expected

    app = create_app(site.settings)
    usage = get(app, "/api/v1/usage/structures/QSG1/APP1").json()
    (point,) = usage["points"]
    assert point["at"] == "2026-11-27T12:00:00Z"
    assert (point["entries_in_use_max"], point["entries_total"]) == (159, 2060)
    assert (point["elements_in_use_max"], point["elements_total"]) == (287, 2109)
    assert point["size_bytes"] == 20971520
    page = get(app, "/usage/QSG1/APP1", accept="text/html")
    assert page.status == 200
    text = " ".join(re.sub(r"<[^>]*>", " ", page.text).split())
    assert "Most list entries 159 7.8 % of 2060" in text
    assert "Entries in use of % Elements in use of % Entries in SCM Elements in SCM" in text
    assert "2026-11-27 12:00 159 2060 7.8 287 2109 13.7 17 23" in text
