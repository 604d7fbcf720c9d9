"""Answer requests that were stopped: because of their CPU time, or because the service stops."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.calls import WORK, CpuLimitExceeded, Overseer, RequestWork, ServiceStopping
from app.web.problems import problem_of, problem_response
from planner_core.errors import PlannerError

EVENT_STREAM = b"text/event-stream"


class RunningRequests:
    """Middleware that limits the work of requests, and answers those that were stopped."""

    def __init__(self, app: ASGIApp, overseer: Overseer) -> None:
        self.app = app
        self._overseer = overseer
        self._answers: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; answer it here if it is stopped."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        is_answered = False
        overseer = self._overseer

        async def counted_receive() -> Message:
            message = await receive()
            work.body_bytes += len(message.get("body", b""))
            return message

        async def send_unless_answered(message: Message) -> None:
            nonlocal start
            if is_answered:
                return
            if message["type"] == "http.response.start":
                start = message
                if overseer.is_leaving or overseer.is_stopping:
                    # This process accepts no more requests, so the client must connect again for its next one.
                    message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            # The layers outside compress the response, which takes time in proportion to its length.
            token = WORK.set(None)
            try:
                await send(message)
            finally:
                WORK.reset(token)

        async def answer(error: PlannerError) -> None:
            nonlocal is_answered
            response = problem_response(Request(scope), problem_of(error))
            response.headers["connection"] = "close"
            is_answered = True
            WORK.set(None)  # the response is not limited
            await response(scope, receive, send)

        def answer_now(error: PlannerError) -> None:
            # A started response cannot be replaced; its connection ends with this process.
            if start is None and not is_answered:
                task = asyncio.get_running_loop().create_task(answer(error))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)

        work = RequestWork(overseer, answer_now)
        overseer.requests.add(work)
        token = WORK.set(work)
        try:
            await self.app(scope, counted_receive, send_unless_answered)
        except Exception as error:
            # The handlers of the application answer most of these errors. They raise another one if a response has started.
            reason = error.__cause__ if isinstance(error, RuntimeError) else error
            if not isinstance(reason, (CpuLimitExceeded, ServiceStopping)):
                raise
            # The server closes the connection of a response that is not complete.
            if start is None and not is_answered:
                await answer(reason)
        except asyncio.CancelledError:
            if not overseer.is_ending or work.task is None:
                raise
            work.task.uncancel()
            if start is not None and _is_event_stream(start):
                # The client connects again by itself when the stream ends.
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            elif start is None and not is_answered:
                await answer(work.error())
        finally:
            WORK.reset(token)
            overseer.requests.discard(work)
            work.close()


def _is_event_stream(start: Message) -> bool:
    return any(
        name == b"content-type" and value.startswith(EVENT_STREAM) for name, value in start.get("headers", ())
    )
