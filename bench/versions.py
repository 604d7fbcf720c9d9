"""`python -m bench.versions --before FOLDER`: this version compared with the checkout of another one, measured alternately.

Both versions run in their own processes with their own packages (`.venv` of each folder), data folders and settings. They
are compared by commands and addresses that both have, or by functions of `bench` that both have; `bench/probes.py` calls
these. A line that a version does not have is `-`, with the reason below the table. The time of `make test` is not measured.

The figures of one line come from the same run, one round of each version after the other, so that other load on the
machine affects both. The load of many users takes minutes; it is measured once for each version.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx

from bench import load, start, stored
from bench.__main__ import (
    AIM_118_DUMPS_S,
    AIM_EVALUATE_S,
    AIM_LOAD_S,
    AIM_LONG_NIGHT_S,
    AIM_PAGE_KB,
    AIM_PAGE_MS,
    AIM_RATIO,
    AIM_RATIO_REPEATED,
    AIM_READ_S,
    AIM_ROLLED_UP_MB_PER_S,
    AIM_SAVE_LARGEST_S,
    AIM_SHOW_LARGEST_S,
    AIM_SMALL_NIGHT_S,
    AIM_TIMES_DUCKDB,
    AIM_TIMES_SHORT_NIGHT,
    KILO,
    MEGA,
)
from bench.plans import QUEUES, STRUCTURES, largest
from bench.service import PATIENCE_S, VARIANTS, Server, running, started, variants
from bench.small_dumps import DUMP_BYTES

ROOT = Path(__file__).parents[1]
PROBES = Path(__file__).with_name("probes.py")
BEFORE, AFTER, BARE = "before", "after", "bare-def"
LONGEST_S = 1_800.0
"""Time after which a command or a queue of uploads is given up."""
POLL_S = 0.1
AIM_OF_IMPORT = 0.88
"""The CPU time to import the service, divided by that of the version on which the aim was set."""
FIRST_NUMBER = 200_001
ANSWERS_A_ROUND = 10
PLANS_A_ROUND = 3
SMALLEST_INTERVAL = timedelta(minutes=1)
SEED = 4
ADDRESSES: Mapping[str, Sequence[str]] = {"/calculator": ("/calculator", "/")}
"""Addresses of pages in the versions, the newest first, by the start of the newest one."""
PAGES = {
    "calculator": "/calculator?messages={number}",
    "list of the documentation": "/docs",
    "openapi.json": "/openapi.json",
}
CALCULATOR = "calculator"
MAIN = ("-c", "from app.cli import main_entry; main_entry()")

Figures = Mapping[str, float]


class NotMeasured(Exception):
    """A version does not have what is measured; the message is the reason."""


FAILURES = (
    NotMeasured,
    OSError,
    RuntimeError,
    KeyError,
    ValueError,
    httpx.HTTPError,
    http.client.HTTPException,
)


@dataclass(frozen=True)
class Spent:
    """The time of a command and of the processes that it waited for."""

    seconds: float
    cpu_s: float
    printed: str


@dataclass(frozen=True)
class Version:
    """A checkout, and how its code is run."""

    name: str
    folder: Path
    python: str

    def environment(self, data_dir: Path) -> dict[str, str]:
        """Return the environment of its processes: no settings but the data folder, and no nightly runs by the clock."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CFPLAN_")}
        return {**inherited, "CFPLAN_DATA_DIR": str(data_dir), "CFPLAN_NIGHT_HOUR": "off"}

    def run(self, *arguments: str, data_dir: Path) -> Spent:
        """Run its Python with these arguments, and stop whatever the command leaves running."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                [self.python, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env=self.environment(data_dir),
                start_new_session=True,
            )
            try:
                code = process.wait(timeout=LONGEST_S)
            except subprocess.TimeoutExpired:
                message = f"still running after {LONGEST_S:.0f} s"
                raise NotMeasured(message) from None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            out.seek(0)
            err.seek(0)
            if code != 0:
                messages = err.read().decode(errors="replace").strip().splitlines()
                raise NotMeasured(messages[-1] if messages else f"exit code {code}")
            spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            return Spent(seconds, spent_s, out.read().decode(errors="replace"))

    def probe(self, name: str, data_dir: Path, **arguments: object) -> Any:  # noqa: ANN401 - any JSON value
        """Return the result of a function of `bench/probes.py` in its process."""
        with tempfile.TemporaryDirectory(prefix="cfplan-bench-") as folder:
            out = Path(folder) / "result.json"
            source = PROBES.read_text(encoding="utf-8")
            self.run("-c", source, name, json.dumps(arguments), str(out), data_dir=data_dir)
            return json.loads(out.read_bytes())

    @contextmanager
    def serving(self, data_dir: Path) -> Iterator[Server]:
        """Serve its application."""
        command = (self.python, "-c", PROBES.read_text(encoding="utf-8"), "serve")
        data_dir.mkdir(parents=True, exist_ok=True)
        with started(command, (), self.environment(data_dir), folder=self.folder) as server:
            # Its start is not part of any measurement.
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
            connection.request("GET", "/healthz")
            if (status := connection.getresponse().status) != 200:
                message = f"the server answered {status}"
                raise NotMeasured(message)
            connection.close()
            yield server


@dataclass
class Measured:
    """The figures of one version by line, from each round, or the reason why there are none."""

    rounds: list[Figures] = field(default_factory=list)
    reason: str = ""

    def median(self, line: str) -> float | None:
        """Return the median of a line, or None if it was not measured."""
        found = [each[line] for each in self.rounds if line in each]
        return statistics.median(found) if found else None


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    name: str
    before: float | None
    after: float | None
    aim: float | None
    reason: str = ""


@dataclass(frozen=True)
class Run:
    """The versions, the options, and a folder for everything that is stored."""

    before: Version
    after: Version
    options: argparse.Namespace
    work: Path

    @property
    def versions(self) -> Mapping[str, Version]:
        """The versions by name."""
        return {BEFORE: self.before, AFTER: self.after}

    def data(self, *names: str) -> Path:
        """Return a folder below the folder of the run."""
        return self.work.joinpath(*names)


def alternate(
    what: str,
    measure: Mapping[str, Callable[[], Figures]],
    rounds: int,
    *,
    warm_ups: int = 0,
    prepared: Mapping[str, Measured] | None = None,
) -> dict[str, Measured]:
    """Measure each version in every round; a version that fails is left out of later rounds.

    Args:
        what: What is measured, for the progress.
        measure: The functions that measure the versions once.
        rounds: The number of rounds.
        warm_ups: The number of rounds before these, whose figures are not kept.
        prepared: The results of the preparation; versions that failed then are left out.
    """
    found = {name: Measured(reason=prepared[name].reason if prepared else "") for name in measure}
    for number in range(warm_ups + rounds):
        for name, each in measure.items():
            if found[name].reason:
                continue
            _report(f"{what}, {name}, round {number + 1} of {warm_ups + rounds}")
            try:
                figures = each()
            except FAILURES as error:
                found[name] = Measured(reason=f"{type(error).__name__}: {error}"[:300])
                _report(f"{what}, {name}: {found[name].reason}")
            else:
                if number >= warm_ups:
                    found[name].rounds.append(figures)
    return found


def lines(found: Mapping[str, Measured], aims: Mapping[str, float | None]) -> list[Line]:
    """Return the lines of a part with their aims; what no version has is a line as well."""
    return [
        Line(
            name,
            found[BEFORE].median(name),
            found[AFTER].median(name),
            aim,
            "; ".join(
                f"{version}: {found[version].reason or 'not in this version'}"
                for version in (BEFORE, AFTER)
                if found[version].median(name) is None
            ),
        )
        for name, aim in aims.items()
    ]


# ---- parts -----------------------------------------------------------------------------------------------------------


def measure_pages(run: Run) -> list[Line]:
    """Compare pages that every planner loads, and the import of the service."""
    addresses = {name: _candidates(address) for name, address in PAGES.items()}

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

    found = alternate("pages", _each(run, measured), run.options.rounds)
    aims: dict[str, float | None] = {
        f"{name}, {figure}": None for name in PAGES for figure in ("first, CPU ms", "CPU ms", "KB sent", "KB")
    }
    # The aim was set for the page before compression, which had 212 KB.
    aims |= {f"{CALCULATOR}, CPU ms": AIM_PAGE_MS, f"{CALCULATOR}, KB": AIM_PAGE_KB}
    return lines(found, aims)


def measure_start(run: Run) -> list[Line]:
    """Compare the CPU time of commands, and of the import of the service."""
    measured_commands = {
        "cfplan --help, CPU ms": "cfplan --help",
        "cfplan structure, CPU ms": "cfplan structure",
        "import of the service, CPU ms": start.SERVICE,
    }

    def measured(version: Version) -> Figures:
        return {
            line: version.run(*start.COMMANDS[name][1:], data_dir=run.data("start", version.name)).cpu_s
            * 1000
            for line, name in measured_commands.items()
        }

    # The first round compiles the modules.
    found = alternate("start", _each(run, measured), run.options.rounds, warm_ups=1)
    imported = found[BEFORE].median("import of the service, CPU ms")
    aims = dict.fromkeys(measured_commands) | {
        "import of the service, CPU ms": imported and AIM_OF_IMPORT * imported
    }
    return lines(found, aims)


def measure_sizing(run: Run) -> list[Line]:
    """Compare sizing requests with a plain endpoint of this version that validates the document and returns it."""
    made: list[Line] = []
    requests = run.options.requests
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        documents: dict[str, Any] = {}

        def prepare(version: Version) -> Figures:
            servers[version.name] = stack.enter_context(version.serving(run.data("sizing", version.name)))
            documents[version.name] = _documents(run, version)["sq03"]
            return {}

        def prepare_bare() -> Figures:
            servers[BARE] = stack.enter_context(running(BARE, ()))
            documents[BARE] = _documents(run, run.after)["sq03"]
            return {}

        def measured(name: str) -> Figures:
            server = servers[name]
            if not server.connections:
                server.connect()
            seconds, cpu_s = server.round(requests)
            return {"requests/s": requests / seconds, "CPU us each": cpu_s / requests * MEGA}

        prepared = alternate("sizing, start", {**_each(run, prepare), BARE: prepare_bare}, 1)
        for what, count, aim in (
            ("the same document", 1, AIM_RATIO_REPEATED),
            ("other structures in each", VARIANTS, AIM_RATIO),
        ):
            # Encoded before the measurement, because the client shares the machine with the servers.
            for name, server in servers.items():
                server.bodies = cycle(
                    [json.dumps(each).encode() for each in islice(variants(documents[name]), count)]
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
        alternate("largest plan, core", _each(run, computed), run.options.rounds),
        {
            "largest plan: read, CPU s": AIM_READ_S,
            "largest plan: evaluate, first, CPU s": None,
            "largest plan: evaluate, CPU s": AIM_EVALUATE_S,
        },
    )
    with ExitStack() as stack:
        saves: dict[str, Callable[[], Figures]] = {}

        def prepare(version: Version) -> Figures:
            body = json.dumps(_documents(run, version)["largest"]).encode()
            saves[version.name] = _saving(version, run.data("largest", version.name), stack, body)
            return {}

        def measured(version: Version) -> Figures:
            return saves[version.name]()

        prepared = alternate("largest plan, start", _each(run, prepare), 1)
        found = alternate("largest plan, first save", _each(run, measured), 1, prepared=prepared)
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
        found = alternate("largest plan, save", _each(run, measured), run.options.rounds, prepared=prepared)
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
    made = lines(alternate("small dumps, list", _each(run, by_command), 1), {listed: aim_each * count})
    made += lines(
        alternate("small dumps, queue", _each(run, by_queue), 1), {queued: aim_each * len(uploaded)}
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

    found = alternate("dump with one-minute intervals", _each(run, one_dump), run.options.ingest_rounds)
    return made + lines(found, {name: AIM_ROLLED_UP_MB_PER_S})


def _check(ingested: Spent) -> None:
    # A refused or already stored file would be measured as a very fast one.
    for each in json.loads(ingested.printed)["files"]:
        if each["status"] != "stored":
            message = f"{each['status']}: {each.get('message')}"
            raise NotMeasured(message)


async def _upload(server: Server, paths: Sequence[Path]) -> float:
    """Upload files, and return the seconds from the first one until all are stored."""
    async with _client(server) as client:
        await client.get("/healthz")
        began = time.perf_counter()
        waiting = []
        for path in paths:
            answer = await client.post(
                f"/api/v1/uploads?filename={path.name}",
                content=path.read_bytes(),
                headers={"content-type": "application/octet-stream"},
            )
            answer.raise_for_status()
            waiting.append(answer.json()["job"]["id"])
        for job in waiting:
            while (state := (await client.get(f"/api/v1/jobs/{job}")).json()["state"]) != "done":
                if state == "failed" or time.perf_counter() - began > LONGEST_S:
                    message = f"job {job} is {state} after {time.perf_counter() - began:.0f} s"
                    raise NotMeasured(message)
                await asyncio.sleep(POLL_S)
        return time.perf_counter() - began


def measure_night(run: Run) -> list[Line]:
    """Compare nightly runs over a small, a short and a long history, and first reductions with DuckDB's.

    Each version stores the same generated usage in histories of its own, because their formats differ.
    """
    options = run.options
    sizes = run.after.probe(
        "night_size", run.work, rows=options.night_rows, structures=options.night_structures
    )
    days, hours_a_day, times_as_long = sizes["days"], sizes["hours"], sizes["times_as_long"]
    small, short, long = (
        f"nightly run, {count} days, s"
        for count in (max(days // times_as_long, 1) + 2, days + 2, days * times_as_long + 2)
    )
    ratio, reduced = "nightly run, long of short history", f"first reduction of {days} days, of DuckDB"
    histories = {
        small: range(days - max(days // times_as_long, 1), days),
        short: range(days),
        long: range(days),
    }
    published: dict[tuple[str, str], dict[str, str]] = {}
    added: dict[tuple[str, str], int] = {}

    def url(version: Version, history: str) -> Path:
        return run.data("night", version.name, str(list(histories).index(history)))

    def add(version: Version, history: str, of: range, hours: Sequence[int] = ()) -> None:
        version.probe(
            "history", run.work, url=str(url(version, history)), first=of.start, end=of.stop,
            structures=options.night_structures, hours=list(hours or range(hours_a_day)),
        )  # fmt: skip

    def one_night(version: Version, history: str) -> Mapping[str, Any]:
        key = (version.name, history)
        with tempfile.TemporaryDirectory(dir=run.work) as folder:
            found: dict[str, Any] = version.probe(
                "night",
                run.work,
                url=str(url(version, history)),
                folder=folder,
                published=published.get(key, {}),
            )
        published[key] = found.pop("published")
        return found

    def prepared(version: Version) -> Figures:
        """Generate the histories, and reduce their days."""
        url(version, small).parent.mkdir(parents=True)
        add(version, short, histories[short])
        reductions = version.probe(
            "reductions", run.work, url=str(url(version, short)), rounds=options.night_rounds
        )
        shutil.copytree(url(version, short), url(version, long))
        add(version, long, range(-days * (times_as_long - 1), 0), hours=(11,))
        add(version, small, histories[small])
        for history in histories:
            _report(f"first nightly run of {history}, {version.name}")
            one_night(version, history)
        return {reduced: reductions["own_s"] / reductions["duckdb_s"]}

    def measured(version: Version) -> Figures:
        seconds = {}
        for history in histories:
            # As in the application, each run reduces only the day that was added.
            key = (version.name, history)
            day = days + added.setdefault(key, 0)
            added[key] += 1
            add(version, history, range(day, day + 1))
            found = one_night(version, history)
            _report(
                f"{version.name}: {found['days']} days, {found['forecasts']} forecasts, {found['seconds']:.1f} s"
            )
            seconds[history] = found["seconds"]
        return {**seconds, ratio: seconds[long] / seconds[short]}

    first = alternate("histories", _each(run, prepared), 1)
    nights = alternate("nightly runs", _each(run, measured), options.night_rounds, prepared=first)
    aims = {small: AIM_SMALL_NIGHT_S, short: None, long: AIM_LONG_NIGHT_S, ratio: AIM_TIMES_SHORT_NIGHT}
    return lines(nights, aims) + lines(first, {reduced: AIM_TIMES_DUCKDB})


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
            documents[version.name] = _documents(run, version)["sq03"]
            return {}

        prepared = alternate("load, start", _each(run, prepare), 1)
        common = [each for each in load.addresses() if all(each in of for of in found_pages.values())]
        for name, of in found_pages.items():
            if missing := sorted(set(load.addresses()) - set(of)):
                _report(f"load: {name} has no {', '.join(missing)}")

        def measured(version: Version) -> Figures:
            addresses = [found_pages[version.name][each] for each in common]
            bodies = (json.dumps(each).encode() for each in variants(documents[version.name]))
            found = asyncio.run(_loaded(servers[version.name], addresses, bodies, options))
            _report(f"load, {version.name}: {len(found.errors)} errors of {len(found.together)} requests")
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
            alternate(users, _each(run, measured), 1, prepared=prepared),
            {**aims, "load: CPU of the server, s": None, "load: errors": None},
        )


async def _pages_of(server: Server) -> dict[str, str]:
    """Store the plan of the load, and return the address of each page in this version."""
    async with _client(server) as client:
        document = largest(structures=load.STRUCTURES, queues=load.QUEUES)
        (await client.put(f"/api/v1/plans/{load.PLAN}", json=document)).raise_for_status()
        found = {}
        for address in dict.fromkeys(load.addresses()):
            for candidate in _candidates(address):
                answer = await client.get(candidate.replace("NUMBER", "1"), headers={"Accept": "text/html"})
                if answer.is_success:
                    found[address] = candidate
                    break
        return found


async def _loaded(
    server: Server, addresses: Sequence[str], documents: Iterator[bytes], options: argparse.Namespace
) -> load.Load:
    async with _client(server) as client:
        cpu_s, memory_mb, began = server.cpu_s(), server.memory_mb(), time.perf_counter()
        together = await load.ask(
            client,
            documents,
            options.load_planners,
            options.load_scripts,
            options.load_seconds,
            pages=addresses,
        )
        seconds = time.perf_counter() - began
        return load.Load((), together, seconds, server.cpu_s() - cpu_s, (memory_mb, server.memory_mb()))


def _client(server: Server) -> httpx.AsyncClient:
    # Every user has a connection, like a browser or a script.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE_S, limits=limits)


def _candidates(address: str) -> Sequence[str]:
    """Return the addresses of a page in the versions, the newest first."""
    for begin, others in ADDRESSES.items():
        if address.startswith(begin):
            return [other + address.removeprefix(begin) for other in others]
    return [address]


def _each(run: Run, measure: Callable[[Version], Figures]) -> dict[str, Callable[[], Figures]]:
    return {name: lambda each=version: measure(each) for name, version in run.versions.items()}  # type: ignore[misc]


def _documents(run: Run, version: Version) -> dict[str, Any]:
    size = {"structures": run.options.structures, "queues": run.options.queues}
    found: dict[str, Any] = version.probe("documents", run.work, **size)
    return found


def _report(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


PARTS: Mapping[str, Callable[[Run], list[Line]]] = {
    "pages": measure_pages,
    "sizing": measure_sizing,
    "largest": measure_largest,
    "start": measure_start,
    "ingest": measure_ingest,
    "night": measure_night,
    "load": measure_load,
}


# ---- table -----------------------------------------------------------------------------------------------------------


def print_lines(found: Sequence[Line]) -> None:
    """Print the table, and below it the reasons for figures that are missing."""
    width = max(len(line.name) for line in found)
    print(f"{'':<{width}}{BEFORE:>10}{AFTER:>10}{'ratio':>8}{'aim':>8}{'of aim':>8}")
    for line in found:
        ratio = None if not line.before or line.after is None else line.after / line.before
        of_aim = None if not line.aim or line.after is None else line.after / line.aim
        print(
            f"{line.name:<{width}}{_figure(line.before):>10}{_figure(line.after):>10}{_figure(ratio):>8}"
            f"{_figure(line.aim) if line.aim else '':>8}{_figure(of_aim) if line.aim else '':>8}"
        )
    reasons = dict.fromkeys(f"{line.name}: {line.reason}" for line in found if line.reason)
    print("".join(f"\n- {reason}" for reason in reasons))


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return (
        f"{value:,.0f}"
        if value >= 1000
        else f"{value:.1f}"
        if value >= 100
        else f"{value:.3f}"
        if value < 10
        else f"{value:.2f}"
    )


def _version(name: str, folder: Path) -> Version:
    folder = folder.resolve()
    python = Path(sys.executable) if folder == ROOT else folder / ".venv/bin/python"
    # Another Python could find the packages of this version, and would compare it with itself.
    if not (folder / "bench").is_dir() or not python.exists():
        message = f"{folder} is not a checkout of cfplan with its packages in .venv. Run `make setup` in it."
        raise SystemExit(message)
    return Version(name, folder, str(python))


def _commit(folder: Path) -> str:
    described = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "no commit"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both versions and print the table."""
    options = _options(arguments)
    before, after = _version(BEFORE, options.before), _version(AFTER, ROOT)
    found: list[Line] = []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cfplan-bench-", dir=options.folder) as work:
        run = Run(before, after, options, Path(work))
        for name in options.only or PARTS:
            part_began = time.perf_counter()
            try:
                found += PARTS[name](run)
            except FAILURES as error:
                found.append(Line(name, None, None, None, f"{type(error).__name__}: {error}"[:300]))
            _report(f"{name} took {time.perf_counter() - part_began:.0f} s")
    print(f"before: {_commit(before.folder)}; after: {_commit(ROOT)}; {os.cpu_count()} cores")
    print(
        f"measured alternately in {(time.perf_counter() - began) / 60:.1f} minutes; medians of {options.rounds} rounds\n"
    )
    print_lines(found)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__)
    add = parser.add_argument
    add("--before", type=Path, required=True, help="folder of the other version, with its packages in .venv")
    add("--only", choices=tuple(PARTS), action="append", help="measure only this part; may be repeated")
    add("--rounds", type=int, default=3, help="rounds of pages, sizing requests, plans and commands")
    add("--requests", type=int, default=400, help="sizing requests in each round")
    add("--structures", type=int, default=STRUCTURES, help="structures of the largest plan")
    add("--queues", type=int, default=QUEUES, help="queues on each of them")
    add("--small-dumps", type=int, default=118, help="number of small dumps to store")
    add("--queued-dumps", type=int, default=20, help="number of them that are also uploaded")
    add("--dump-mb", type=float, default=100, help="size of the dump with one-minute intervals in MB")
    add("--ingest-rounds", type=int, default=1, help="rounds of the ingest of this dump")
    add("--night-rows", type=int, default=2_000_000, help="rows of the short history")
    add("--night-structures", type=int, default=200, help="structures of all histories")
    add("--night-rounds", type=int, default=1, help="rounds of nightly runs and of reductions")
    add("--load-planners", type=int, default=load.PLANNERS, help="planners of the load")
    add("--load-scripts", type=int, default=load.SCRIPTS, help="scripts of the load")
    add(
        "--load-seconds",
        type=float,
        default=load.SECONDS,
        help="duration of the load of each version in seconds",
    )
    add("--folder", type=Path, help="folder for everything that is stored; default: the temporary folder")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    # The blocks in which processes were started end them.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    main()
