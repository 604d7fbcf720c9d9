"""The allocation of structures at their last observation in each hour, and whether they were duplexed.

Records of RMF, its reports and displays of XCF name the coupling facility. Messages are ignored: each of them is about
one instance only.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

USAGE_COLUMNS: Final = ("coupling_facility", "status")
ALLOCATION_COLUMNS: Final = ("coupling_facility", "status", "is_active", "duplex")
"""The columns to read from each table."""


_TOGETHER: Final = dt.timedelta(seconds=60)
"""The longest time between observations that belong to the same moment: intervals of several systems end some
hundredths of a second
apart, and displays follow each other within seconds."""
_DUPLEXED: Final = re.compile(r"\bduplexed\b|\bduplexing (?:new|old)$", re.IGNORECASE)
"""The wording of duplexing in rows of 74-4 and of displays. A display may mention duplexing while there is only one
instance."""
_TWO_INSTANCES: Final = re.compile(r"\b(?:duplex(?:ed|ing)|rebuild|rebuilt|NEW|OLD)\b", re.IGNORECASE)
_FIRST: Final = re.compile(r"\b(?:primary|old)\b", re.IGNORECASE)
_SECOND: Final = re.compile(r"\b(?:secondary|new)\b", re.IGNORECASE)

HourKey = tuple[Any, ...]
"""The key of a structure's hour: group, structure, hour."""
Row = Mapping[str, Any]


class Placements:
    """A collection of a day's rows that name a coupling facility, or the DUPLEX of the policy."""

    def __init__(self) -> None:
        self._rows: dict[HourKey, list[Row]] = {}

    def add(self, placed: pa.Table) -> None:
        """Add rows that `latest` returned; the same row may be added again with another time."""
        for row in placed.to_pylist():
            self._rows.setdefault((row["qsg"], row["structure"], row["hour"]), []).append(row)

    def of(self, key: HourKey) -> dict[str, Any]:
        """Return the last observation of an hour; None for values that no row has."""
        rows = self._rows.get(key, ())
        policies = [row for row in rows if row.get("duplex")]
        policy = max(policies, key=_observed)["duplex"] if policies else None
        now = _last([row for row in rows if row["coupling_facility"]])
        # During a rebuild, records also name the coupling facility whose instance is only held or in transition.
        gone = {row["coupling_facility"] for row in now if _is_gone(row)}
        now = [row for row in now if row["coupling_facility"] not in gone]
        names = sorted({row["coupling_facility"] for row in now})
        is_duplexed = _is_duplexed(now, instances=len(names))
        names.sort(key=lambda name: _place(now, name, is_duplexed=bool(is_duplexed)))
        return {
            "coupling_facilities": names or None,
            "is_duplexed": is_duplexed,
            "policy_duplex": policy,
            "placed_by": sorted({row["source"] for row in (*now, *policies)}) or None,
        }


def latest(spread: pa.Table) -> pa.Table:
    """Return the rows that name a coupling facility or DUPLEX, once for each hour, with the latest time."""
    names = [name for name in ALLOCATION_COLUMNS if name in spread.schema.names]
    told = pc.is_valid(spread["coupling_facility"])
    if "duplex" in names:
        told = pc.or_(told, pc.is_valid(spread["duplex"]))
    kept = spread.filter(pc.and_(told, pc.invert(pc.starts_with(spread["source"], "message "))))
    keys = ["qsg", "structure", "xcf_structure", "hour", "source", *names]
    return kept.group_by(keys).aggregate([("interval_end", "max")])


def _observed(row: Row) -> dt.datetime:
    at: dt.datetime = row["interval_end_max"]
    return at


def _last(rows: list[Row]) -> list[Row]:
    """Return the rows of the last observation: one for each system and coupling facility."""
    if not rows:
        return rows
    latest = max(map(_observed, rows))
    return [row for row in rows if latest - _observed(row) < _TOGETHER]


def _is_gone(row: Row) -> bool:
    """Return whether an instance is only held or in transition. A record without any flag does not state its condition."""
    return row.get("is_active") is False and bool(row["status"]) and not _TWO_INSTANCES.search(row["status"])


def _is_duplexed(rows: Iterable[Row], *, instances: int) -> bool | None:
    """Return whether two instances held the same data; None if the rows do not show it, such as two without flags."""
    if any(_DUPLEXED.search(row["status"] or "") for row in rows):
        return True
    is_told = instances == 1 and any(row.get("is_active") for row in rows)
    return False if is_told else None


def _place(rows: Iterable[Row], name: str, *, is_duplexed: bool) -> int:
    """Return a sort key: the primary of a duplexed structure comes first, or the new instance of one that is moved."""
    said = " ".join(row["status"] or "" for row in rows if row["coupling_facility"] == name)
    place = bool(_SECOND.search(said)) - bool(_FIRST.search(said))
    return place if is_duplexed else -place
