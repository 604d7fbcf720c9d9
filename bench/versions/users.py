"""Comparison of a server under the load of many users."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from bench import load
from bench.aims import AIM_LOAD_S
from bench.service import Server, variants
from bench.versions.checkout import Version
from bench.versions.requests import candidates
from bench.versions.rounds import Figures, Run, alternate, documents_of, each_version, report
from bench.versions.table import Line, lines


def measure_load(run: Run) -> list[Line]:
    """Compare one server of each version under the load of many users, who read the pages that both versions have."""
    options = run.options
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        found_pages: dict[str, dict[str, str]] = {}
        documents: dict[str, Any] = {}

        def prepare(version: Version) -> Figures:
            servers[version.name] = stack.enter_context(version.serving(run.data("load", version.name)))
            found_pages[version.name] = asyncio.run(_pages_of(servers[version.name]))
            documents[version.name] = documents_of(run, version)["sq03"]
            return {}

        prepared = alternate("load, start", each_version(run, prepare), 1)
        common = [each for each in load.addresses() if all(each in of for of in found_pages.values())]
        for name, of in found_pages.items():
            if missing := sorted(set(load.addresses()) - set(of)):
                report(f"load: {name} has no {', '.join(missing)}")

        def measured(version: Version) -> Figures:
            addresses = [found_pages[version.name][each] for each in common]
            bodies = (json.dumps(each).encode() for each in variants(documents[version.name]))
            found = asyncio.run(_loaded(servers[version.name], addresses, bodies, options))
            report(f"load, {version.name}: {len(found.errors)} errors of {len(found.together)} requests")
            figures = {"load: CPU of the server, s": found.cpu_s, "load: errors": len(found.errors)}
            for kind in filter(found.answers, AIM_LOAD_S):
                for percent in (50, 99):
                    figures[f"load: {kind}, p{percent}, s"] = found.percentile_s(kind, percent)
            return figures

        users = f"load of {options.load_planners} planners and {options.load_scripts} scripts"
        aims: dict[str, float | None] = {}
        for kind, aim in AIM_LOAD_S.items():
            aims |= {f"load: {kind}, p50, s": None, f"load: {kind}, p99, s": aim}
        return lines(
            alternate(users, each_version(run, measured), 1, prepared=prepared),
            {**aims, "load: CPU of the server, s": None, "load: errors": None},
        )


async def _pages_of(server: Server) -> dict[str, str]:
    """Store the plan of the load, and return the address of each page in this version."""
    async with load.client_of(server.address) as client:
        await load.store_plan(client)
        found = {}
        for address in dict.fromkeys(load.addresses()):
            for candidate in candidates(address):
                answer = await client.get(candidate.replace("NUMBER", "1"), headers={"Accept": "text/html"})
                if answer.is_success:
                    found[address] = candidate
                    break
        return found


async def _loaded(
    server: Server, addresses: Sequence[str], documents: Iterator[bytes], options: argparse.Namespace
) -> load.Load:
    users = options.load_planners, options.load_scripts, options.load_seconds
    async with load.client_of(server.address) as client:
        return await load.together(server, client, documents, *users, pages=addresses)
