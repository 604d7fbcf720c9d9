"""Cost of polling RMF's data server: simulated hours of one-minute intervals, without a network.

The alternative is parsing the answers alone, which any client must do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlalchemy import func, select

from app.connections.client import Client, Reply
from app.database.engine import database_of
from app.dds import service
from app.dds.models import DdsInterval
from app.settings import Settings
from app.uploads.files import path_of
from app.uploads.models import Upload
from planner_core.contracts.cfact import CFACT_COLUMNS, DDS_TIME_FORMAT

if TYPE_CHECKING:
    from app.connections.client import Client

MINUTE = timedelta(minutes=1)
BEGIN = datetime(2026, 11, 27, tzinfo=UTC)
COLUMNS_OF_AN_ANSWER = 85
"""The columns of IBM's published answer (github.com/IBM/RMF, mock-dds); cfplan reads some of them."""
NUMBERS = {"CFAISTRS": "20971520", "CFAILEL": "20600", "CFAIMAE": "42180", "CFAPSYNC": "10", "CFAPASYC": "2"}


@dataclass(frozen=True)
class Polled:
    """The cost of all polls and of one upload."""

    polls: int
    intervals: int
    gaps: int
    uploads: int
    cpu_ms: float
    """CPU milliseconds of a poll, the uploads of complete hours included."""
    parse_cpu_ms: float
    answer_bytes: int
    upload_bytes: int
    database_bytes: int
    ingest_cpu_s: float
    """CPU seconds of `cfplan ingest` for the upload of one hour."""


class _Answers:
    """A client whose server has a report of every minute."""

    name = "RMF1"

    def __init__(self, structures: int, systems: int) -> None:
        self.now = BEGIN
        self.answer = b""
        more = [f"CFAX{number:04}" for number in range(COLUMNS_OF_AN_ANSWER - len(CFACT_COLUMNS))]
        self._columns = [*CFACT_COLUMNS, *more]
        names = ["QSG1CSQ_ADMIN", *(f"QSG1APP{number:04}" for number in range(1, structures))]
        of_rows = ["*ALL", *(f"SY{number:02}" for number in range(systems))]
        self._rows = [self._row(name, system) for name in names for system in of_rows]

    def _row(self, name: str, system: str) -> list[str]:
        cells = {"CFAISTRU": name, "CFAITYPE": "LIST", "CFAPSYS": system, "CFAINAM": "CF01", **NUMBERS}
        return [cells.get(column, "0.0") for column in self._columns]

    def get(self, path: str, *, params: object) -> Reply:
        """Answer with the report of the last complete minute."""
        del params
        used = str(100 + self.now.minute)
        in_use = self._columns.index("CFAILEM")
        for row in self._rows:
            row[in_use] = used
        times = {"utcStart": self.now - MINUTE, "utcEnd": self.now, "localStart": self.now - MINUTE}
        report = {
            "columnHeaders": {"col": [{"type": "N", "value": each} for each in self._columns]},
            "resource": {"reslabel": ",PLEX1,SYSPLEX"},
            "row": [{"col": row, "refno": number} for number, row in enumerate(self._rows, start=1)],
            "timeData": {name: at.strftime(DDS_TIME_FORMAT) for name, at in times.items()},
        }
        self.answer = json.dumps({"message": [], "report": [report]}).encode()
        return Reply(self.name, "GET", path, 200, "application/json", self.answer)


def measure(*, hours: int, structures: int, systems: int) -> Polled:
    """Poll once for each minute of some hours, and read the upload of the first one."""
    with tempfile.TemporaryDirectory(prefix="cfplan-bench-") as folder:
        work = Path(folder)
        declared = {"RMF1": {"kind": "dds", "address": "http://127.0.0.1:9"}}
        (work / "connections.yaml").write_text(json.dumps({"connections": declared}))
        settings = Settings(data_dir=work / "data", connections_file=str(work / "connections.yaml"))
        database = database_of(settings)
        database.upgrade()
        client = _Answers(structures, systems)
        cpu_s = parse_s = 0.0
        for minute in range(60 * hours + 1):
            client.now = BEGIN + (minute + 1) * MINUTE
            client.get("", params=None)
            made = time.process_time()
            client.get("", params=None)
            making_s = time.process_time() - made
            began = time.process_time()
            json.loads(client.answer)
            parse_s += time.process_time() - began
            began = time.process_time()
            service.poll(database, settings, "RMF1", opened=cast("Client", client))
            cpu_s += time.process_time() - began - making_s
        polls = 60 * hours + 1
        with database.session(writes=False) as session:
            intervals = session.scalar(
                select(func.count()).select_from(DdsInterval).where(DdsInterval.missing.is_(None))
            )
            gaps = session.scalar(
                select(func.count()).select_from(DdsInterval).where(DdsInterval.missing.is_not(None))
            )
            uploads = session.scalars(select(Upload).order_by(Upload.id)).all()
        first = path_of(settings.data_dir, uploads[0].sha256)
        named = work / "hour.json"
        named.write_bytes(first.read_bytes())
        ingest_s = _ingested(named, work / "history")
        size = sum(each.stat().st_size for each in (work / "data").glob("cfplan.db*"))
        database.close()
        return Polled(
            polls, intervals or 0, gaps or 0, len(uploads), 1000 * cpu_s / polls, 1000 * parse_s / polls,
            len(client.answer), first.stat().st_size, size, ingest_s,
        )  # fmt: skip


def _ingested(path: Path, data_dir: Path) -> float:
    import os
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "CFPLAN_DATA_DIR": str(data_dir)}
    subprocess.run(
        [sys.executable, "-m", "app.cli", "ingest", str(path)],
        env=environment,
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def print_polls(*, hours: int, structures: int, systems: int) -> None:
    """Measure, and print the cost."""
    found = measure(hours=hours, structures=structures, systems=systems)
    print(
        f"\n{hours} simulated hours of one-minute polls, {structures} structures, {systems} systems: {found.polls} polls, "
        f"{found.intervals} intervals stored, {found.gaps} gaps, {found.uploads} uploads\n"
        f"{'a poll, CPU':<44}{found.cpu_ms:>9.1f} ms\n"
        f"{'  parsing of the answer alone':<44}{found.parse_cpu_ms:>9.1f} ms, ratio {found.cpu_ms / found.parse_cpu_ms:.1f}\n"
        f"{'an answer':<44}{found.answer_bytes / 1e6:>9.2f} MB\n"
        f"{'the upload of an hour':<44}{found.upload_bytes / 1e6:>9.2f} MB\n"
        f"{'the database, at most an hour waiting':<44}{found.database_bytes / 1e6:>9.2f} MB\n"
        f"{'cfplan ingest of the upload of an hour, CPU':<44}{found.ingest_cpu_s:>9.1f} s"
    )
