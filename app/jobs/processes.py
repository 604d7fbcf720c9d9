"""Commands of the processes that jobs start, and whether their packages are installed.

The application never imports their packages. It starts the processes with the interpreter that it runs in, and reads
their output.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import date
from importlib.util import find_spec
from pathlib import Path

from app.settings import Settings

NEEDED = ("numpy", "pyarrow", "deltalake", "pyspark", "scipy", "spark_jobs")
PYTHON = (sys.executable, "-P", "-m")
"""With -P, modules are imported from the installation, never from the folder in which the service was started."""
WHAT_TO_DO_AT_THE_TERMINAL = (
    "Reading usage data needs the packages in requirements/spark.txt, which are not installed. Run `make setup` in the "
    "folder of cfplan (the first run downloads 460 MB), or install that file into the environment of cfplan."
)
WHAT_TO_DO = f"{WHAT_TO_DO_AT_THE_TERMINAL} Uploads are kept until then, and read as soon as the packages are installed."
INGEST, ROLLUP, HISTORY = "spark_jobs.ingest", "spark_jobs.rollup", "spark_jobs.history"
NIGHT, SIMULATE, STARTER = "spark_jobs.night", "spark_jobs.simulate", "spark_jobs.starter"
FOUND_DAMAGE = 3
"""The exit code of a keeper that came across damaged data in the database, which the service then reports in /healthz."""
STARTED_OFTEN = (INGEST, ROLLUP)
"""The jobs that take less time than importing their packages, if their input is small."""
WORK = "jobs"
MASTER_VARIABLE = "SPARK_MASTER"
"""The environment variable that selects Spark's master: the cores of this machine, or a cluster."""


def missing_packages() -> tuple[str, ...]:
    """Return the missing packages. They are looked up each time, because they can be installed while the service runs."""
    # Python's list of finders may change meanwhile, because another thread imports a module: the next look finds new packages.
    with suppress(RuntimeError):
        importlib.invalidate_caches()
    return tuple(name for name in NEEDED if find_spec(name) is None)


def environment(settings: Settings, *, connections: Collection[str] = ()) -> dict[str, str]:
    """Return the environment of a process that does work: this one, without the credentials of connections.

    Args:
        settings: The settings, which name the file of connections.
        connections: The kinds of connections that the process uses; it gets the credentials of these.
    """
    if not settings.connections_file:
        return dict(os.environ)
    # Imported only if connections are declared, because the library that reads the file takes a while to load.
    from app.connections.credentials import variables_of

    hidden = variables_of(settings, except_kinds=connections)
    return {name: value for name, value in os.environ.items() if name not in hidden}


def work_dir(settings: Settings) -> Path:
    """Return the folder for temporary files of the processes."""
    return settings.data_dir.absolute() / WORK


def _history(settings: Settings) -> list[str]:
    """Return the option that names the usage history.

    A configured URL may contain a key, which must not appear in the list of processes: the jobs read it from the
    environment variable of the setting, which they inherit.
    """
    return [] if settings.history_url else [f"--history={settings.history}"]


def ingest_command(
    settings: Settings,
    paths: Sequence[Path],
    *,
    names: Sequence[str] = (),
    qsg: Sequence[str] = (),
    kind: str = "",
    observed_at: str = "",
    zone: str = "",
) -> list[str]:
    """Return the command that reads files into the usage history."""
    command = [
        *PYTHON, INGEST, *_history(settings), "--progress",
        "--in-process-below", str(settings.in_process_below_bytes), "--work-dir", str(work_dir(settings)),
        "--max-unpacked", str(settings.max_unpacked_bytes), "--max-ratio", str(settings.max_unpacked_ratio),
    ]  # fmt: skip
    for option, value in (("--kind", kind), ("--observed-at", observed_at), ("--zone", zone)):
        if value:
            command.append(f"{option}={value}")  # in one argument, because a zone may begin with a hyphen
    master = os.environ.get(MASTER_VARIABLE)
    if master:
        command.append(f"--master={master}")
    if settings.history_days:
        command.append(f"--retention-days={settings.history_days}")
    command += [f"--qsg={each}" for each in qsg]
    command += [f"--name={each}" for each in names]
    return [*command, "--", *map(str, paths)]


def rollup_command(settings: Settings, days: Sequence[str]) -> list[str]:
    """Return the command that rolls up these days, or the whole history if no days are given."""
    command = [*PYTHON, ROLLUP, *_history(settings)]
    return [*command, f"--days={','.join(days)}"] if days else command


def night_command(settings: Settings, *, facts: Path, out: Path, by_spark: bool = False) -> list[str]:
    """Return the command of a nightly run; with `by_spark`, Spark reads the rows of all days that have to be read."""
    command = [
        *PYTHON, NIGHT, *_history(settings), "--facts", str(facts), "--out", str(out), "--progress",
        "--horizon", str(settings.forecast_days), "--work-dir", str(work_dir(settings)),
    ]  # fmt: skip
    if by_spark:
        command += ["--in-process-below", "0"]
    master = os.environ.get(MASTER_VARIABLE)
    if master:
        command.append(f"--master={master}")
    return command


def simulate_command(
    folder: Path, *, days: int, structures: int, queue_managers: int, interval_minutes: int, seed: int,
    last_day: date | None, days_per_file: int, is_replaced: bool = True,
) -> list[str]:  # fmt: skip
    """Return the command that simulates a site; `is_replaced` allows it to replace an earlier simulation in the folder."""
    command = [
        *PYTHON, SIMULATE, f"--days={days}", f"--structures={structures}", f"--queue-managers={queue_managers}",
        f"--interval-minutes={interval_minutes}", f"--seed={seed}", f"--out={folder}",
        f"--days-per-file={days_per_file}", "--progress",
    ]  # fmt: skip
    if last_day is not None:
        command += ["--last-day", last_day.isoformat()]
    return [*command, "--force"] if is_replaced else command


def history_command(settings: Settings, verb: str, *rest: str) -> list[str]:
    """Return a command that reads or maintains the usage history."""
    return [*PYTHON, HISTORY, verb, *_history(settings), *rest]


def keeper_command(job_id: int, kind: str) -> list[str]:
    """Return the command that starts the keeper of one run; with its kind, the keeper prepares before it reads the run."""
    return [*PYTHON, "app.keeper", str(job_id), kind]
