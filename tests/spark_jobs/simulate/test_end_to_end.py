"""From `cfplan simulate` and `cfplan ingest DIR/*` to `cfplan history export`: every figure matches the truth file."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.database.engine import Database, database_url
from app.uploads import qsg_map
from planner_core.simulated import QSG, is_simulated
from spark_jobs.simulate.days import Day, make_day
from spark_jobs.simulate.dumps import SYNC_SHARE
from spark_jobs.simulate.site import Options, Site
from spark_jobs.simulate.timeline import Timeline, make_timeline
from tests.spark_jobs.night.nights import plain_night

OPTIONS = Options(days=20, structures=8, queue_managers=3, interval_minutes=240, seed=21)
Row = Mapping[str, str]


@dataclass(frozen=True)
class IngestedSimulation:
    """An ingested simulation with its true site."""

    folder: Path
    data: Path
    report: dict[str, Any]
    site: Site
    timeline: Timeline
    days: dict[str, Day]
    _exported: dict[str, list[Row]] = field(default_factory=dict)

    def rows(self, table: str) -> list[Row]:
        """Return the rows that the export prints."""
        if table not in self._exported:
            code, text = cfplan("history", "export", "--table", table, "--qsg", QSG, data=self.data)
            assert code == 0
            self._exported[table] = list(csv.DictReader(io.StringIO(text)))
        return self._exported[table]

    def moment(self, row: Row) -> tuple[Day, int]:
        """Return the day and the interval of a row."""
        length = dt.timedelta(minutes=OPTIONS.interval_minutes)
        begin = dt.datetime.fromisoformat(row["interval_end"]) - length
        since = begin - dt.datetime.combine(begin.date(), dt.time(), dt.UTC)
        return self.days[begin.date().isoformat()], since // length


def cfplan(*arguments: str, data: Path) -> tuple[int, str]:
    """Return exit code and output of a command, run as from a terminal."""
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_MASTER"}
    done = subprocess.run(
        [sys.executable, "-c", "from app.cli import main_entry; main_entry()", *arguments],
        env={**environment, "CFPLAN_DATA_DIR": str(data)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> IngestedSimulation:
    """Return a simulation ingested once for all tests of this file."""
    root = tmp_path_factory.mktemp("simulated")
    folder, data = root / "made", root / "data"
    data.mkdir()
    options = [
        "--days=20", "--structures=8", "--queue-managers=3", "--interval-minutes=240", "--seed=21", "--days-per-file=7",
        f"--out={folder}",
    ]  # fmt: skip
    assert cfplan("simulate", *options, data=data)[0] == 0
    code, text = cfplan("ingest", *sorted(str(path) for path in folder.iterdir()), data=data)
    assert code == 0
    site = Site(OPTIONS)
    timeline = make_timeline(site)
    found = (make_day(site, timeline, number) for number in range(OPTIONS.days))
    days = {day.date.isoformat(): day for day in found if day}
    return IngestedSimulation(folder, data, json.loads(text), site, timeline, days)


def test_every_simulated_file_is_detected(simulation: IngestedSimulation) -> None:
    assert simulation.report["status"] == "stored"
    by_status = Counter(file["status"] for file in simulation.report["files"])
    assert by_status == {"stored": 3, "map_read": 1, "not_usage": 1}
    for file in simulation.report["files"]:
        assert file["quarantined"]["count"] == 0
        assert file["bytes"]["lost"] == 0
        assert file["passed_over"] == {}
        assert file["conflicts"] == []
        if file["status"] == "stored":
            assert is_simulated(QSG, file["file"])


def test_simulated_map_becomes_the_sites_map(simulation: IngestedSimulation) -> None:
    database = Database(database_url("", data_dir=simulation.data))
    try:
        with database.session(writes=False) as session:
            assert qsg_map.as_arguments(session) == ["SIMA:SM01=SIM1", "SIMA:SM03=SIM1", "SIMB:SM02=SIM1"]
    finally:
        database.close()


def test_maxima_of_queue_managers_match_the_structures(simulation: IngestedSimulation) -> None:
    most: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    full: Counter[tuple[str, str]] = Counter()
    rows = [row for row in simulation.rows("structure_usage") if row["source"] == "115-2 QEST"]
    managers = {one.name: number for number, one in enumerate(simulation.site.managers)}
    for row in rows:
        assert is_simulated(row["qsg"], row["file_name"])
        day, interval = simulation.moment(row)
        one = next(one for one in day.structures if one.model.name == row["structure"])
        seen = one.seen[managers[row["queue_manager"]], interval]
        for column, values in (("entries_in_use", one.entries), ("elements_in_use", one.elements)):
            assert int(row[column] or 0) == int(values[interval] * seen)
        key = row["structure"], row["interval_end"]
        most[key][0] = max(most[key][0], int(row["entries_in_use"] or 0))
        most[key][1] = max(most[key][1], int(row["elements_in_use"] or 0))
        full[key] += int(row["structure_full_count"])
    expected = {
        (one.model.name, interval): ([int(one.entries[at]), int(one.elements[at])], int(one.full[at]))
        for day in simulation.days.values()
        for one in day.structures
        for at, interval in enumerate(ends_of(day))
    }
    assert {key: (values, full[key]) for key, values in most.items()} == expected
    assert max(full.values()) > 0  # the backlog of one structure did fill it


def ends_of(day: Day) -> list[str]:
    """Return the ends of the intervals of a day as the export writes them."""
    begin = dt.datetime.combine(day.date, dt.time(), dt.UTC)
    length = dt.timedelta(minutes=OPTIONS.interval_minutes)
    return [
        (begin + number * length).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        for number in range(1, OPTIONS.intervals + 1)
    ]


def test_allocations_totals_and_use_match_the_truth(simulation: IngestedSimulation) -> None:
    rows = [row for row in simulation.rows("structure_usage") if row["source"] == "74-4 R744SREQ"]
    found: dict[tuple[str, str, str, str], set[tuple[int, ...]]] = defaultdict(set)
    requests: Counter[tuple[str, str]] = Counter()
    for row in rows:
        assert row["sysplex"] == "SIMPLEX"
        assert is_simulated(row["qsg"], row["file_name"])
        key = row["structure"], row["interval_end"], row["coupling_facility"], row["allocated_at"]
        columns = ("size_bytes", "entries_total", "elements_total", "entries_in_use", "elements_in_use")
        found[key].add(tuple(int(row[column]) for column in columns))
        requests[row["structure"], row["interval_end"]] += int(row["sync_requests"]) + int(
            row["async_requests"]
        )
    assert all(len(values) == 1 for values in found.values())  # all systems say the same
    expected: dict[tuple[str, str, str, str], set[tuple[int, ...]]] = {}
    outliers = rebuilding = 0
    for day in simulation.days.values():
        for one in day.structures:
            for at, interval in enumerate(ends_of(day)):
                now = one.allocations[at]
                old = simulation.timeline.in_rebuild(one.model.number, day.number * OPTIONS.intervals + at)
                outliers += one.size_bytes[at] != now.size_bytes
                rebuilding += old is not None
                for instance in (now, old):
                    if instance is None:
                        continue
                    key = (
                        one.model.name,
                        interval,
                        simulation.site.facilities[instance.facility].name,
                        instance.allocated_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                    )
                    size = int(one.size_bytes[at]) if instance is now else instance.size_bytes
                    expected[key] = {
                        (
                            size,
                            instance.entries_total,
                            instance.elements_total,
                            min(int(one.entries_end[at]), instance.entries_total),
                            min(int(one.elements_end[at]), instance.elements_total),
                        )
                    }
    assert found == expected
    assert outliers > 0
    assert rebuilding == 2  # there and back
    truth = json.loads((simulation.folder / "truth.json").read_text())
    assert outliers == len(truth["allocation_outliers"])
    assert 0 < SYNC_SHARE < 1
    assert min(requests.values()) > 0


def test_queues_and_their_messages_match_the_truth(simulation: IngestedSimulation) -> None:
    puts: Counter[tuple[str, str]] = Counter()
    depths: dict[tuple[str, str], int] = {}
    for row in simulation.rows("queue_usage"):
        key = row["queue"], row["interval_end"]
        puts[key] += int(row["puts"])
        assert depths.setdefault(key, int(row["depth_max"])) == int(row["depth_max"])
        day, _ = simulation.moment(row)
        one = next(one for one in day.structures if one.model.name == row["structure"])
        queue = next(queue.model for queue in one.queues if queue.model.name == row["queue"])
        assert int(row["put_size_max_bytes"]) == max(size for size, _ in queue.sizes)
        assert int(row["put_bytes"]) == pytest.approx(int(row["puts"]) * queue.mean_bytes, abs=1)
    expected = {
        (queue.model.name, interval): (int(queue.puts[at]), int(queue.depth_max[at]))
        for day in simulation.days.values()
        for one in day.structures
        for queue in one.queues
        if set(queue.model.managers) & set(day.managers_up)
        for at, interval in enumerate(ends_of(day))
    }
    assert {key: (count, depths[key]) for key, count in puts.items()} == expected


def test_data_sets_match_the_truth(simulation: IngestedSimulation) -> None:
    found = {
        (row["structure"], row["interval_end"], row["queue_manager"]): int(row["blocks_in_use_max"])
        for row in simulation.rows("smds_usage")
    }
    expected = {
        (one.model.name, interval, simulation.site.managers[manager].name): int(one.blocks[at])
        for day in simulation.days.values()
        for one in day.structures
        if one.model.offload
        for manager in day.managers_up
        for at, interval in enumerate(ends_of(day))
    }
    assert found == expected


def test_daily_figures_match_the_truth(simulation: IngestedSimulation) -> None:
    """An interval that ends at midnight belongs to the day before in both."""
    truth = json.loads((simulation.folder / "truth.json").read_text())
    names = ("entries_peak", "elements_peak", "entries_total", "elements_total", "full_count")
    found = {
        (line["structure"], line["day"]): [
            *(line[name] for name in names),
            max((one["blocks_peak"] for one in line["smds"] or ()), default=None),
        ]
        for line in plain_night(str(simulation.data / "history"))["daily"]
    }
    expected = {
        (structure["structure"], day): list(values)
        for structure in truth["structures"]
        for day, *values in zip(
            *(structure["daily"][name] for name in ("day", *names, "smds_blocks_peak")), strict=True
        )
    }
    assert found == expected
    assert truth["outage_days"] == ["2026-01-16", "2026-01-17"]
    days = {day for _, day in found}
    assert not days & set(truth["outage_days"])
    assert (min(days), max(days), len(days)) == ("2026-01-05", "2026-01-24", 18)


def test_storm_offloads_messages_and_true_costs_explain_every_allocation(
    simulation: IngestedSimulation,
) -> None:
    truth = json.loads((simulation.folder / "truth.json").read_text())
    storm = next(one for one in truth["rises"] if one["kind"] == "offload_storm")
    daily = next(one for one in truth["structures"] if one["structure"] == storm["structure"])["daily"]
    blocks = dict(zip(daily["day"], daily["smds_blocks_peak"], strict=True))
    at = blocks.pop(storm["first_interval_end"][:10])
    assert at > 3 * max(blocks.values())
    facilities = {one["name"]: one for one in truth["coupling_facilities"]}
    for structure in truth["structures"]:
        for one in structure["allocations"]:
            costs = facilities[one["coupling_facility"]]
            size = (
                costs["base_bytes"]
                + one["entries_total"] * costs["entry_bytes"]
                + one["elements_total"] * costs["element_bytes"]
            )
            assert abs(size - one["size_bytes"]) < 5 * truth["allocation_noise_bytes"] + 5_000


def test_crossing_is_the_first_day_at_or_above_the_level(simulation: IngestedSimulation) -> None:
    truth = json.loads((simulation.folder / "truth.json").read_text())
    crossed = 0
    for structure in truth["structures"]:
        for one in structure["crossings"]:
            if one["measure"] == "usage" or one["days_after"] is None:
                continue
            later = structure["expected"][one["measure"]][OPTIONS.days :]
            level = one["percent"] / 100 * structure["allocations"][-1][f"{one['measure']}_total"]
            assert later[one["days_after"] - 1] >= level - 1
            assert all(value < level + 1 for value in later[: one["days_after"] - 1])
            crossed += 1
    assert crossed > 0


def test_ingesting_the_folder_again_changes_nothing(simulation: IngestedSimulation) -> None:
    again = [str(simulation.folder / name) for name in ("simulated-2026-01-05.smf", "truth.json")]
    code, text = cfplan("ingest", *again, data=simulation.data)
    assert code == 0
    assert [file["status"] for file in json.loads(text)["files"]] == ["already_stored", "not_usage"]
