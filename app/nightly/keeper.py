"""The keeper of one nightly run: it passes the facts to the job, follows it, and stores its results.

Each step may be interrupted at any instant and repeated:

1. The run is claimed: it belongs to this process until its heartbeat is stale. Only one run at a time can be claimed.
2. The keeper takes the lock of this machine, so that no process of a killed keeper is still working at the same time.
3. A result that an earlier attempt left in the run's folder is used. If there is none, the facts are written
   there, and `spark_jobs.night` reduces, fits, forecasts and writes its result, completely or not at all. If a signal
   ends it, it is started again after a while; at the last start, Spark reads rows.
4. One transaction stores the result and ends the run.
5. The report for mail is written, and the run's folder removed. If that is interrupted, the next run completes it.
   Active policies are compared with what cfplan expects, for the connections that ask for it (`app.zosmf.nightly`).
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from app.clock import utc_now
from app.jobs import processes, service
from app.jobs.child import Child
from app.jobs.keeper import BEAT_S, Keeper, LostRun, StepFailed, amount_of, how_it_ended
from app.jobs.models import JobState
from app.jobs.service import Job
from app.nightly import lock, report, repository, results
from app.nightly.facts import facts_of
from app.nightly.files import write_text
from app.nightly.lock import Lock, LockHeld
from app.nightly.models import NightlyRun
from app.nightly.results import Result
from app.nightly.service import summary_of
from app.zosmf.nightly import compare_policies
from planner_core.contracts.files import plain
from planner_core.wire import JsonObject

logger = logging.getLogger("cfplan.nightly")

FACTS, RESULT = "facts.json", "result.json"
STORING = "storing"
WAITS_FOR_ORPHAN = "Waiting for a process left over from an earlier run."
HELD = (
    "Another process on this machine is still working on a nightly run for this data folder and does not end. The next "
    "run will try again."
)
NO_RESULT = "The nightly run ended without a result."
WAITS_S = (5.0, 30.0)
"""Seconds before the second and the third start of a job that a signal has ended without a result. Most often, the machine has no
memory left: other programs may need less of it soon, and reduced days are kept, so each start has less to do. Waits of our own:
the first is long enough for a program that ends at the same time, the second for one that is restarted.
"""
STOP_S = 0.2
"""The longest time until a stopped service ends such a wait; a signal does not cut a sleep short. A choice of our own."""
MOST_STARTS = len(WAITS_S) + 1
"""How often one attempt starts the job."""


class JobKilled(StepFailed):
    """A signal ended the job before it had a result; it can be started again."""


class NightKeeper(Keeper):
    """The keeper of a run over the whole usage history."""

    def _work(self, claimed: Job) -> None:
        del claimed
        with self._locked() as held:
            self._night(held)

    # ---- the steps ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _locked(self) -> Iterator[Lock]:
        def on_wait() -> None:
            self._at("", sentence=WAITS_FOR_ORPHAN)
            self._beat()

        try:
            with lock.held(processes.work_dir(self._settings), on_wait=on_wait) as held:
                yield held
        except LockHeld:
            raise StepFailed(HELD) from None

    def _night(self, held: Lock) -> None:
        folder = folder_of(processes.work_dir(self._settings), self._id)
        self._store(self._left_behind(folder) or self._made(folder, held))
        report.write_files(self._database, self._settings)
        # Logged, because the log of the job was stored with its end.
        compare_policies(self._database, self._settings, logger.info)
        shutil.rmtree(folder, ignore_errors=True)

    def _left_behind(self, folder: Path) -> Result | None:
        """Return the result of an earlier attempt; None if there is none that can be stored."""
        try:
            result = results.read_result(folder / RESULT)
        except results.ResultInvalid:
            return None
        self._say("storing the result of an earlier attempt")
        return result

    def _made(self, folder: Path, held: Lock) -> Result:
        shutil.rmtree(folder, ignore_errors=True)
        with self._database.session(writes=False) as session:
            facts = facts_of(session, self._settings, today=utc_now().date())
        write_text(folder / FACTS, json.dumps(plain(facts), ensure_ascii=False))
        levels = ", ".join(f"{name} {level}" for name, level in sorted(facts.cfcc_levels.items()))
        self._say(f"CFCC levels: {levels or 'none known'}")
        self._say(f"forecasts to score: {len(facts.past_forecasts)}")
        for start in range(1, MOST_STARTS + 1):
            # The job holds the rows of one table and day in memory, which may be the reason why it was killed; Spark does not.
            by_spark = start == MOST_STARTS
            if by_spark:
                self._say("At the last start, Spark reads all rows that must be read.")
            command = processes.night_command(
                self._settings, facts=folder / FACTS, out=folder / RESULT, by_spark=by_spark
            )
            try:
                if self._follow(command, held, what="The nightly run") is None:
                    raise StepFailed(NO_RESULT)
                break
            except JobKilled as killed:
                left = self._left_behind(folder)
                if left is not None:
                    return left
                if start == MOST_STARTS:
                    message = f"{killed} It was started {start} times."
                    raise StepFailed(message) from None
                wait_s = WAITS_S[start - 1]
                self._say(f"{killed} Starting it again in {wait_s:g} seconds.")
                self._pause(wait_s)
        return results.read_result(folder / RESULT)

    def _pause(self, seconds: float) -> None:
        """Wait, with heartbeats; a service that is being stopped waits no longer, and starts nothing."""
        end = time.monotonic() + seconds
        while True:
            self._beat()
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, STOP_S))

    def _follow(self, command: list[str], held: Lock, *, what: str, stage: str = "") -> JsonObject | None:
        """Run a job to its end; return the last event with its result, or None if there is none.

        Raises:
            JobKilled: A signal ended the job.
            StepFailed: The job failed.
        """
        said: str = ""
        made: JsonObject | None = None
        with self._child(command, kept_open=(held.fileno,)) as child:
            # A killed keeper cannot end its child; its successor finds the process ID in the lock file.
            held.names_child(child.pid)
            for event in child.events(every_s=BEAT_S):
                kind = None if event is None else event.get("event")
                if event is not None and kind == "progress":
                    done, total = (amount_of(event.get(key)) for key in ("done", "total"))
                    words = event.get("sentence")
                    self._at(
                        stage or str(event.get("stage", "")), done=done, total=total,
                        sentence=words if isinstance(words, str) else None,
                    )  # fmt: skip
                elif event is not None and kind == "error":
                    said = str(event.get("sentence", ""))
                elif event is not None and kind in ("result", "report"):
                    made = event
                self._beat()
            code = self._ended(child, made)
        if code != 0:
            failure = JobKilled if code < 0 and not said else StepFailed
            raise failure(said or how_it_ended(what, code, self._last_words))
        return made

    def _ended(self, child: Child, made: JsonObject | None) -> int:
        """Return the exit code, or 0 for a job that was killed by a signal after it had printed its result."""
        code = child.wait()
        # Libraries may crash at exit, when the result is already complete.
        if code < 0 and made is not None:
            self._say(f"ended by signal {-code} after its last line")
            return 0
        return code

    def _store(self, result: Result) -> None:
        self._at(STORING)
        night = result.checked
        with self._database.session(writes=True) as session:
            run = _run_of(session, self._id)
            # The row comes first: a keeper that has lost the run must notice that before it writes anything.
            if not service.beat(
                session,
                self._id,
                self._owner,
                stage=STORING,
                done=0,
                total=0,
                log=self._log_text(),
                sentence="",
            ):
                raise LostRun
            stored = results.store(session, run, result, at=utc_now())
            kept_days = self._settings.forecasts_kept_days
            # Counted from the last day of the history, not from today: after a long gap, forecasts must not vanish at
            # once.
            if kept_days and night.last_day is not None:
                repository.drop_forecasts(session, made_before=night.last_day - timedelta(days=kept_days))
            sentence = summary_of(stored, days_total=night.days_total, days_reduced=night.days_reduced)
            self._say(f"{JobState.DONE}: {sentence}")
            service.end(
                session, self._id, self._owner, JobState.DONE, sentence=sentence, log=self._log_text()
            )
        self._note_end(JobState.DONE)


def folder_of(work_dir: Path, job_id: int) -> Path:
    """Return the folder of a run's facts and result, until they are stored."""
    return work_dir / f"night-{job_id}"


def _run_of(session: Session, job_id: int) -> NightlyRun:
    run = repository.find_run_of_job(session, job_id)
    if run is None:
        message = "The job belongs to no nightly run."
        raise StepFailed(message)
    return run
