"""Simulated data for trying out the program: simulate it, store and forecast it, and remove it again.

Its names mark it as simulated: `planner_core.simulated`. Each step may be interrupted and repeated: the same options
produce the same files, and a file is never read twice.
"""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

from app.clock import utc_now
from app.jobs import processes, service
from app.jobs.keeper import BEAT_S, LostRun, StepFailed, how_it_ended
from app.jobs.models import JobState
from app.jobs.service import Job
from app.nightly import repository
from app.nightly.keeper import NightKeeper
from app.nightly.lock import Lock
from app.uploads.ingest_keeper import read_report
from app.usage.rollups import read_lines, store_rollups
from planner_core.simulated import FILE_PREFIX, MAP_FILE, TRUTH_FILE

DAYS, STRUCTURES, QUEUE_MANAGERS, INTERVAL_MINUTES, SEED = 112, 5, 2, 60, 20_260_101
DAYS_PER_FILE = 28
SIMULATING, INGESTING, SUMMING, FORGETTING = "simulating", "ingesting", "summing", "forgetting"
READS_AT_LEAST_S = 600.0


class SimulationKeeper(NightKeeper):
    """The keeper of a run over a simulated site, from its records to its forecasts."""

    def _work(self, claimed: Job) -> None:
        del claimed
        with self._locked() as held:
            folder = processes.work_dir(self._settings) / f"{FILE_PREFIX}{self._id}"
            try:
                self._simulate(folder, held)
                self._ingest(folder, held)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            self._night(held)

    def _simulate(self, folder: Path, held: Lock) -> None:
        # Days end with the day before the request, so that an attempt after midnight creates the same files.
        with self._database.session(writes=False) as session:
            asked_for = service.get(session, self._id).created_at
        command = processes.simulate_command(
            folder, days=DAYS, structures=STRUCTURES, queue_managers=QUEUE_MANAGERS,
            interval_minutes=INTERVAL_MINUTES, seed=SEED, days_per_file=DAYS_PER_FILE,
            last_day=asked_for.astimezone(UTC).date() - timedelta(days=1),
        )  # fmt: skip
        self._at(SIMULATING)
        self._follow(command, held, what="Simulating", stage=SIMULATING)
        self._keep_levels(folder / TRUTH_FILE)

    def _keep_levels(self, truth: Path) -> None:
        """Store the CFCC levels of the simulated facilities, which the site cannot enter."""
        facilities = json.loads(truth.read_bytes()).get("coupling_facilities") or ()
        levels = {each["name"]: each["cfcc_level"] for each in facilities}
        with self._database.session(writes=True) as session:
            repository.keep_simulated_levels(session, levels, at=utc_now())

    def _ingest(self, folder: Path, held: Lock) -> None:
        files = sorted(folder.glob(f"{FILE_PREFIX}*.smf"))
        # As options, not as an uploaded map: simulated queue managers must not enter the site's own map.
        entries = json.loads((folder / MAP_FILE).read_bytes())["entries"]
        groups = [f"{each['system_id']}:{each['queue_manager']}={each['qsg']}" for each in entries]
        self._at(INGESTING)
        report = self._follow(
            processes.ingest_command(self._settings, files, qsg=groups), held, what="Reading", stage=INGESTING
        )
        if report is None:
            message = "Reading the simulated records ended without a report."
            raise StepFailed(message)
        self._sum_up(read_report(report).days, held)

    def _sum_up(self, days: Sequence[str], held: Lock) -> None:
        """Roll up these days by the hour, as after every upload."""
        self._at(SUMMING)
        path = processes.work_dir(self._settings) / f"{self._id}-{secrets.token_hex(4)}.rollup.jsonl"
        try:
            with (
                path.open("w", encoding="utf-8") as file,
                self._child(
                    processes.rollup_command(self._settings, days), kept_open=(held.fileno,)
                ) as child,
            ):
                for event in child.events(every_s=BEAT_S):
                    if event is not None:
                        file.write(json.dumps(event) + "\n")
                    self._beat()
                code = child.wait()
            if code != 0:
                raise StepFailed(how_it_ended("Summing up", code, self._last_words))
            with self._database.session(writes=True) as session:
                store_rollups(session, read_lines(path))
        finally:
            path.unlink(missing_ok=True)


class RemovalKeeper(SimulationKeeper):
    """The keeper of a removal of simulated data from the usage history, the roll-ups and the results of nightly runs."""

    def _work(self, claimed: Job) -> None:
        del claimed
        with self._locked() as held:
            self._at(FORGETTING)
            self._beat()
            files = sorted(set(self._simulated_files()))
            for number, sha256 in enumerate(files):
                self._at(FORGETTING, done=number, total=len(files))
                self._said(processes.history_command(self._settings, "forget", sha256), is_nothing_fine=True)
                self._beat()
            # Not only the days of these files, because an interrupted attempt may have removed other files before.
            with self._database.session(writes=False) as session:
                days = repository.days_of_simulated_groups(session)
            if days:
                self._sum_up([day.isoformat() for day in days], held)
            self._remove_rows(len(files))

    def _simulated_files(self) -> Iterator[str]:
        for line in self._said(processes.history_command(self._settings, "files")).splitlines():
            row = json.loads(line)
            if str(row.get("file_name", "")).startswith(FILE_PREFIX):
                yield str(row["file_sha256"])

    def _said(self, command: list[str], *, is_nothing_fine: bool = False) -> str:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=READS_AT_LEAST_S,
            env=processes.environment(self._settings),
        )
        for line in done.stderr.splitlines():
            self._hear(line)
        # `forget` ends with 1 for a file without rows, which an interrupted attempt may have removed already.
        if done.returncode != 0 and not (is_nothing_fine and done.stdout):
            raise StepFailed(how_it_ended("Maintaining the usage history", done.returncode, self._last_words))
        return done.stdout

    def _remove_rows(self, files: int) -> None:
        with self._database.session(writes=True) as session:
            sentence = f"Simulated data was removed, including {files} files in the usage history."
            if not service.end(
                session, self._id, self._owner, JobState.DONE, sentence=sentence, log=self._log_text()
            ):
                raise LostRun
            removed: dict[str, Any] = repository.remove_simulated(session)
            self._say(f"removed: {removed}")
        self._note_end(JobState.DONE)
