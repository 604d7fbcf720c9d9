"""Generate a few pages at a time, so that short answers do not wait behind many long ones."""

from __future__ import annotations

from anyio import CapacityLimiter, move_on_after
from starlette.types import ASGIApp, Message, Receive, Scope, Send

AT_ONCE = 2
"""Threads of one process share a processor core, so more pages at a time end no sooner, and delay everything else. With
two, one can use the processor while the other waits for the database.
"""
PATIENCE_S = 1.0
"""A page that waits for the database must not block the others: after this time, they stop waiting for their turn."""
WITHOUT_TURN = ("/api/", "/healthz", "/readyz", "/metrics", "/static/")


class PagesInTurn:
    """Middleware in which GET requests for pages wait for their turn, which ends when the response begins."""

    def __init__(self, app: ASGIApp, *, at_once: int = AT_ONCE, patience_s: float = PATIENCE_S) -> None:
        self.app = app
        self.patience_s = patience_s
        self._turns = CapacityLimiter(at_once)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, pages in their turn."""
        if scope["type"] != "http" or scope["method"] != "GET" or _is_without_turn(scope):
            await self.app(scope, receive, send)
            return
        holder = object()

        def end_turn() -> None:
            if holder in self._turns.statistics().borrowers:
                self._turns.release_on_behalf_of(holder)

        async def send_after_turn(message: Message) -> None:
            # Not held while the response is sent: a slow client would delay the other pages.
            end_turn()
            await send(message)

        with move_on_after(self.patience_s):
            await self._turns.acquire_on_behalf_of(holder)
        try:
            await self.app(scope, receive, send_after_turn)
        finally:
            end_turn()


def _is_without_turn(scope: Scope) -> bool:
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path.startswith(WITHOUT_TURN)
