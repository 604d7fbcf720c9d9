"""Measurements that `bench.versions` runs in processes of each version: `python -c "$(cat bench/versions/probes.py)" NAME ARGUMENTS`.

The text of this file runs in the folder of another version, whose packages it imports. It therefore uses only names that
all compared versions have, and lists the older names of those that were moved. The arguments are JSON; the last one is the
path of the result, which is JSON too.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

MS_PER_S = 1000


def documents(*, structures: int, queues: int) -> dict[str, Any]:
    """Return the example plan and the largest plan of this version."""
    from app.sizing.examples import sq03
    from bench.plans import largest

    return {"sq03": sq03(), "largest": largest(structures=structures, queues=queues)}


def serve(descriptor: int) -> None:
    """Serve the application as `cfplan serve` does, without its log lines, until the process ends."""
    import uvicorn

    from app.main import create_app, keep_what_is_loaded
    from app.settings import Settings

    application = create_app(Settings())
    keep_what_is_loaded()
    config = uvicorn.Config(
        application, log_level="warning", access_log=False, server_header=False, timeout_keep_alive=120
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


def pages(*, addresses: Mapping[str, Sequence[str]], numbers: Sequence[int]) -> dict[str, Any]:
    """Return the CPU time [ms] of the first answer and the median of the later ones, and the bytes sent and in all, for each page.

    Args:
        addresses: The addresses of each page in the versions; the first one that this version has is measured.
        numbers: The numbers of messages in the requests, so that no cache of answers can answer.
    """
    from app.main import create_app, keep_what_is_loaded
    from app.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=Path(folder)))
        app.state.database.prepare()
        keep_what_is_loaded()
        found = {name: asyncio.run(_page(app, each, numbers)) for name, each in addresses.items()}
        app.state.database.close()
    return found


async def _page(app: Any, addresses: Sequence[str], numbers: Sequence[int]) -> dict[str, float] | None:  # noqa: ANN401 - FastAPI of any version
    from httpx import ASGITransport, AsyncClient

    for address in addresses:
        times, sent = [], 0
        async with AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1") as client:
            for number in numbers:
                start = time.process_time()
                # Read as it was sent: decompression is the client's work.
                async with client.stream("GET", address.format(number=number)) as answer:
                    sent = sum([len(part) async for part in answer.aiter_raw()])
                times.append((time.process_time() - start) * MS_PER_S)
                if answer.status_code != 200:
                    break
            else:
                identity = {"Accept-Encoding": "identity"}
                plain = await client.get(address.format(number=numbers[-1]), headers=identity)
                return {
                    "first_ms": times[0],
                    "median_ms": statistics.median(times[1:]),
                    "sent_bytes": sent,
                    "plain_bytes": len(plain.content),
                }
    return None


def core(*, structures: int, queues: int, rounds: int) -> dict[str, Any]:
    """Return the CPU times of reading and evaluating the largest plan: the first ones, and medians of later ones."""
    from bench.large_plan import measure

    # A core may keep results: only the first evaluation of the process has none.
    first = measure(structures=structures, queues=queues, rounds=1)
    later = measure(structures=structures, queues=queues, rounds=rounds)
    return {"first": dataclasses.asdict(first), "later": dataclasses.asdict(later)}


def night_size(*, rows: int, structures: int) -> dict[str, int]:
    """Return the number of days with so many rows in total, and the sizes of the histories."""
    from bench.night import HOURS, TIMES_AS_LONG, days_of

    return {"days": max(days_of(rows, structures), 1), "hours": HOURS, "times_as_long": TIMES_AS_LONG}


def history(*, url: str, first: int, end: int, structures: int, hours: Sequence[int]) -> int:
    """Add days of generated usage to a history, and return the number of rows."""
    from bench.night import make_history

    return make_history(url, range(first, end), structures=structures, hours=hours)


def reductions(*, url: str, rounds: int) -> dict[str, Any]:
    """Return the seconds of the first reduction of a history on one machine, and by DuckDB."""
    from bench.night import first_reductions

    found = first_reductions(url, rounds=rounds)
    if not found.agree:
        message = "the results of the engines differ"
        raise RuntimeError(message)
    # Versions that reduce only in Spark have no other engine of their own.
    own = "rows" if "rows" in found.seconds else "Spark"
    return {"rows": found.rows, "own_s": found.median(own), "duckdb_s": found.median("DuckDB")}


def night(*, url: str, folder: str, published: Mapping[str, str]) -> dict[str, Any]:
    """Run the nightly job over a history, of which these days were published before."""
    from bench.night import one_night

    found, published = one_night(url, Path(folder), published)
    return {
        "days": found.days,
        "seconds": found.seconds,
        "forecasts": found.forecasts,
        "published": published,
    }


PROBES: Mapping[str, Callable[..., Any]] = {
    each.__name__: each for each in (documents, pages, core, night_size, history, reductions, night)
}


def main() -> None:
    """Run one measurement, or serve."""
    name, arguments, *out = sys.argv[1:]
    if name == "serve":
        serve(int(arguments))
        return
    result = PROBES[name](**json.loads(arguments))
    Path(out[0]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
