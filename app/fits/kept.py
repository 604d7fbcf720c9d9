"""Where fitted curves are looked up by their version: in the database, or nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.database.engine import Database
    from app.fits.fits import Fit


class Curves(Protocol):
    """Something that knows fitted curves by their version."""

    def find(self, version: int) -> Fit | None:
        """The curve of that version; None when there is none."""
        ...


class NoCurves:
    """Knows none: for documents that name the published curve."""

    def find(self, version: int) -> Fit | None:
        """None."""
        del version
        return None


class DatabaseCurves:
    """Those of a database. It is asked only when a document names one, each time in a short transaction of its own."""

    def __init__(self, database: Database) -> None:
        """Keep the database; nothing is opened yet."""
        self.database = database

    def find(self, version: int) -> Fit | None:
        """The curve of that version; None when there is none."""
        # SQLAlchemy takes long to import, and most commands need no database.
        from app.fits import fits

        with self.database.session(writes=False) as session:
            return fits.find_fit(session, version)


class CurvesBeside:
    """Those of the database that a session is of, read in a transaction of its own.

    A session that writes would take SQLite's lock with its first statement, and hold it while a plan is computed.
    """

    def __init__(self, session: Session) -> None:
        """Keep the session; it is not used itself."""
        self.session = session

    def find(self, version: int) -> Fit | None:
        """The curve of that version; None when there is none."""
        from sqlalchemy.orm import Session

        from app.database.engine import WRITES
        from app.fits import fits

        engine = self.session.get_bind().engine.execution_options(**{WRITES: False})
        with Session(engine) as beside:
            return fits.find_fit(beside, version)
