"""The daily statistics next to the history: a separate Delta table with a file for each kind and month.

One entry of its log replaces the statistics of some days, all kinds at once, together with the fingerprints of the
days: after a killed run, they are either unchanged or complete. An entry can only follow the version that it was made
    from; of two simultaneous runs, the second starts again from the results of the first.

The name of the folder begins with _, so that no cleanup of the history's own files touches it.
"""

from __future__ import annotations

import datetime as dt
import random
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from spark_jobs.history.places import place_of
from spark_jobs.history.schema import HistoryError
from spark_jobs.history.store import shown
from spark_jobs.night.statistics import KINDS, LEDGER, REDUCTION, kept_schema

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

FOLDER = "_daily"
PARTITIONS = ("kind", "month")
ATTEMPTS = 25
LONGEST_PAUSE_S = 0.5
KEPT_HOURS = 7 * 24
"""The number of hours for which replaced files remain for other readers."""


@dataclass(frozen=True, slots=True)
class Filed:
    """The ledger entry of one filed day."""

    filed: str
    fingerprint: str
    rows_read: int
    days: tuple[str, ...]
    """The UTC days that the day's records are about."""


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    size_bytes: int
    kind: str
    month: str


def url_of(history_url: str) -> str:
    """Return the address of a history's daily statistics.

    It contains the version of the reduction rules, so a new version starts without statistics.
    """
    return f"{history_url.rstrip('/')}/{FOLDER}/{REDUCTION}"


class Daily:
    """The daily statistics of one history."""

    def __init__(self, history_url: str) -> None:
        self.place = place_of(url_of(history_url))
        self.url = self.place.url

    def read(self) -> DailySnapshot:
        """Return the current statistics."""
        try:
            delta = DeltaTable(self.url)
        except TableNotFoundError:
            return DailySnapshot(self, None, ())
        except (DeltaError, OSError) as error:
            raise _unreadable(self.url, error) from error
        found = pa.table(delta.get_add_actions(flatten=True))
        names = ("path", "size_bytes", "partition.kind", "partition.month")
        rows = zip(*(found[name].to_pylist() for name in names), strict=True)
        return DailySnapshot(self, delta, tuple(_File(*row) for row in sorted(rows)))

    def replace(
        self, statistics: Mapping[str, pa.Table], filed: Sequence[Filed], *, gone: Iterable[str] = ()
    ) -> None:
        """Replace these filed days and remove others, in one step.

        Args:
            statistics: by kind, the rows of the days.
            filed: the days.
            gone: days to remove.
        """
        gone = set(gone)
        if not filed and not gone:
            return
        added = {**statistics, LEDGER: _ledger_rows(filed)}
        for attempt in range(ATTEMPTS):
            if self._try_to_replace(added, {one.filed for one in filed} | gone):
                return
            time.sleep(min(LONGEST_PAUSE_S, 0.01 * 2**attempt) * random.random())  # noqa: S311 - so that two runs do not collide again
        message = (
            f"The daily statistics at {shown(self.url)} are being written to by too many processes at once."
        )
        raise HistoryError(message)

    def tidy(self) -> None:
        """Delete the files that no reader needs any longer."""
        DeltaTable(self.url).vacuum(retention_hours=KEPT_HOURS, dry_run=False, full=True)

    def _try_to_replace(self, added: Mapping[str, pa.Table], days: set[str]) -> bool:
        kept = self.read()
        if kept.delta is None:
            self._create()
            return False  # The next attempt must be made from the version that now exists.
        months = {day[:7] for day in days}
        replaced = pa.array(sorted(dt.date.fromisoformat(day) for day in days), pa.date32())
        actions: list[AddAction | RemoveAction] = []
        for kind in (*KINDS, LEDGER):
            for month in sorted(months):
                files = kept.files(kind, month)
                rows = kept.rows(kind, months=(month,))
                rows = rows.filter(pc.invert(pc.is_in(rows["filed"], value_set=replaced)))
                rows = pa.concat_tables([rows, _of_month(added.get(kind), kind, month)])
                if rows.num_rows:
                    actions.append(self._write(kind, month, rows))
                actions += [_removed(file) for file in files]
        try:
            kept.delta.create_write_transaction(
                actions,
                mode="append",
                schema=_schema(),
                partition_by=list(PARTITIONS),
                commit_properties=CommitProperties(
                    max_commit_retries=0
                ),  # On top of this version or not at all.
            )
        except CommitFailedError:
            return False
        except (DeltaError, OSError) as error:
            message = f"The daily statistics at {shown(self.url)} cannot be written to: {error}"
            raise HistoryError(message) from error
        return True

    def _create(self) -> None:
        try:
            DeltaTable.create(
                self.url,
                _schema(),
                mode="ignore",
                partition_by=list(PARTITIONS),
                name="cfplan daily statistics",
                # Files are chosen by kind and month; statistics of their columns would only enlarge the log.
                configuration={"delta.dataSkippingNumIndexedCols": "0"},
            )
        except CommitFailedError:
            return  # Another run created it at the same time.
        except (DeltaError, OSError) as error:
            message = f"Daily statistics cannot be stored at {shown(self.url)}: {error}"
            raise HistoryError(message) from error

    def _write(self, kind: str, month: str, rows: pa.Table) -> AddAction:
        path = f"kind={kind}/month={month}/{secrets.token_hex(16)}.parquet"
        sink = pa.BufferOutputStream()
        pq.write_table(rows.sort_by([("filed", "ascending")]), sink, compression="zstd")
        data = sink.getvalue()
        self.place.write(path, data)
        values: dict[str, str | None] = {"kind": kind, "month": month}
        statistics = f'{{"numRecords":{rows.num_rows}}}'
        return AddAction(path, data.size, values, time.time_ns() // 1_000_000, True, statistics)


class DailySnapshot:
    """The daily statistics at one version."""

    def __init__(self, daily: Daily, delta: DeltaTable | None, files: tuple[_File, ...]) -> None:
        self.delta = delta
        self._daily = daily
        self._files = files
        self._filed: dict[str, Filed] | None = None

    def files(self, kind: str, month: str | None = None) -> list[_File]:
        """Return the files of a kind."""
        return [file for file in self._files if file.kind == kind and month in (None, file.month)]

    def filed(self) -> dict[str, Filed]:
        """Return the filed days that are kept."""
        if self._filed is None:
            self._filed = {}
            for row in self.rows(LEDGER).to_pylist():
                day = row["filed"].isoformat()
                self._filed[day] = Filed(
                    day, row["fingerprint"], row["rows_read"], tuple(row["days"].split())
                )
        return self._filed

    def rows(self, kind: str, *, months: Collection[str] | None = None) -> pa.Table:
        """Return the rows of a kind."""
        schema = kept_schema(kind)
        files = [file for file in self.files(kind) if months is None or file.month in months]
        try:
            found = [self._daily.place.read(file.path) for file in files]
        except OSError as error:
            raise _unreadable(self._daily.url, error) from error
        return (
            pa.concat_tables([table.select(schema.names).cast(schema) for table in found])
            if found
            else schema.empty_table()
        )


def _of_month(rows: pa.Table | None, kind: str, month: str) -> pa.Table:
    schema = kept_schema(kind)
    if rows is None:
        return schema.empty_table()
    return (
        rows.filter(pc.equal(pc.strftime(rows["filed"], format="%Y-%m"), month))
        .select(schema.names)
        .cast(schema)
    )


def _ledger_rows(filed: Sequence[Filed]) -> pa.Table:
    rows = [
        {
            "filed": dt.date.fromisoformat(one.filed),
            "fingerprint": one.fingerprint,
            "rows_read": one.rows_read,
            "days": " ".join(one.days),
        }
        for one in filed
    ]
    return pa.Table.from_pylist(rows, schema=kept_schema(LEDGER))


def _schema() -> Schema:
    """Return the columns of all kinds; columns of one name have one type."""
    fields = {name: pa.field(name, pa.string()) for name in PARTITIONS}
    for kind in (*KINDS, LEDGER):
        fields |= {one.name: one for one in kept_schema(kind)}
    return Schema.from_arrow(pa.schema(list(fields.values())))


def _removed(file: _File) -> RemoveAction:
    values: dict[str, str | None] = {"kind": file.kind, "month": file.month}
    return RemoveAction(file.path, True, time.time_ns() // 1_000_000, file.size_bytes, values)


def _unreadable(url: str, error: Exception) -> HistoryError:
    return HistoryError(f"The daily statistics at {shown(url)} cannot be read: {error}")
