"""Compare POST /api/v1/size with endpoints that only validate the same document and return it.

uvicorn serves each on 127.0.0.1 in its own process. Rounds alternate, so that other load on the machine affects all of them.
Several connections keep the servers busy, so that this client is not measured.

The service keeps the results of unchanged structures, so one measurement sends documents with the same structures, and
another documents in which every application structure differs from those of all requests before. It also keeps the answers
of whole documents, so the documents with the same structures differ in something else.
"""

from __future__ import annotations

import copy
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count, cycle, islice
from pathlib import Path

from planner_core.wire import JsonObject

ROOT = Path(__file__).parents[1]
CONNECTIONS = 4
PATIENCE_S = 300.0
"""Time for a server to start and to answer its first request, on a busy machine."""
VARIANTS = 1000
"""The number of different documents: together they have more structures, and more answers, than the service keeps."""
SERVERS = ("planner", "bare-def", "bare-async")


@dataclass(frozen=True)
class Served:
    """The speed of one server in its median round."""

    requests_per_s: float
    cpu_us_per_request: float
    answer_bytes: int


class Server:
    """A server process and its connections."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, bodies: Iterable[bytes]) -> None:
        self.process = process
        self.bodies = iter(bodies)
        self.port = port
        self.connections: list[socket.socket] = []

    @property
    def address(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> int:
        """Open the connections, wait for the server to answer, and return the length of its answers [bytes]."""
        for _ in range(CONNECTIONS):
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
            # Nagle's algorithm would delay small requests and measure the client.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
        return len(self.ask_all()[0])

    def end(self) -> None:
        """Close the connections and end the process."""
        for connection in self.connections:
            connection.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ask_all(self) -> list[bytes]:
        """Send the next requests, one on every connection, and return the answers."""
        for connection in self.connections:
            connection.sendall(self._request(next(self.bodies)))
        return [read_answer(connection) for connection in self.connections]

    def _request(self, body: bytes) -> bytes:
        return (
            f"POST /api/v1/size HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body

    def round(self, requests: int) -> tuple[float, float]:
        """Send a number of requests; return seconds, and CPU seconds of the server."""
        # The CPU time of the server alone, because this client shares the machine with it.
        cpu, start = self.cpu_s(), time.perf_counter()
        for _ in range(requests // CONNECTIONS):
            self.ask_all()
        return time.perf_counter() - start, self.cpu_s() - cpu

    def cpu_s(self) -> float:
        """Return the CPU time of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        """Return the resident memory of the process."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def read_answer(connection: socket.socket) -> bytes:
    """Return the body of one answer, which must have status 200."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _receive(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    if b" 200 " not in lines[0]:
        message = f"the server answered {lines[0].decode()}"
        raise RuntimeError(message)
    length = next(
        int(line.split(b":")[1]) for line in lines[1:] if line.lower().startswith(b"content-length:")
    )
    while len(body) < length:
        body += _receive(connection)
    return body


def _receive(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 16)
    if not data:
        message = "the server closed the connection"
        raise RuntimeError(message)
    return data


def variants(document: JsonObject) -> Iterator[JsonObject]:
    """Yield a plan, and copies in which the demand of the first queue of every structure differs."""
    for number in count():
        copied = copy.deepcopy(document)
        for structure in copied["structures"]:
            queue = structure["queues"][0]
            queue["backlog" if "backlog" in queue else "outage_minutes"] += number
        yield copied


def same_structures(document: JsonObject) -> Iterator[JsonObject]:
    """Yield copies of a plan with the same structures, and with another reason for an accepted finding in each."""
    for number in count():
        yield {
            **document, "acknowledged": [{"code": "USAGE_MEASURE_ASSUMED", "reason": f"agreed in change {number}"}],
        }  # fmt: skip


@contextmanager
def running(which: str, bodies: Iterable[bytes], *, data_dir: Path | None = None) -> Iterator[Server]:
    """Start a server and stop it at the end of the block; it stores data in `data_dir`.

    Args:
        which: The server.
        bodies: The bodies of the requests, one after another.
        data_dir: The folder for its data.
    """
    stores = {"CFPLAN_DATA_DIR": str(data_dir)} if data_dir is not None else {}
    with started((sys.executable, "-m", "bench.serving", which), bodies, {**os.environ, **stores}) as server:
        yield server


@contextmanager
def started(
    command: Sequence[str], bodies: Iterable[bytes], environment: Mapping[str, str], *, folder: Path = ROOT
) -> Iterator[Server]:
    """Start a server and stop it at the end of the block.

    Args:
        command: The command, to which the number of the listening socket is appended.
        bodies: The bodies of the requests, one after another.
        environment: The environment of the process.
        folder: The working directory of the process.
    """
    # The server inherits a listening socket, so that connections wait in its queue until the server is ready.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        descriptor = listener.fileno()
        process = subprocess.Popen(
            [*command, str(descriptor)], pass_fds=[descriptor], env=environment, cwd=folder
        )
    server = Server(process, port, bodies)
    try:
        yield server
    finally:
        server.end()


def measure(
    document: JsonObject, *, rounds: int, requests: int
) -> tuple[dict[str, Served], dict[str, Served]]:
    """Measure the servers in alternation, and return the median round of each.

    Args:
        document: The plan.
        rounds: The number of rounds.
        requests: The number of requests in each round.

    Returns:
        The speed with plans that have the same structures, and with plans in which every application structure differs.
    """
    # Encoded before each measurement, because the client shares the machine with the servers.
    repeated = [json.dumps(each).encode() for each in islice(same_structures(document), VARIANTS)]
    requests = requests_of_a_round(requests)
    with ExitStack() as stack:
        servers = {which: stack.enter_context(running(which, cycle(repeated))) for which in SERVERS}
        answers = {which: server.connect() for which, server in servers.items()}
        found = _median_rounds(servers, answers, rounds=rounds, requests=requests)
        varied = [json.dumps(each).encode() for each in islice(variants(document), VARIANTS)]
        for server in servers.values():
            server.bodies = cycle(varied)
        return found, _median_rounds(servers, answers, rounds=rounds, requests=requests)


def requests_of_a_round(wanted: int) -> int:
    """Return the number of requests that a round sends: the same number on every connection."""
    return max(wanted // CONNECTIONS, 1) * CONNECTIONS


def _median_rounds(
    servers: dict[str, Server], answers: dict[str, int], *, rounds: int, requests: int
) -> dict[str, Served]:
    """Return the median round of each server, whose answers have these lengths [bytes]."""
    times: dict[str, list[tuple[float, float]]] = {which: [] for which in servers}
    for server in servers.values():
        server.round(requests)  # warm-up
    for _ in range(rounds):
        for which, server in servers.items():
            times[which].append(server.round(requests))
    return {
        which: Served(
            requests_per_s=requests / statistics.median(seconds for seconds, _ in found),
            cpu_us_per_request=statistics.median(cpu for _, cpu in found) / requests * 1e6,
            answer_bytes=answers[which],
        )
        for which, found in times.items()
    }
