"""Comparison of nightly runs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.aims import AIM_LONG_NIGHT_S, AIM_SMALL_NIGHT_S, AIM_TIMES_DUCKDB, AIM_TIMES_SHORT_NIGHT
from bench.versions.checkout import Version
from bench.versions.rounds import Figures, Run, alternate, each_version, report
from bench.versions.table import Line, lines


def measure_night(run: Run) -> list[Line]:
    """Compare nightly runs over a small, a short and a long history, and first reductions with DuckDB's.

    Each version stores the same generated usage in histories of its own, because their formats differ.
    """
    options = run.options
    sizes = run.after.probe(
        "night_size", run.work, rows=options.night_rows, structures=options.night_structures
    )
    days, hours_a_day, times_as_long = sizes["days"], sizes["hours"], sizes["times_as_long"]
    small, short, long = (
        f"nightly run, {count} days, s"
        for count in (max(days // times_as_long, 1) + 2, days + 2, days * times_as_long + 2)
    )
    ratio, reduced = "nightly run, long of short history", f"first reduction of {days} days, of DuckDB"
    histories = {
        small: range(days - max(days // times_as_long, 1), days),
        short: range(days),
        long: range(days),
    }
    published: dict[tuple[str, str], dict[str, str]] = {}
    added: dict[tuple[str, str], int] = {}

    def url(version: Version, history: str) -> Path:
        return run.data("night", version.name, str(list(histories).index(history)))

    def add(version: Version, history: str, of: range, hours: Sequence[int] = ()) -> None:
        version.probe(
            "history", run.work, url=str(url(version, history)), first=of.start, end=of.stop,
            structures=options.night_structures, hours=list(hours or range(hours_a_day)),
        )  # fmt: skip

    def one_night(version: Version, history: str) -> Mapping[str, Any]:
        key = (version.name, history)
        with tempfile.TemporaryDirectory(dir=run.work) as folder:
            found: dict[str, Any] = version.probe(
                "night",
                run.work,
                url=str(url(version, history)),
                folder=folder,
                published=published.get(key, {}),
            )
        published[key] = found.pop("published")
        return found

    def prepared(version: Version) -> Figures:
        """Generate the histories, and reduce their days."""
        url(version, small).parent.mkdir(parents=True)
        add(version, short, histories[short])
        reductions = version.probe(
            "reductions", run.work, url=str(url(version, short)), rounds=options.night_rounds
        )
        shutil.copytree(url(version, short), url(version, long))
        add(version, long, range(-days * (times_as_long - 1), 0), hours=(11,))
        add(version, small, histories[small])
        for history in histories:
            report(f"first nightly run of {history}, {version.name}")
            one_night(version, history)
        return {reduced: reductions["own_s"] / reductions["duckdb_s"]}

    def measured(version: Version) -> Figures:
        seconds = {}
        for history in histories:
            # As in the application, each run reduces only the day that was added.
            key = (version.name, history)
            day = days + added.setdefault(key, 0)
            added[key] += 1
            add(version, history, range(day, day + 1))
            found = one_night(version, history)
            report(
                f"{version.name}: {found['days']} days, {found['forecasts']} forecasts, {found['seconds']:.1f} s"
            )
            seconds[history] = found["seconds"]
        return {**seconds, ratio: seconds[long] / seconds[short]}

    first = alternate("histories", each_version(run, prepared), 1)
    nights = alternate("nightly runs", each_version(run, measured), options.night_rounds, prepared=first)
    aims = {small: AIM_SMALL_NIGHT_S, short: None, long: AIM_LONG_NIGHT_S, ratio: AIM_TIMES_SHORT_NIGHT}
    return lines(nights, aims) + lines(first, {reduced: AIM_TIMES_DUCKDB})
