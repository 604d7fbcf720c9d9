"""The table of files: which ingests count, and what retention and deletion removed."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

INGEST, RETENTION, FORGET = "ingest", "retention", "forget"

BEGINNING = "0000"
"""A text that sorts before every day."""

KEPT_FROM = "kept_from"
"""The key under which the answers contain the first day that was kept, if older days of the file were skipped."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table of files, without its report."""

    commit_id: str
    entry: str
    identity: str
    answers: dict[str, Any]
    first_day: str | None
    qsgs: tuple[str, ...]
    days: dict[str, list[str]]
    unnamed_days: dict[str, list[str]]
    """Days with rows that have only XCF's structure name; for an entry of an older release, all of its days."""

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Entry:
        """Return the entry in a row of the table."""
        days: dict[str, list[str]] = json.loads(row["days"] or "{}")
        unnamed = row.get("unnamed_days")
        return cls(
            commit_id=row["commit_id"],
            entry=row["entry"],
            identity=row["identity"] or "",
            answers=json.loads(row["answers"] or "{}"),
            first_day=min((day for of_table in days.values() for day in of_table), default=None),
            qsgs=tuple(json.loads(row["qsgs"] or "[]")),
            days=days,
            unnamed_days=days if unnamed is None else json.loads(unnamed),
        )


@dataclass(frozen=True, slots=True)
class Ledger:
    """All rows of the table of files at one version of the history."""

    entries: tuple[Entry, ...]

    @property
    def dead_commits(self) -> frozenset[str]:
        """Return the ingests whose rows no longer count, because the file was ingested again or forgotten."""
        last: dict[str, str] = {}
        for entry in self.entries:
            if entry.entry in (INGEST, FORGET):
                # Commit ids sort by the start of the ingest: of two concurrent ingests of one file, the one that began
                # later counts.
                last[entry.identity] = max(last.get(entry.identity, ""), entry.commit_id)
        return frozenset(
            entry.commit_id
            for entry in self.entries
            if entry.entry == INGEST and entry.commit_id != last[entry.identity]
        )

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the queue-sharing groups that rows name."""
        dead = self.dead_commits
        return tuple(
            sorted({qsg for entry in self.entries if entry.commit_id not in dead for qsg in entry.qsgs})
        )

    def group_of(self, who: tuple[str, str]) -> str | None:
        """Return the group of a queue manager from the answers to earlier files, the latest one if they differ."""
        dead, name = self.dead_commits, ":".join(who)
        found = [
            (entry.commit_id, entry.answers["qsg"][name])
            for entry in self.entries
            if entry.commit_id not in dead and name in entry.answers.get("qsg", {})
        ]
        return max(found)[1] if found else None

    def live(self, identity: str) -> Entry | None:
        """Return the ingest of a file that counts, or None."""
        dead = self.dead_commits
        for entry in self.entries:
            if (entry.entry, entry.identity) == (INGEST, identity) and entry.commit_id not in dead:
                return entry
        return None

    def live_of(self, file_sha256: str) -> list[Entry]:
        """Return the ingests of a file's content that count; a display has one for each time of observation."""
        dead = self.dead_commits
        return [
            entry
            for entry in self.entries
            if entry.entry == INGEST
            and entry.commit_id not in dead
            and entry.identity.partition("@")[0] == file_sha256
        ]

    def stored(self, identity: str, *, given: Mapping[str, Any], keep_from: dt.date | None) -> Entry | None:
        """Return the earlier ingest of this file if a new one with these answers would change nothing.

        Only answers that were used are compared, and an answer that is missing now is not a different one.
        """
        entry = self.live(identity)
        if entry is None or _differ(entry.answers, given):
            return None
        kept_from = entry.answers.get(KEPT_FROM)
        wanted_from = keep_from.isoformat() if keep_from else BEGINNING
        # The earlier ingest skipped days that a longer retention would keep now.
        if kept_from is not None and wanted_from < kept_from:
            return None
        first = max(entry.first_day or wanted_from, wanted_from)
        dropped = (
            other for other in self.entries if other.entry == RETENTION and other.commit_id > entry.commit_id
        )
        # Retention has removed rows of it since; a new ingest would bring them back.
        if any(first < other.answers["before"] for other in dropped):
            return None
        return entry


def identity_of(file_sha256: str, *, observed_at: dt.datetime | None) -> str:
    """Return the identity of a file: its bytes and, for a display, the time of observation."""
    if observed_at is None:
        return file_sha256
    return f"{file_sha256}@{observed_at.astimezone(dt.UTC).isoformat()}"


def _differ(told: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    groups = given.get("qsg") or {}
    if any(groups.get(who, group) != group for who, group in (told.get("qsg") or {}).items()):
        return True
    return any(given.get(name) not in (None, told.get(name)) for name in ("kind", "zone"))
