"""Comparison of commands: their start, and the ingest of dumps."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from bench import start
from bench.aims import AIM_118_DUMPS_S, AIM_IMPORT_OF_EARLIER, AIM_ROLLED_UP_MB_PER_S, MEGA
from bench.load import client_of, upload
from bench.service import Server
from bench.small_dumps import DUMP_BYTES
from bench.versions.checkout import LONGEST_S, MAIN, NotMeasured, Spent, Version
from bench.versions.rounds import BEFORE, Figures, Run, alternate, each_version
from bench.versions.table import Line, lines

POLL_S = 0.1
SMALLEST_INTERVAL = timedelta(minutes=1)
SEED = 4
_SERVICE = "import of the service, CPU ms"


def measure_start(run: Run) -> list[Line]:
    """Compare the CPU time of commands, and of the import of the service."""
    measured_commands = {
        "cfplan --help, CPU ms": "cfplan --help",
        "cfplan structure, CPU ms": "cfplan structure",
        _SERVICE: start.SERVICE,
    }

    def measured(version: Version) -> Figures:
        return {
            line: version.run(*start.COMMANDS[name][1:], data_dir=run.data("start", version.name)).cpu_s
            * 1000
            for line, name in measured_commands.items()
        }

    # The first round compiles the modules.
    found = alternate("start", each_version(run, measured), run.options.rounds, warm_ups=1)
    aims: dict[str, float | None] = dict.fromkeys(measured_commands)
    earlier = found[BEFORE].median(_SERVICE)
    if earlier is not None:
        aims[_SERVICE] = earlier * AIM_IMPORT_OF_EARLIER
    return lines(found, aims)


def measure_ingest(run: Run) -> list[Line]:
    """Compare `cfplan ingest` with its roll-ups: of many small dumps, by upload too, and of one with one-minute intervals."""
    from spark_jobs.smf.generate import FIRST_INTERVAL, generate_dump

    folder, count = run.data("dumps"), run.options.small_dumps
    folder.mkdir()
    small = [folder / f"{number:04}.smf" for number in range(count)]
    for number, path in enumerate(small):
        generate_dump(path, DUMP_BYTES, number, begin=FIRST_INTERVAL + timedelta(days=number))
    uploaded = small[: run.options.queued_dumps]
    listed = f"{count} small dumps: cfplan ingest of a list, s"
    queued = f"{len(uploaded)} small dumps: uploads in the queue, s"

    def by_command(version: Version) -> Figures:
        spent = version.run(*MAIN, "ingest", *map(str, small), data_dir=run.data("listed", version.name))
        _check(spent)
        return {listed: spent.seconds}

    def by_queue(version: Version) -> Figures:
        with version.serving(run.data("queued", version.name)) as server:
            return {queued: asyncio.run(_upload(server, uploaded))}

    aim_each = AIM_118_DUMPS_S / 118
    made = lines(alternate("small dumps, list", each_version(run, by_command), 1), {listed: aim_each * count})
    made += lines(
        alternate("small dumps, queue", each_version(run, by_queue), 1), {queued: aim_each * len(uploaded)}
    )

    dump = folder / "minutes.smf"
    generate_dump(dump, round(run.options.dump_mb * MEGA), SEED, interval=SMALLEST_INTERVAL)
    size_mb = dump.stat().st_size / MEGA
    name = f"cfplan ingest, {size_mb:.0f} MB, one-minute intervals, MB/s"

    def one_dump(version: Version) -> Figures:
        # In a history without this dump, and with the database that the first command has created.
        data_dir = Path(tempfile.mkdtemp(dir=run.work))
        _check(version.run(*MAIN, "ingest", str(small[0]), data_dir=data_dir))
        spent = version.run(*MAIN, "ingest", str(dump), data_dir=data_dir)
        _check(spent)
        shutil.rmtree(data_dir)
        return {name: size_mb / spent.seconds}

    found = alternate(
        "dump with one-minute intervals", each_version(run, one_dump), run.options.ingest_rounds
    )
    return made + lines(found, {name: AIM_ROLLED_UP_MB_PER_S})


def _check(ingested: Spent) -> None:
    # A refused or already stored file would be measured as a very fast one.
    for each in json.loads(ingested.printed)["files"]:
        if each["status"] != "stored":
            message = f"{each['status']}: {each.get('message')}"
            raise NotMeasured(message)


async def _upload(server: Server, paths: Sequence[Path]) -> float:
    """Upload files, and return the seconds from the first one until all are stored."""
    async with client_of(server.address) as client:
        await client.get("/healthz")
        began = time.perf_counter()
        for job in [await upload(client, path) for path in paths]:
            while (state := (await client.get(f"/api/v1/jobs/{job}")).json()["state"]) != "done":
                if state not in ("queued", "running") or time.perf_counter() - began > LONGEST_S:
                    message = f"job {job} is {state} after {time.perf_counter() - began:.0f} s"
                    raise NotMeasured(message)
                await asyncio.sleep(POLL_S)
        return time.perf_counter() - began
