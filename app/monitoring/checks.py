"""Questions to the database whose answers a check must not wait for."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, TypeVar

from anyio import CapacityLimiter, move_on_after, to_thread
from sqlalchemy.exc import SQLAlchemyError

from app.database.engine import Database
from planner_core.errors import PlannerError

DATABASE_ANSWERS_WITHIN_S: Final = 2.0
_Found = TypeVar("_Found")

logger = logging.getLogger("cfplan.health")


async def ask(
    read: Callable[[Database], _Found],
    database: Database,
    *,
    limiter: CapacityLimiter,
    within_s: float = DATABASE_ANSWERS_WITHIN_S,
) -> _Found | None:
    """Return what a function reads from the database; None if the database does not answer in time.

    Args:
        read: The function, which runs in a thread.
        database: Its argument.
        limiter: Bounds the threads that wait for a dead server, so that they do not use up those for requests.
        within_s: Seconds within which it must answer.
    """
    with move_on_after(within_s):
        try:
            # A thread cannot be cancelled, so it is abandoned: the driver's own time limit ends it later.
            return await to_thread.run_sync(read, database, abandon_on_cancel=True, limiter=limiter)
        except (SQLAlchemyError, PlannerError, OSError) as error:
            logger.warning("The database does not answer: %s", error)
    return None
