"""What the table of files says: which ingests count, and what retention and forgetting took away."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

INGEST, RETENTION, FORGET = "ingest", "retention", "forget"

KEPT_FROM = "kept_from"
"""Among the answers: the first day that was kept of a file of which older days were passed over."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table of files, without its report."""

    commit_id: str
    entry: str
    file_sha256: str
    answers: str
    first_day: str | None
    qsgs: tuple[str, ...]
    days: dict[str, list[str]]

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Entry:
        """Read a row."""
        days: dict[str, list[str]] = json.loads(row["days"] or "{}")
        return cls(
            commit_id=row["commit_id"],
            entry=row["entry"],
            file_sha256=row["file_sha256"] or "",
            answers=row["answers"] or "{}",
            first_day=min((day for of_table in days.values() for day in of_table), default=None),
            qsgs=tuple(json.loads(row["qsgs"] or "[]")),
            days=days,
        )


@dataclass(frozen=True, slots=True)
class Ledger:
    """All rows of the table of files at one version of the history."""

    entries: tuple[Entry, ...]

    @property
    def dead_commits(self) -> frozenset[str]:
        """Ingests whose rows do not count: the file was ingested again, or forgotten, since."""
        last: dict[str, str] = {}
        for entry in self.entries:
            if entry.entry in (INGEST, FORGET):
                last[entry.file_sha256] = max(last.get(entry.file_sha256, ""), entry.commit_id)
        return frozenset(
            entry.commit_id
            for entry in self.entries
            if entry.entry == INGEST and entry.commit_id != last[entry.file_sha256]
        )

    @property
    def groups(self) -> tuple[str, ...]:
        """Queue-sharing groups that rows have named."""
        dead = self.dead_commits
        return tuple(
            sorted({qsg for entry in self.entries if entry.commit_id not in dead for qsg in entry.qsgs})
        )

    def live(self, file_sha256: str) -> Entry | None:
        """Return the ingest of a file that counts."""
        dead = self.dead_commits
        for entry in self.entries:
            if (entry.entry, entry.file_sha256) == (INGEST, file_sha256) and entry.commit_id not in dead:
                return entry
        return None

    def stored(self, file_sha256: str, *, answers: dict[str, Any], keep_from: dt.date | None) -> Entry | None:
        """Return the ingest that makes another one of this file, with these answers, change nothing."""
        entry = self.live(file_sha256)
        if entry is None:
            return None
        told = json.loads(entry.answers)
        kept_from = told.pop(KEPT_FROM, None)
        if told != answers:
            return None
        wanted_from = keep_from.isoformat() if keep_from else "0000"
        if kept_from is not None and wanted_from < kept_from:
            return None
        for other in self.entries:
            if other.entry == RETENTION and other.commit_id > entry.commit_id and entry.first_day is not None:
                before = json.loads(other.answers)["before"]
                if max(entry.first_day, wanted_from) < before:
                    return None
        return entry
