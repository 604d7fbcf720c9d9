"""Lookup of fitted curves by their version, for documents that name one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.database.engine import Database
    from app.fits.fits import Fit


class Curves(Protocol):
    """A source of fitted curves."""

    def find(self, version: int) -> Fit | None:
        """Return the fit of that version; None if there is none."""
        ...


class NoCurves:
    """No fitted curves: for documents that name the published curve."""

    def find(self, version: int) -> Fit | None:
        """Return None."""
        del version
        return None


class DatabaseCurves:
    """The fitted curves of a database. Each lookup is a short transaction of its own."""

    def __init__(self, database: Database) -> None:
        """Keep the database without opening it."""
        self.database = database

    def find(self, version: int) -> Fit | None:
        """Return the fit of that version; None if there is none."""
        # SQLAlchemy takes long to import, and most commands need no database.
        from app.fits import fits

        with self.database.session(writes=False) as session:
            return fits.find_fit(session, version)


class CurvesBeside:
    """The fitted curves of the database of a session, read in a transaction of their own.

    A session that writes would take SQLite's lock with its first statement, and hold it while a plan is computed.
    """

    def __init__(self, session: Session) -> None:
        """Keep the session, which is only used to find its database."""
        self.session = session

    def find(self, version: int) -> Fit | None:
        """Return the fit of that version; None if there is none."""
        from sqlalchemy.orm import Session

        from app.database.engine import WRITES
        from app.fits import fits

        engine = self.session.get_bind().engine.execution_options(**{WRITES: False})
        with Session(engine) as beside:
            return fits.find_fit(beside, version)
