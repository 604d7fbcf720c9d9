"""The cost of a large history: a simulated site with one-minute intervals, measured and extrapolated to a year.

Each day is a dump that is generated, ingested, rolled up and deleted, so that a long history needs little space. At the
end, the statistics of all days are merged as in a nightly run, but not stored.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from bench.dumps import Measured, _watched

STRUCTURES, MANAGERS = 20, 4
FIRST_DAY = dt.date(2026, 1, 5)
SEED = 3
TENTH_ROWS, YEAR_ROWS = 106_000_000, 1_060_000_000
"""The rows of the largest group with one-minute intervals, for 36.5 and 365 days."""
YEAR_DAYS = 365
BEGIN, END = "<!-- measured by bench.scale -->\n", "<!-- end of measured -->\n"
STEPS = ("ingest", "roll-up", "merging of statistics")
LEAST = 0.01
"""Smaller figures are shown with two significant digits instead of two decimals."""
NOT_MEASURED = "\N{EN DASH}"


@dataclass
class Scale:
    """The measured costs of a history."""

    rows: int = 0
    days: int = 0
    dump_bytes: int = 0
    history_bytes: int = 0
    steps: dict[str, list[Measured]] = field(default_factory=lambda: {step: [] for step in STEPS})

    def cpu_s(self, step: str) -> float:
        """Return the CPU time of a step over all days."""
        return sum(each.cpu_s for each in self.steps[step])

    def peak_mb(self, step: str) -> float:
        """Return the largest memory of a step on any day."""
        return max((each.peak_mb for each in self.steps[step]), default=0.0)


def measure(rows: int, *, folder: Path | None = None) -> Scale:
    """Store days of a simulated site until the history has at least this many rows, and measure each step."""
    found = Scale()
    with tempfile.TemporaryDirectory(prefix="cfplan-bench-", dir=folder) as made:
        work = Path(made)
        history = work / "history"
        while found.rows < rows:
            _day(work, history, found)
        found.steps[STEPS[2]].append(_step("bench.scale", str(history))[0])
        found.history_bytes = sum(
            path.stat().st_size for path in history.rglob("*.parquet") if "_daily" not in path.parts
        )
    return found


def _day(work: Path, history: Path, found: Scale) -> None:
    day = FIRST_DAY + dt.timedelta(days=found.days)
    dumps = work / "dumps"
    _step(
        "spark_jobs.simulate", "--days=1", f"--structures={STRUCTURES}", f"--queue-managers={MANAGERS}",
        "--interval-minutes=1", f"--seed={SEED}", f"--out={dumps}", f"--last-day={day}", "--force",
    )  # fmt: skip
    (dump,) = dumps.glob("*.smf")
    group_map = dumps / "simulated-qsg-map.json"
    ingested, out = _step("spark_jobs.ingest", "--history", str(history), str(group_map), str(dump))
    report = next(each for each in json.loads(out.splitlines()[-1])["files"] if each["kind"] == "smf")
    if report["status"] != "stored":
        raise RuntimeError(report["message"])
    days = ",".join(report["days"])
    rolled_up, _ = _step("spark_jobs.rollup", "--history", str(history), f"--days={days}")
    found.steps["ingest"].append(ingested)
    found.steps["roll-up"].append(rolled_up)
    found.rows += sum(counts["read"] for counts in report["rows"].values())
    found.dump_bytes += dump.stat().st_size
    found.days += 1


def _step(module: str, *arguments: str) -> tuple[Measured, str]:
    out, seconds, cpu, peak = _watched([sys.executable, "-m", module, *arguments])
    return Measured(module, seconds, cpu, peak, 0, {}), out


def lines(found: Scale) -> list[str]:
    """Return the table of a page: measured, and extrapolated in proportion to the rows.

    Memory is not extrapolated, because it was measured only for dumps and histories of this size.
    """
    sizes = (found.rows, YEAR_ROWS // YEAR_DAYS, TENTH_ROWS, YEAR_ROWS)

    def row(name: str, value: float, unit: str, form: str = ",.2f") -> str:
        values = (value * size / found.rows for size in sizes)
        cells = (f"{each:{form if each >= LEAST else ',.2g'}} {unit}".rstrip() for each in values)
        return f"| {name} | {' | '.join(cells)} |"

    def memory(name: str, peak_mb: float) -> str:
        cells = (f"{peak_mb:,.0f} MB", *[NOT_MEASURED] * (len(sizes) - 1))
        return f"| {name} | {' | '.join(cells)} |"

    dump_mb = found.dump_bytes / found.days / 1e6
    cpu_min = {step: found.cpu_s(step) / 60 for step in STEPS}
    peak = max(found.peak_mb(step) for step in STEPS[:2])
    return [
        f"| cost | measured: {found.days} days | one day of the largest group | 36.5 days of the largest group "
        "| one year of the largest group |",
        "|---|---|---|---|---|",
        f"| rows | {' | '.join(f'{size:,}' for size in sizes)} |",
        row("dumps", found.dump_bytes / 1e9, "GB"),
        row("files of the history", found.history_bytes / 1e9, "GB"),
        *(row(f"{step}, processor time", minutes, "min") for step, minutes in cpu_min.items()),
        row("cores needed to load it in one day", sum(cpu_min.values()) / (24 * 60), "", ",.2g"),
        memory(f"memory of an ingest and of a roll-up, at most (dumps of {dump_mb:,.0f} MB)", peak),
        memory("memory of the merging", found.peak_mb(STEPS[2])),
    ]


def write_page(found: Scale, page: Path) -> None:
    """Replace the table between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + "\n" + "\n".join(lines(found)) + "\n\n" + END + after, encoding="utf-8")


def _merge(history: str) -> None:
    """Merge the statistics of all days as a nightly run does, without storing them."""
    from spark_jobs.history.store import History
    from spark_jobs.night.reduce import merge_days
    from spark_jobs.night.run import MERGED_DAYS, fingerprints

    opened = History.open(history)
    snapshot = opened.snapshot()
    days = sorted(fingerprints(opened, snapshot))
    for begin in range(0, len(days), MERGED_DAYS):
        batch = days[begin : begin + MERGED_DAYS]
        if list(merge_days(opened, snapshot, batch).rows_read) != batch:
            message = "the rows of a day would have to be read"
            raise RuntimeError(message)


if __name__ == "__main__":
    _merge(sys.argv[1])
