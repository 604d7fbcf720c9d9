"""Comparison of requests: pages, sizing requests, and the largest plan."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from bench import stored
from bench.aims import (
    AIM_EVALUATE_S,
    AIM_PAGE_KB,
    AIM_PAGE_MS,
    AIM_RATIO,
    AIM_RATIO_REPEATED,
    AIM_READ_S,
    AIM_SAVE_LARGEST_S,
    AIM_SHOW_LARGEST_S,
    KILO,
    MEGA,
)
from bench.service import (
    PATIENCE_S,
    VARIANTS,
    Server,
    requests_of_a_round,
    running,
    same_structures,
    variants,
)
from bench.versions.checkout import Version
from bench.versions.rounds import Figures, Measured, Run, alternate, documents_of, each_version
from bench.versions.table import Line, lines

BARE = "bare-def"
FIRST_NUMBER = 200_001
ANSWERS_A_ROUND = 10
PLANS_A_ROUND = 3
ADDRESSES: Mapping[str, Sequence[str]] = {"/calculator": ("/calculator", "/")}
"""Addresses of pages in the versions, the newest first, by the start of the newest one."""
PAGES = {
    "calculator": "/calculator?messages={number}",
    "list of the documentation": "/docs",
    "openapi.json": "/openapi.json",
}
CALCULATOR = "calculator"


def measure_pages(run: Run) -> list[Line]:
    """Compare pages that every planner loads."""
    addresses = {name: candidates(address) for name, address in PAGES.items()}

    def measured(version: Version) -> Figures:
        numbers = [FIRST_NUMBER + nth for nth in range(ANSWERS_A_ROUND + 1)]
        found = version.probe("pages", run.data("pages"), addresses=addresses, numbers=numbers)
        figures = {}
        for name, each in found.items():
            if each is not None:
                figures[f"{name}, first, CPU ms"] = each["first_ms"]
                figures[f"{name}, CPU ms"] = each["median_ms"]
                figures[f"{name}, KB sent"] = each["sent_bytes"] / KILO
                figures[f"{name}, KB"] = each["plain_bytes"] / KILO
        return figures

    found = alternate("pages", each_version(run, measured), run.options.rounds)
    aims: dict[str, float | None] = {
        f"{name}, {figure}": None for name in PAGES for figure in ("first, CPU ms", "CPU ms", "KB sent", "KB")
    }
    # The aim was set for the page before compression, which had 212 KB.
    aims |= {f"{CALCULATOR}, CPU ms": AIM_PAGE_MS, f"{CALCULATOR}, KB": AIM_PAGE_KB}
    return lines(found, aims)


def measure_sizing(run: Run) -> list[Line]:
    """Compare sizing requests with a plain endpoint of this version that validates the document and returns it."""
    made: list[Line] = []
    requests = requests_of_a_round(run.options.requests)
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        documents: dict[str, Any] = {}

        def prepare(version: Version) -> Figures:
            servers[version.name] = stack.enter_context(version.serving(run.data("sizing", version.name)))
            documents[version.name] = documents_of(run, version)["sq03"]
            return {}

        def prepare_bare() -> Figures:
            servers[BARE] = stack.enter_context(running(BARE, ()))
            documents[BARE] = documents_of(run, run.after)["sq03"]
            return {}

        def measured(name: str) -> Figures:
            server = servers[name]
            if not server.connections:
                server.connect()
            seconds, cpu_s = server.round(requests)
            return {"requests/s": requests / seconds, "CPU us each": cpu_s / requests * MEGA}

        prepared = alternate("sizing, start", {**each_version(run, prepare), BARE: prepare_bare}, 1)
        for what, kinds, count, aim in (
            ("the same document", same_structures, 1, None),
            ("the same structures in each", same_structures, VARIANTS, AIM_RATIO_REPEATED),
            ("other structures in each", variants, VARIANTS, AIM_RATIO),
        ):
            # Encoded before the measurement, because the client shares the machine with the servers.
            for name, server in servers.items():
                server.bodies = cycle(
                    [json.dumps(each).encode() for each in islice(kinds(documents[name]), count)]
                )
            found = alternate(
                f"sizing, {what}",
                {name: lambda each=name: measured(each) for name in prepared},  # type: ignore[misc]
                run.options.rounds,
                warm_ups=1,
                prepared=prepared,
            )
            bare = found[BARE].median("requests/s")
            for each in found.values():
                each.rounds = [
                    {f"sizing, {what}, {name}": value for name, value in of.items()} for of in each.rounds
                ]
                if bare:
                    each.rounds = [
                        {**of, f"sizing, {what}, of {BARE}": of[f"sizing, {what}, requests/s"] / bare}
                        for of in each.rounds
                    ]
            made += lines(
                found,
                {
                    f"sizing, {what}, requests/s": None,
                    f"sizing, {what}, CPU us each": None,
                    f"sizing, {what}, of {BARE}": aim,
                },
            )
    return made


def measure_largest(run: Run) -> list[Line]:
    """Compare reading, evaluating, saving and showing the largest plan."""
    size = {"structures": run.options.structures, "queues": run.options.queues}

    def computed(version: Version) -> Figures:
        found = version.probe("core", run.data("core"), **size, rounds=PLANS_A_ROUND)
        return {
            "largest plan: read, CPU s": found["later"]["read_s"],
            "largest plan: evaluate, first, CPU s": found["first"]["evaluate_s"],
            "largest plan: evaluate, CPU s": found["later"]["evaluate_s"],
        }

    made = lines(
        alternate("largest plan, core", each_version(run, computed), run.options.rounds),
        {
            "largest plan: read, CPU s": AIM_READ_S,
            "largest plan: evaluate, first, CPU s": None,
            "largest plan: evaluate, CPU s": AIM_EVALUATE_S,
        },
    )
    with ExitStack() as stack:
        saves: dict[str, Callable[[], Figures]] = {}

        def prepare(version: Version) -> Figures:
            body = json.dumps(documents_of(run, version)["largest"]).encode()
            saves[version.name] = _saving(version, run.data("largest", version.name), stack, body)
            return {}

        def measured(version: Version) -> Figures:
            return saves[version.name]()

        prepared = alternate("largest plan, start", each_version(run, prepare), 1)
        found = alternate("largest plan, first save", each_version(run, measured), 1, prepared=prepared)
        made += lines(
            {
                name: Measured(
                    [{f"{line}, first": value for line, value in of.items()} for of in each.rounds],
                    each.reason,
                )
                for name, each in found.items()
            },
            {"largest plan: save, s, first": None, "largest plan: show, s, first": None},
        )
        found = alternate(
            "largest plan, save", each_version(run, measured), run.options.rounds, prepared=prepared
        )
        return made + lines(
            found,
            {
                "largest plan: save, s": AIM_SAVE_LARGEST_S,
                "largest plan: show, s": AIM_SHOW_LARGEST_S,
                "largest plan: both, CPU s": None,
            },
        )


def _saving(version: Version, data_dir: Path, stack: ExitStack, body: bytes) -> Callable[[], Figures]:
    server = stack.enter_context(version.serving(data_dir))
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    stack.callback(connection.close)
    save, names = stored.by_rest(body), (f"PLAN{number}" for number in range(10_000))

    def measured() -> Figures:
        save_s, show_s, cpu_s = stored.save_and_show(server, connection, save, next(names))
        return {
            "largest plan: save, s": save_s,
            "largest plan: show, s": show_s,
            "largest plan: both, CPU s": cpu_s,
        }

    return measured


def candidates(address: str) -> Sequence[str]:
    """Return the addresses of a page in the versions, the newest first."""
    for begin, others in ADDRESSES.items():
        if address.startswith(begin):
            return [other + address.removeprefix(begin) for other in others]
    return [address]
