"""The days of the history for other engines: the files of a day, whether it changed, and which of its rows count.

A program that reads the Parquet files with Spark or another engine takes one `Snapshot` and uses it for everything: the
files of a table's day (`day_files`), a fingerprint that changes whenever the day's rows may change (`day_fingerprints`),
and the SQL that selects the rows that `History.read_days` returns (`standing_sql`).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from planner_core.contracts.ingest import USAGE_TABLES
from planner_core.names import cfrm_structure_name
from spark_jobs.history.ledger import INGEST, RETENTION
from spark_jobs.history.resolve import KEY_COLUMNS, has_repeats, merged_columns, standing, without
from spark_jobs.history.schema import (
    ALLOCATION,
    ORIGINS,
    STRUCTURE_USAGE,
    stored_schema,
)
from spark_jobs.history.staging import read_parts
from spark_jobs.history.summaries import are_apart, spans_in, sums_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_jobs.history.places import Place
    from spark_jobs.history.staging import Part
    from spark_jobs.history.store import History, Snapshot

FINGERPRINT_RULES = 1
"""The version of the rules for counting rows; a new one causes every day to be reduced again."""

NAMED_LATER = (STRUCTURE_USAGE, ALLOCATION)
"""Tables with rows that only have XCF's structure name, and are assigned to a group once it is known."""

_ORDER = ("key_high", "key_low", "piece", "content_hash", "origin", "commit_id", "file_offset")
_TYPES = {
    "string": "STRING",
    "int64": "BIGINT",
    "int32": "INT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "date32[day]": "DATE",
    "timestamp[us, tz=UTC]": "TIMESTAMP",
}


def day_fingerprints(
    history: History, *, tables: Sequence[str] = USAGE_TABLES, snapshot: Snapshot | None = None
) -> dict[tuple[str, str], str]:
    """Return, by table and day, a fingerprint that changes whenever the rows that count may have changed.

    It is computed from the ingests that count and touched the day, from what retention removed, and from the groups
    that rows of RMF may be assigned to. It does not depend on the files, so compaction does not change it. A removed
    day has no fingerprint.
    """
    snapshot = snapshot or history.snapshot()
    ledger = snapshot.ledger
    dead = ledger.dead_commits
    groups = " ".join(ledger.groups)
    rules = (str(FINGERPRINT_RULES), str(snapshot.key_rules))
    commits: dict[tuple[str, str], set[str]] = {}
    for entry in ledger.entries:
        if entry.entry == INGEST and entry.commit_id not in dead:
            for table, days in entry.days.items():
                for day in days:
                    commits.setdefault((table, day), set()).add(entry.commit_id)
    cuts = [
        (str(entry.answers["before"]), entry.commit_id)
        for entry in ledger.entries
        if entry.entry == RETENTION
    ]
    found = {}
    for table in tables:
        unnamed = snapshot.unnamed_days(table)
        for day in snapshot.days(table):
            of_day = commits.get((table, day), set())
            if not of_day:
                continue  # rows left here belong to an ingest that was replaced or forgotten
            words = [*rules, *sorted(of_day)]
            words += sorted(commit_id for before, commit_id in cuts if day < before)
            if day in unnamed:
                # Rows without a group get one when they are read, so a new group in the ledger can change this day.
                words.append(groups)
            found[table, day] = hashlib.sha256("\n".join(words).encode()).hexdigest()
    return found


def day_files(history: History, table: str, day: str, *, snapshot: Snapshot | None = None) -> list[str]:
    """Return the Parquet files that make up a table's day, as paths or URLs.

    They lack the columns `table` and `day`, which are in their folders' names. They may hold rows of ingests that no longer
    count and several rows of one natural key: `standing_sql` leaves both out.
    """
    snapshot = snapshot or history.snapshot()
    return sorted(f"{history.url}/{part.path}" for part in snapshot.of(table, day))


def has_twins(history: History, table: str, day: str, *, snapshot: Snapshot | None = None) -> bool:
    """Return whether rows of a day must be left out or merged; if not, `standing_sql(…, twins=False)` is enough.

    It reads one column of the day, about 20 million rows per second and core.
    """
    snapshot = snapshot or history.snapshot()
    parts = snapshot.of(table, day)
    return _may_be_dead(parts, snapshot.ledger.dead_commits) or _has_repeated_keys(history.place, parts)


def day_sums(
    place: Place, parts: Sequence[Part], names: Sequence[str], *, dead: frozenset[str]
) -> dict[str, pa.Table] | None:
    """Return the sums in the footers of the files of a table's day, or None if the rows must be read instead.

    That is the case if a key was delivered twice, if rows no longer count, and if a file has no sums.
    """
    if _may_be_dead(parts, dead):
        return None
    footers = [place.footer(part.path) for part in parts]
    found = [sums_in(footer, parts[0].table, names) for footer in footers]
    if any(one is None for one in found):
        return None
    if not are_apart([spans_in(footer) for footer in footers]) and _has_repeated_keys(place, parts):
        return None
    sums = [one for one in found if one is not None]
    return {name: pa.concat_tables([one[name] for one in sums]) for name in sums[0]}


def standing_rows(
    place: Place, parts: Sequence[Part], columns: Sequence[str], *, dead: frozenset[str]
) -> pa.Table:
    """Return columns of the rows that count, from the files of a table's day, in the order of the files."""
    table = parts[0].table
    wanted = list(dict.fromkeys(columns))
    rows = read_parts(place, parts, table=table, columns=list(dict.fromkeys((*wanted, "key_low"))))
    if not _may_be_dead(parts, dead) and not has_repeats(np.asarray(rows["key_low"].combine_chunks())):
        return rows.select(wanted)
    others = [name for name in KEY_COLUMNS if name not in rows.schema.names]
    found = read_parts(place, parts, table=table, columns=others)
    for name in others:
        rows = rows.append_column(name, found[name])
    merged = [name for name in merged_columns(table) if name in wanted]
    return standing(without(rows, dead), columns=merged).select(wanted)


def _may_be_dead(parts: Sequence[Part], dead: frozenset[str]) -> bool:
    # A compacted file holds rows of many commits, some of which may be dead.
    return any(part.commit_id in dead or (dead and not part.commit_id) for part in parts)


def _has_repeated_keys(place: Place, parts: Sequence[Part]) -> bool:
    # Comparing half of the key halves the bytes to read. Two keys whose halves are equal by chance only cost the slower
    # query.
    keys = read_parts(place, parts, table=parts[0].table, columns=["key_low"])["key_low"].combine_chunks()
    return has_repeats(np.asarray(keys))


def spark_schema(table: str, columns: Sequence[str] | None = None) -> str:
    """Return the columns as Spark's DDL, to read files of any release: a column that a file lacks is null.

    The columns that `standing_sql` needs are always included.
    """
    schema = stored_schema(table)
    names = _needed(table, columns)
    return ", ".join(f"`{name}` {_TYPES[str(schema.field(name).type)]}" for name in names if name != "day")


def standing_sql(
    table: str,
    view: str,
    *,
    snapshot: Snapshot,
    columns: Sequence[str] | None = None,
    twins: bool = True,
) -> str:
    """Return a query over `view`, the files of any days of a table, that selects the rows of `History.read_days`.

    Args:
        table: a table of the history.
        view: the name of the files' rows, with the columns of `spark_schema(table, columns)`.
        snapshot: the version of the history that the files were taken from.
        columns: the columns to return; by default all.
        twins: whether rows may have to be left out or merged; False only if `has_twins` is False for all of the days.
    """
    wanted = [name for name in (columns or stored_schema(table).names) if name != "day"]
    told = {name: f"`{name}`" for name in wanted}
    groups = snapshot.ledger.groups
    if table in NAMED_LATER and groups:
        told |= {name: text for name, text in _named(groups).items() if name in told}
    selected = ", ".join(f"{text} AS `{name}`" for name, text in told.items())
    if not twins:
        return f"SELECT {selected} FROM {view}"  # noqa: S608 - names of ours
    dead = sorted(snapshot.ledger.dead_commits)
    living = f" WHERE commit_id NOT IN ({', '.join(map(_text, dead))})" if dead else ""
    ranks = " ".join(f"WHEN {_text(origin)} THEN {rank}" for rank, origin in enumerate(ORIGINS))
    merged = set(merged_columns(table))
    inner = [name for name in _needed(table, columns) if name != "day"]
    # A missing value contradicts nothing: each column is read from the newest row that has it.
    put_together = ", ".join(
        f"first_value(`{name}`, true) OVER cell AS `{name}`" if name in merged else f"`{name}`"
        for name in inner
        if name not in ("key_high", "key_low", "origin")
    )
    cell = (
        "PARTITION BY key_high, key_low, coalesce(piece, 0) "
        "ORDER BY commit_id DESC, content_hash DESC, coalesce(file_offset, 0) DESC"
    )
    return f"""\
SELECT {selected} FROM (
  SELECT key_high, key_low, origin, {put_together}, row_number() OVER latest_first AS place_in_cell FROM (
    SELECT *, max(origin_rank) OVER (PARTITION BY key_high, key_low) AS best_rank FROM (
      SELECT {", ".join(f"`{name}`" for name in inner)}, CASE origin {ranks} ELSE -1 END AS origin_rank FROM {view}{living}
    )
  ) WHERE origin_rank = best_rank
  WINDOW latest_first AS ({cell}), cell AS ({cell} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
) WHERE place_in_cell = 1"""  # noqa: S608 - names of ours; texts are quoted


def _needed(table: str, columns: Sequence[str] | None) -> list[str]:
    """Return the columns that must be read to return the given ones, in the schema's order."""
    names = stored_schema(table).names
    wanted = set(columns) if columns is not None else set(names)
    unknown = wanted - set(names)
    if unknown:
        message = f"{table} has no columns {', '.join(sorted(unknown))}"
        raise ValueError(message)
    wanted |= set(_ORDER)
    if wanted & {"qsg", "structure"}:
        wanted |= {"qsg", "structure", "xcf_structure"}
    return [name for name in names if name in wanted]


def _named(groups: Sequence[str]) -> dict[str, str]:
    """Return the expressions that determine the group and MQ's name for rows with only XCF's structure name."""
    prefix = "substr(`xcf_structure`, 1, 4)"
    whens = " ".join(
        f"WHEN {_text(cfrm_structure_name(qsg_name=group, cfstruct_name=''))} THEN {_text(group)}"
        for group in groups
    )
    known = f"{prefix} IN ({', '.join(_text(cfrm_structure_name(qsg_name=group, cfstruct_name='')) for group in groups)})"
    return {
        "qsg": f"CASE WHEN `qsg` IS NULL THEN CASE {prefix} {whens} END ELSE `qsg` END",
        "structure": f"CASE WHEN `qsg` IS NULL AND {known} THEN substr(`xcf_structure`, 5) ELSE `structure` END",
    }


def _text(text: str) -> str:
    """Return a text as an SQL literal."""
    # Spark reads backslashes in literals as escapes.
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
