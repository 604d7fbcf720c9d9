"""Where fitted curves are looked up by their version: in the database, or nowhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.database.engine import Database


@dataclass(frozen=True, slots=True)
class StoredFit:
    """A fit as it is kept: its version, whether plans may use it, and the fit itself."""

    version: int
    state: str
    reason: str
    is_simulated: bool
    fit: Mapping[str, Any]


class Curves(Protocol):
    """Something that knows fitted curves by their version."""

    def find(self, version: int) -> StoredFit | None:
        """The curve of that version; None when there is none."""
        ...


class NoCurves:
    """Knows none: for documents that name the published curve."""

    def find(self, version: int) -> StoredFit | None:
        """None."""
        del version
        return None


class DatabaseCurves:
    """Those of a database. It is asked only when a document names one, each time in a short transaction of its own."""

    def __init__(self, database: Database) -> None:
        """Keep the database; nothing is opened yet."""
        self.database = database

    def find(self, version: int) -> StoredFit | None:
        """The curve of that version; None when there is none."""
        with self.database.session(writes=False) as session:
            return _kept(session, version)


class CurvesBeside:
    """Those of the database that a session is of, read in a transaction of its own.

    A session that writes would take SQLite's lock with its first statement, and hold it while a plan is computed.
    """

    def __init__(self, session: Session) -> None:
        """Keep the session; it is not used itself."""
        self.session = session

    def find(self, version: int) -> StoredFit | None:
        """The curve of that version; None when there is none."""
        from sqlalchemy.orm import Session

        from app.database.engine import WRITES

        engine = self.session.get_bind().engine.execution_options(**{WRITES: False})
        with Session(engine) as beside:
            return _kept(beside, version)


def _kept(session: Session, version: int) -> StoredFit | None:
    from app.nightly import repository

    row = repository.find_curve(session, version)
    if row is None:
        return None
    return StoredFit(row.id, row.state, row.reason, row.is_simulated, json.loads(row.fit))
