"""Read a file of a given kind into the tables of the history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

from planner_core.inputs import COMPANION_KINDS, KIND_TITLES, Kind
from spark_jobs.readers import cfact, mqsmf, overview, template
from spark_jobs.readers.displays import DisplayReader, Observed
from spark_jobs.readers.result import Collector, NotReadable, ReadResult
from spark_jobs.readers.text import TextFile
from spark_jobs.readers.values import Zone

# A mistyped year would put the rows into a day of the history that users never look at.
_YEARS: Final = range(1990, 2200)


def read(
    path: Path | str,
    kind: Kind,
    *,
    observed_at: datetime | None = None,
    zone: tzinfo | None = None,
    qsg_of: Mapping[tuple[str, str], str] | None = None,
) -> ReadResult:
    """Read a file other than an SMF dump.

    Args:
        path: The file; text in UTF-8, UTF-16 or Latin-1, with or without gzip compression.
        kind: Its kind, from `detect` or from the user; not "smf".
        observed_at: The time at which a display was taken, with its zone or in `zone`. Displays contain no date.
        zone: The zone of local times in the file.
        qsg_of: The site's map of (system id, queue manager) to queue-sharing group; "" for none.
            Displays do not name the system: any entry of the queue manager is used, "ANY" first.

    Returns:
        The rows, and the questions that must be answered before they may be stored.

    Raises:
        NotReadable: The file is not of that kind, or an argument is invalid.
        OSError: The file cannot be read.
    """
    if kind == "smf" or kind not in KIND_TITLES:
        msg = f"{kind!r} is not a kind of file that can be read here."
        raise NotReadable(msg)
    if kind in COMPANION_KINDS:
        msg = f"{KIND_TITLES[kind]}: contains no usage."
        raise NotReadable(msg)
    if observed_at is not None and observed_at.year not in _YEARS:
        msg = f"{observed_at.isoformat()} cannot be a time of observation."
        raise NotReadable(msg)
    file = TextFile(Path(path))
    collector = Collector(kind)
    _read(file, collector, observed=Observed(observed_at, zone), qsg_of=qsg_of or {})
    # This is known only now, because the file was decompressed while it was read.
    if file.is_cut:
        collector.problem(
            0, "The compressed file is truncated: only the part before the truncation was read."
        )
    return collector.result()


def _read(
    file: TextFile, collector: Collector, *, observed: Observed, qsg_of: Mapping[tuple[str, str], str]
) -> None:
    zone = Zone(observed.zone, on_doubt=collector.note)
    match collector.kind:
        case "mqsmf_csv":
            mqsmf.read_csv(file, collector, zone=zone, qsg_of=qsg_of)
        case "mqsmf_json":
            mqsmf.read_json(file, collector, zone=zone, qsg_of=qsg_of)
        case "cfact_csv":
            cfact.read_csv(file, collector, zone=zone, observed_at=_instant(observed, zone), qsg_of=qsg_of)
        case "cfact_json":
            cfact.read_json(file, collector, zone=zone, observed_at=_instant(observed, zone), qsg_of=qsg_of)
        case "overview_csv":
            overview.read_overview(file, collector, zone=zone, qsg_of=qsg_of)
        case "template":
            template.read_template(file, collector, zone=zone)
        case _:
            found = DisplayReader(collector, observed=observed, qsg_of=qsg_of).read(file.whole())
            if not found:
                msg = (
                    f"The file contains no {KIND_TITLES[collector.kind]}: paste the complete "
                    "response, including its first line."
                )
                raise NotReadable(msg)


def _instant(observed: Observed, zone: Zone) -> datetime | None:
    """Return the time of observation in UTC; None if its zone is unknown."""
    if observed.at is None:
        return None
    if observed.at.tzinfo is not None:
        return observed.at.astimezone(UTC)
    return zone.utc(observed.at) if zone.is_known else None
