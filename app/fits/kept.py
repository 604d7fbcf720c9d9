"""Lookup of fitted curves by their version, for documents that name one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.database.engine import Database
    from app.fits.fits import Fit


class Curves(Protocol):
    """A function that returns the fit of a version, or None if there is none."""

    def __call__(self, version: int, /) -> Fit | None:
        """Return the fit of this version."""
        ...


def no_curves(version: int) -> Fit | None:
    """Return None; used where documents may name only the published curve."""
    del version
    return None


def curves_in(database: Database) -> Curves:
    """Return a lookup in a database. Each call is a short transaction of its own."""

    def find(version: int) -> Fit | None:
        # SQLAlchemy is slow to import, and most commands need no database.
        from app.fits import fits

        with database.session(writes=False) as session:
            return fits.find_fit(session, version)

    return find


def curves_for(session: Session) -> Curves:
    """Return a lookup in the database of a session, which uses its own short transactions.

    A session that writes takes SQLite's lock with its first statement, and would hold it while a plan is computed.
    """

    def find(version: int) -> Fit | None:
        from sqlalchemy.orm import Session

        from app.database.engine import reading_engine
        from app.fits import fits

        with Session(reading_engine(session)) as beside:
            return fits.find_fit(beside, version)

    return find
