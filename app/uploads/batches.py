"""Batches: files that were sent together, with their progress and the estimated time until the last one is read.

The sender names the batch, so that files of two users who send at the same time stay apart, and a file that is sent
twice is in both batches.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from statistics import median_low

from sqlalchemy.orm import Session

from app.jobs.models import JobState
from app.uploads import repository
from app.uploads.models import LONGEST_BATCH
from app.uploads.repository import BatchFileRow

BATCH_PATTERN = rf"[A-Za-z0-9._-]{{1,{LONGEST_BATCH}}}"
_BATCH = re.compile(BATCH_PATTERN, re.ASCII)
UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)
SHOWN_FOR = timedelta(days=7)
ENDED_JUST_NOW = timedelta(minutes=10)
MOST_SHOWN = 5
MOST_RECENT = 100
"""Maximum number of batches whose files are read to find those to show: a script may name one batch for each file."""
MEASURED_FILES = 20
"""The estimate uses the files that were read last, because the first ones include the start of the processes."""
LEAST_FILES = 3
MOST_TIMES_LARGER = 2
"""Waiting files that are larger than this, compared with those read, take an unknown time: part of the time of a small
file does not depend on its size."""
LONGEST_PAUSE = timedelta(minutes=1)
"""Without a file read for this long, and ten times longer than one takes, the service has stopped or reads others."""


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The number of files of a batch in each state, and the remaining time."""

    batch: str
    begun_at: datetime
    files: int
    stored: int
    failed: int
    asks: int
    waiting: int
    ended_at: datetime | None
    """The time at which the last file was read; None if none has been read."""
    seconds_left: float | None
    """Estimated time until no file waits; None if it cannot be estimated or no file waits."""

    @property
    def sentence(self) -> str:
        """Return the progress in words: "57 of 118 read, 3 failed, about 2 min left"."""
        parts = [f"{self.stored} of {self.files} read"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.asks:
            parts.append(f"{self.asks} {'needs' if self.asks == 1 else 'need'} your input")
        if self.waiting and self.seconds_left is not None:
            parts.append(left_words(self.seconds_left))
        return ", ".join(parts)


def new_batch() -> str:
    """Return a name for a batch that no other batch has."""
    return secrets.token_hex(8)


def is_batch(text: str) -> bool:
    """Return whether a text is a valid name of a batch."""
    return _BATCH.fullmatch(text) is not None


def progress(session: Session, batch: str, *, now: datetime) -> BatchProgress | None:
    """Return the progress of a batch; None if it has no files."""
    return next(iter(_progress_of(session, [batch], now=now)), None)


def current(session: Session, *, now: datetime) -> Sequence[BatchProgress]:
    """Return the newest batches that have ended just now, or have files that wait, need input or failed."""
    recent = repository.batches_since(session, now - SHOWN_FOR, limit=MOST_RECENT)
    found = {each.batch: each for each in _progress_of(session, recent, now=now)}
    ordered = [found[batch] for batch in recent if batch in found]
    return [
        each
        for each in ordered
        if each.stored < each.files or (each.ended_at is not None and each.ended_at >= now - ENDED_JUST_NOW)
    ][:MOST_SHOWN]


def seconds_left(files: Sequence[BatchFileRow], *, now: datetime) -> float | None:
    """Estimate the time until the waiting files of a batch have been read [s]; None if it cannot be estimated.

    The measure is the time per file over the last files. It is increased in proportion to their length if the waiting
    files are longer on average.
    """
    waiting = [each.size_bytes for each in files if each.state in UNDER_WAY]
    begun = min((each.added_at for each in files), default=now)
    # A file that was sent before, in another batch, was not read in the time of this one.
    read = _since_pause(
        sorted(
            (each.ended_at, each.size_bytes)
            for each in files
            if each.ended_at is not None and each.state not in UNDER_WAY and each.ended_at >= begun
        )[-MEASURED_FILES - 1 :]
    )
    if not waiting or len(read) <= LEAST_FILES:
        return None
    measured = read[1:]
    per_file = (measured[-1][0] - read[0][0]) / len(measured)
    pause = now - measured[-1][0]
    if _is_pause(pause, per_file):
        return None
    mean_read = sum(size for _, size in measured) / len(measured)
    times_larger = sum(waiting) / len(waiting) / max(mean_read, 1)
    if times_larger > MOST_TIMES_LARGER:
        return None
    return max(per_file.total_seconds() * len(waiting) * max(times_larger, 1) - pause.total_seconds(), 0)


def _since_pause(read: Sequence[tuple[datetime, int]]) -> Sequence[tuple[datetime, int]]:
    """Return the files read after the last pause, such as the time until a user answered a question."""
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(read)]
    usual = median_low(gaps) if gaps else timedelta()
    pauses = [number for number, gap in enumerate(gaps, start=1) if _is_pause(gap, usual)]
    return read[pauses[-1] :] if pauses else read


def _is_pause(time: timedelta, per_file: timedelta) -> bool:
    return time > max(LONGEST_PAUSE, 10 * per_file)


def left_words(seconds: float) -> str:
    """Return a remaining time, as exact as an estimate is.

    >>> [left_words(each) for each in (3, 34, 96, 3000, 9000)]
    ['a few seconds left', 'about 40 s left', 'about 2 min left', 'about 50 min left', 'about 2.5 h left']
    """
    if seconds < 10:  # noqa: PLR2004 - below the smallest step
        return "a few seconds left"
    if seconds <= 50:  # noqa: PLR2004 - the last step before a minute
        return f"about {-(-seconds // 10) * 10:.0f} s left"
    if seconds < 5400:  # noqa: PLR2004 - 90 minutes
        return f"about {max(round(seconds / 60), 1)} min left"
    return f"about {seconds / 3600:.1f} h left"


def _progress_of(session: Session, batches: Sequence[str], *, now: datetime) -> Sequence[BatchProgress]:
    rows = sorted(repository.batch_files(session, batches), key=lambda each: each.batch)
    return [
        _summed(batch, list(files), now=now) for batch, files in groupby(rows, key=lambda each: each.batch)
    ]


def _summed(batch: str, files: Sequence[BatchFileRow], *, now: datetime) -> BatchProgress:
    states: Mapping[str, int] = Counter(each.state for each in files)
    return BatchProgress(
        batch=batch,
        begun_at=min(each.added_at for each in files),
        files=len(files),
        stored=states.get(JobState.DONE, 0),
        failed=states.get(JobState.FAILED, 0),
        asks=states.get(JobState.ASKS, 0),
        waiting=sum(states.get(state, 0) for state in UNDER_WAY),
        ended_at=max((each.ended_at for each in files if each.ended_at is not None), default=None),
        seconds_left=seconds_left(files, now=now),
    )
