"""Compare saving and showing plans with endpoints that only validate the same document and store it.

The planner computes, explains and stores everything that a version shows, and answers with an HTML page; the other
server stores the text of the document. Each plan is saved under new names, so that every save creates a plan.
"""

from __future__ import annotations

import http.client
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.plans import QUEUES, STRUCTURES, largest
from bench.service import PATIENCE_S, Server, running

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
SERVERS = ("planner", "bare-store")


@dataclass(frozen=True)
class Stored:
    """Times of one server to save and show a plan: medians of seconds, and of its CPU seconds."""

    save_s: float
    show_s: float
    cpu_s: float


_Served = tuple[Server, http.client.HTTPConnection]
Saved = Callable[[http.client.HTTPConnection, str], str]
"""A function that saves a plan under a name, and returns the path that shows it."""


def measure(
    *, structures: int = STRUCTURES, queues: int = QUEUES, rounds: int = 3
) -> tuple[dict[str, Stored], dict[str, Stored]]:
    """Measure saving a plan and showing it as a page.

    Returns:
        The times for the largest plan, saved over REST, and for queues that are pasted into the form of the editor; the other
        server gets the document.
    """
    with ExitStack() as stack:
        servers = {which: stack.enter_context(_served(which)) for which in SERVERS}
        largest_plan = _measure(
            servers, _ways_of_the_largest_plan(structures=structures, queues=queues), "PLAN", rounds=rounds
        )
        return largest_plan, _measure(servers, _ways_of_pasted_queues(queues), "PASTED", rounds=rounds)


def _ways_of_the_largest_plan(*, structures: int, queues: int) -> dict[str, Saved]:
    body = json.dumps(largest(structures=structures, queues=queues)).encode()
    return {"planner": by_rest(body), "bare-store": _put_bare(body)}


def by_rest(body: bytes) -> Saved:
    """Return the function that saves a document as a new plan over REST."""

    def put(connection: http.client.HTTPConnection, name: str) -> str:
        _ask(connection, "PUT", f"/api/v1/plans/{name}", body, JSON, expected=201)
        return f"/plans/{name}"

    return put


def _ways_of_pasted_queues(queues: int) -> dict[str, Saved]:
    plan = largest(structures=1, queues=queues)
    lines = ["name,message_bytes,p95,max,backlog,persistent"]
    for place, queue in enumerate(plan["structures"][0]["queues"]):
        del queue["isolation"]
        sizes = queue["message_bytes"]
        # The pasted table has only backlogs, and both servers must get the same plan.
        backlog = queue.setdefault("backlog", 1000 + place)
        lines.append(
            f"{queue['name']},{sizes['mean']},{sizes['p95']},{sizes['max']},{backlog},{'yes' if queue['persistent'] else 'no'}"
        )
        queue.pop("put_rate_per_s", None)
        queue.pop("outage_minutes", None)
    form = {
        "do": "save", "/qsg": "SQ03", "/queue_managers": "32", "/cfcc_level": "25",
        "/coupling_facilities/0/name": "CF01", "/coupling_facilities/0/size": "512G",
        "/structures/0/name": "APPLICATION1", "/structures/0/offload/dsgroup": "MQ.SMDS.*.APP1",
        "/structures/0/paste": "\n".join(lines),
    }  # fmt: skip

    def by_form(connection: http.client.HTTPConnection, name: str) -> str:
        sent = urlencode({**form, "name": name}).encode()
        _ask(connection, "POST", "/new-plan", sent, FORM, expected=303)
        return f"/plans/{name}"

    return {"planner": by_form, "bare-store": _put_bare(json.dumps(plan).encode())}


def _put_bare(body: bytes) -> Saved:
    def put(connection: http.client.HTTPConnection, name: str) -> str:
        _ask(connection, "PUT", f"/{name}", body, JSON, expected=200)
        return f"/{name}"

    return put


def _measure(
    servers: dict[str, _Served], ways: dict[str, Saved], name: str, *, rounds: int
) -> dict[str, Stored]:
    """Return the median times of each server to save and show plans with this name and a number."""
    times: dict[str, list[tuple[float, float, float]]] = {which: [] for which in ways}
    for number in range(rounds + 1):
        for which, (server, connection) in servers.items():
            found = save_and_show(server, connection, ways[which], f"{name}{number}")
            if number:  # the first round is a warm-up
                times[which].append(found)
    return {
        which: Stored(*(statistics.median(each) for each in zip(*found, strict=True)))
        for which, found in times.items()
    }


@contextmanager
def _served(which: str) -> Iterator[_Served]:
    with tempfile.TemporaryDirectory() as folder, running(which, (), data_dir=Path(folder)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        try:
            yield server, connection
        finally:
            connection.close()


def save_and_show(
    server: Server, connection: http.client.HTTPConnection, save: Saved, name: str
) -> tuple[float, float, float]:
    """Save a plan under a name and show it; return the seconds of both, and CPU seconds of the server."""
    cpu, start = server.cpu_s(), time.perf_counter()
    shown_at = save(connection, name)
    saved = time.perf_counter()
    _ask(connection, "GET", shown_at, None, None, expected=200)
    return saved - start, time.perf_counter() - saved, server.cpu_s() - cpu


def _ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | None,
    media_type: str | None,
    *,
    expected: int,
) -> Any:  # noqa: ANN401 - any JSON value
    headers = {
        # Sent like a browser, so that the planner answers with a page.
        "Accept": "text/html, application/json",
        **({"Content-Type": media_type} if media_type else {}),
    }
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != expected:
        message = f"{method} {path}: the server answered {answer.status}: {text[:300]!r}"
        raise RuntimeError(message)
    return text
