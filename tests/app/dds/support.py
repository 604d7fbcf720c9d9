"""A data server with its clock, and a cfplan that polls it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select

from app.connections.client import Client, open_client
from app.database.engine import Database, database_of
from app.dds import service
from app.dds.models import DdsInterval
from app.dds.service import Poll
from app.settings import Settings
from app.uploads.models import Upload
from tests.connections_support.dds import MINUTE, DataServer
from tests.connections_support.server import entry_of, write_file

NOON = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)


class Site:
    """A data server with its clock, and a cfplan that polls it."""

    def __init__(self, folder: Path) -> None:
        self.now = NOON
        self.server = DataServer(lambda: self.now)
        self.folder = folder
        self.settings = Settings(data_dir=folder / "data")
        self.database: Database
        self.client: Client | None = None
        self.opened = ExitStack()

    def declare(self, **more: object) -> None:
        """Write the file of connections with DDS1."""
        file = write_file(
            self.folder, {"DDS1": entry_of(self.server, self.folder, "dds", attempts=1, **more)}
        )
        self.settings = Settings(data_dir=self.folder / "data", connections_file=str(file))
        self.client = None
        self.database = database_of(self.settings)
        self.database.upgrade()

    def poll(self, minutes: int = 1) -> Poll:
        """Let minutes pass, and poll once over a connection that stays open: tests need not repeat the TLS handshake."""
        self.now += minutes * MINUTE
        if self.client is None:
            self.client = self.opened.enter_context(
                open_client("DDS1", service.dds_connection(self.settings, "DDS1"))
            )
        return service.poll(self.database, self.settings, "DDS1", opened=self.client)

    def intervals(self) -> dict[datetime, DdsInterval]:
        with self.database.session(writes=False) as session:
            return {each.start_at: each for each in session.scalars(select(DdsInterval))}

    def state(self) -> service.PollerState:
        with self.database.session(writes=False) as session:
            (found,) = service.states(session, self.settings)
        return found

    def uploaded(self) -> list[dict[str, Any]]:
        """Return the reports in all uploads, in the order of the uploads."""
        with self.database.session(writes=False) as session:
            names = [each.sha256 for each in session.scalars(select(Upload).order_by(Upload.id))]
        files = [next(self.settings.data_dir.rglob(name)) for name in names]
        return [json.loads(line)["report"][0] for file in files for line in file.read_text().splitlines()]


def minutes(start: datetime, count: int) -> set[datetime]:
    return {start + number * MINUTE for number in range(count)}
