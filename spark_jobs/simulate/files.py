"""Write a simulation as a folder of files, completely or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner_core.errors import PlannerError
from planner_core.inputs import QSG_MAP
from planner_core.simulated import FILE_PREFIX, MAP_FILE, QSG, TRUTH_FILE
from spark_jobs.simulate.days import make_day
from spark_jobs.simulate.dumps import DumpMaker
from spark_jobs.simulate.site import Options, OptionsInvalid, Site
from spark_jobs.simulate.timeline import make_timeline
from spark_jobs.simulate.truth import DailyTruth, truth_of

Progress = Callable[[int, int], None]
"""A function that is called with the number of finished days and of all days."""


class FolderRefused(PlannerError):
    """A folder that cannot be created or must not be overwritten."""


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The written files."""

    folder: Path
    dumps: int
    size_bytes: int
    seconds: float


def write_simulation(
    options: Options,
    folder: Path,
    *,
    force: bool = False,
    days_per_file: int = 1,
    progress: Progress = lambda _done, _total: None,
) -> WrittenFiles:
    """Write the files of a simulation; the folder appears when all of them are written.

    Args:
        options: The options of the simulation.
        folder: A new folder, an empty one, or with `force` an earlier simulation.
        force: Whether an earlier simulation may be replaced.
        days_per_file: Days of each dump.
        progress: Called after each day.

    Raises:
        OptionsInvalid: An option is out of range.
        FolderRefused: The folder has other contents, or cannot be written.
    """
    begun = time.monotonic()
    if days_per_file < 1:
        message = f"--days-per-file: {days_per_file} is not at least 1."
        raise OptionsInvalid(message)
    site = Site(options)
    folder = folder.absolute()
    earlier = _checked(folder, force=force)
    try:
        with _apart(folder) as made:
            dumps = _write(site, made, days_per_file=days_per_file, progress=progress)
            size = sum(path.stat().st_size for path in made.iterdir())
            _put_in_place(made, folder, is_earlier=earlier)
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}."
        raise FolderRefused(message) from None
    return WrittenFiles(folder, dumps, size, time.monotonic() - begun)


def qsg_map(site: Site) -> dict[str, Any]:
    """Return the map of queue managers to the group, in the format of ingest."""
    return {
        "kind": QSG_MAP,
        "schema": 1,
        "entries": [
            {"system_id": one.system_id, "queue_manager": one.name, "qsg": QSG} for one in site.managers
        ],
    }


def _write(site: Site, folder: Path, *, days_per_file: int, progress: Progress) -> int:
    timeline = make_timeline(site)
    maker, daily = DumpMaker(site, timeline), DailyTruth(site)
    total, dumps = site.options.days, 0
    progress(0, total)
    for first in range(0, total, days_per_file):
        numbers = range(first, min(first + days_per_file, total))
        found = [day for day in (make_day(site, timeline, number) for number in numbers) if day]
        if found:
            dumps += 1
            with (folder / f"{FILE_PREFIX}{found[0].date.isoformat()}.smf").open("wb") as file:
                file.writelines(maker.framed_days(found))
        for day in found:
            daily.add(day)
        progress(numbers.stop, total)
    _write_json(folder / MAP_FILE, qsg_map(site), indent=2)
    _write_json(folder / TRUTH_FILE, daily.added_to(truth_of(site, timeline)))
    return dumps


def _write_json(path: Path, content: dict[str, Any], *, indent: int | None = None) -> None:
    path.write_text(json.dumps(content, indent=indent) + "\n", encoding="utf-8")


def _checked(folder: Path, *, force: bool) -> bool:
    """Return whether there is an earlier simulation to replace."""
    if not folder.exists():
        return False
    if not folder.is_dir():
        message = f"{folder} is a file, not a folder."
        raise FolderRefused(message)
    names = sorted(path.name for path in folder.iterdir())
    if not names:
        return False
    if not is_simulation(folder):
        message = f"{folder} is not empty and holds no earlier simulation: choose another folder."
        raise FolderRefused(message)
    if not force:
        message = f"{folder} holds an earlier simulation; --force replaces it."
        raise FolderRefused(message)
    return True


def is_simulation(folder: Path) -> bool:
    """Return whether a folder contains files of the simulator and nothing else."""
    return (folder / TRUTH_FILE).is_file() and all(
        path.is_file() and (path.name == TRUTH_FILE or path.name.startswith(FILE_PREFIX))
        for path in folder.iterdir()
    )


@contextlib.contextmanager
def _apart(folder: Path) -> Iterator[Path]:
    """Create a temporary folder next to the target, and remove it afterwards, along with those of killed processes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{folder.name}.*.simulating"):
        with contextlib.suppress(ValueError, ProcessLookupError, PermissionError):
            # Signal 0 only checks whether the process that writes this folder still exists.
            os.kill(int(left.name.split(".")[-2]), 0)
            continue
        shutil.rmtree(left, ignore_errors=True)
    made = folder.parent / f".{folder.name}.{os.getpid()}.simulating"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _put_in_place(made: Path, folder: Path, *, is_earlier: bool) -> None:
    for path in made.iterdir():
        # A folder renamed before its files are on the disk would look complete after a power failure.
        with path.open("rb") as file:
            os.fsync(file.fileno())
    if not is_earlier:
        made.rename(folder)
        return
    # A rename cannot replace a folder that has files.
    aside = made.with_name(f"{made.name}.old")
    folder.rename(aside)
    made.rename(folder)
    shutil.rmtree(aside)
