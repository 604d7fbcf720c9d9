"""The job as the application starts it: its input, its output lines, and its results."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner_core.contracts.files import parsed
from planner_core.contracts.fits import CurveFit, Estimate
from planner_core.contracts.nightly import NightlyFacts, PlannedOffloadRule
from spark_jobs.fit import AllocationPoint
from spark_jobs.forecast import DailyPeaks
from spark_jobs.history.store import History
from spark_jobs.night import __main__ as job
from spark_jobs.night import run
from spark_jobs.night.collect import Policy, Series
from spark_jobs.night.facts import FactsError, by_structure, read_facts
from spark_jobs.night.forecasts import FEWEST_FOR_PROCESSES, Task, forecast_all
from spark_jobs.night.groups import NONE
from spark_jobs.night.levels import Limits, base_of, data_set_levels, limits_of, resizes, structure_levels
from spark_jobs.night.progress import Progress, Watch
from tests.spark_jobs.night import plainly
from tests.spark_jobs.night.nights import NoSession, plain_night
from tests.spark_jobs.night.support import MIB, history_at_once, make_history, older_release

ROOT = Path(__file__).parents[3]
PROTOCOL = ROOT / "docs/contributing/night-protocol.md"
PLAN: dict[str, Any] = {
    "plan": "SQ03", "version": 4, "qsg": "SQ03", "structure": "APP1", "full_threshold": 80,
    "offload_rules": [{"usage_over_pct": 70, "size_over_bytes": 32768}, {"usage_over_pct": 90, "size_over_bytes": 0}],
    "initsize_bytes": 500 * MIB, "size_bytes": 750 * MIB, "need_bytes": 300 * MIB, "entries": 1, "elements": 6, "ratio": [1, 6],
}  # fmt: skip
PAST = {
    "qsg": "SQ03", "structure": "APP1", "measure": "entries", "state": "flat", "made_on": "2026-11-01", "horizon_days": 30,
}  # fmt: skip


# ---- the command -----------------------------------------------------------------------------------------------------


def called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, list[dict[str, Any]]]:
    """Run the job without Spark, and return its exit code and its lines."""
    session: Any = NoSession()
    monkeypatch.setattr(run, "reduce_days", plainly.reduce_days)
    monkeypatch.setattr(job, "build_session", lambda *_, **__: session)
    code = job.main(list(arguments))
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_job_writes_results_and_prints_their_path_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with older_release():
        history = make_history(tmp_path / "history", range(2))
    facts, out = tmp_path / "facts.json", tmp_path / "result.json"
    facts.write_text(json.dumps({"horizon_days": 90}))
    code, lines = called(
        monkeypatch, capsys, "--history", history.url, "--facts", str(facts), "--out", str(out), "--progress", "--horizon", "30",
        "--in-process-below", "0",
    )  # fmt: skip
    assert code == 0
    assert lines[-1] == {"event": "result", "path": str(out)}
    result = json.loads(out.read_bytes())
    assert {one["horizon_days"] for one in result["forecasts"]} == {30}
    stages = list(dict.fromkeys(line["stage"] for line in lines[:-1]))
    assert stages == [
        "looking",
        "reducing",
        "starting",
        "collecting",
        "fitting",
        "forecasting",
        "scoring",
        "writing",
    ]
    assert result["seconds"].keys() == set(stages) - {"writing"}
    assert all(set(line) == {"event", "stage", "done", "total", "sentence"} for line in lines[:-1])
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_protocol_page_names_every_result_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PROTOCOL.read_text(encoding="utf-8")
    history = make_history(tmp_path / "history", range(1))
    result = plain_night(history.url)
    for part in (result, result["daily"][0], result["forecasts"][0]["levels"][0]):
        assert [key for key in part if f"`{key}`" not in page and f'"{key}"' not in page] == []
    added = {"total", "levels", "is_simulated"}
    assert added <= result["forecasts"][0].keys()


def test_missing_history_gives_empty_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts, out = tmp_path / "facts.json", tmp_path / "result.json"
    facts.write_text("{}")
    arguments = ("--history", str(tmp_path / "none"), "--facts", str(facts), "--out", str(out))
    assert called(monkeypatch, capsys, *arguments) == (0, [{"event": "result", "path": str(out)}])
    assert json.loads(out.read_bytes())["days_total"] == 0


@pytest.mark.parametrize(
    "text", [None, "no JSON", "[]", '{"plans": [{"plan": "X"}]}', '{"today": "tomorrow"}']
)
def test_invalid_facts_end_the_job_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    facts = tmp_path / "facts.json"
    if text is not None:
        facts.write_text(text)
    arguments = ("--history", str(tmp_path), "--facts", str(facts), "--out", str(tmp_path / "result.json"))
    code, lines = called(monkeypatch, capsys, *arguments)
    assert (code, lines[-1]["event"]) == (1, "error")
    assert lines[-1]["sentence"].startswith("The facts of the nightly run")
    assert not (tmp_path / "result.json").exists()


def test_unexpected_error_prints_a_message_and_keeps_old_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    history = make_history(tmp_path / "history", range(1))
    facts, out = tmp_path / "facts.json", tmp_path / "result.json"
    facts.write_text("{}")
    out.write_text("before")
    arguments = ("--history", history.url, "--facts", str(facts), "--out", str(out))

    def fail(points: Sequence[AllocationPoint]) -> None:
        raise ZeroDivisionError("by nought\nand more")

    monkeypatch.setattr(run, "fit_all", fail)
    code, lines = called(monkeypatch, capsys, *arguments)
    assert (code, lines[-1]["sentence"]) == (1, "The nightly run failed: ZeroDivisionError: by nought")
    monkeypatch.undo()
    (tmp_path / "history" / "_delta_log" / "00000000000000000000.json").write_text("damaged")
    code, lines = called(monkeypatch, capsys, *arguments)
    assert code == 1
    assert "usage history" in lines[-1]["sentence"]
    assert out.read_text() == "before"


def test_job_does_not_import_the_application() -> None:
    command = "import sys; from spark_jobs.night.__main__ import main; assert not [m for m in sys.modules if m.split('.')[0] in ('app', 'sqlalchemy')]; main(['--help'])"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for option in (
        "--history",
        "--facts",
        "--out",
        "--master",
        "--republish",
        "--progress",
        "--work-dir",
        "--horizon",
    ):
        assert option in done.stdout
        assert option in PROTOCOL.read_text(encoding="utf-8")


def test_small_history_uses_spark_settings_for_small_data() -> None:
    assert "-XX:TieredStopAtLevel=1" in job.conf_for(1000)["spark.driver.extraJavaOptions"]
    assert "spark.driver.extraJavaOptions" not in job.conf_for(20_000_000)


def facts_of(found: Mapping[str, Any]) -> NightlyFacts:
    return parsed(NightlyFacts, found)


# ---- facts -----------------------------------------------------------------------------------------------------------


def test_facts_have_defaults(tmp_path: Path) -> None:
    assert facts_of({}) == NightlyFacts()
    with pytest.raises(FactsError, match="cannot be read"):
        read_facts(tmp_path / "none")


def test_facts_are_read(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    other = PLAN | {"plan": "OTHER", "offload_rules": []}
    path.write_text(
        json.dumps(
            {
                "today": "2026-11-21", "lead_time_days": 30, "cfcc_levels": {"CF01": 25}, "plans": [PLAN, other],
                "past_forecasts": [{"id": 3, "json": PAST}], "published": {"2026-11-20": "x"},
            }
        )
    )  # fmt: skip
    facts = read_facts(path)
    assert (str(facts.today), facts.lead_time_days, facts.cfcc_levels) == ("2026-11-21", 30, {"CF01": 25})
    first, second = by_structure(facts.plans)["SQ03", "APP1"]
    assert (first.offload_rules, second.offload_rules) == (
        (PlannedOffloadRule(70, 32768), PlannedOffloadRule(90, 0)),
        (),
    )
    assert [(one.id, one.json.structure) for one in facts.past_forecasts] == [(3, "APP1")]
    assert facts.published == {"2026-11-20": "x"}


# ---- levels ----------------------------------------------------------------------------------------------------------


def series(**values: int | None) -> Series:
    columns = (
        "entries_peak",
        "elements_peak",
        "entries_total",
        "elements_total",
        "size_bytes",
        "size_max_bytes",
        "full_count",
    )
    told = {"size_bytes": 512 * MIB, "entries_total": 200_000, "elements_total": 1_200_000, **values}
    arrays = {name: np.array([NONE if told.get(name) is None else told[name]]) for name in columns}
    yes = np.array([True])
    return Series(
        "SQ03", "APP1", np.array([1]), **arrays, is_whole=yes, is_simulated=~yes, coupling_facility="CF01"
    )


def level_values(limits: Limits, total: int | None = 200_000) -> list[tuple[str, float | None]]:
    return [(one.level.name, one.level.value) for one in structure_levels(total, limits)]


def test_levels_follow_the_policy_and_size_is_scaled_without_the_base() -> None:
    policy = Policy(size_bytes=1002 * MIB, full_threshold_pct=85, offload_rules="70:32768 80:4096 90:0")
    limits = limits_of(series(), policy, None, base_bytes=22 * MIB)
    assert level_values(limits) == [
        ("offload at 70 %", 140_000), ("offload at 80 %", 160_000), ("FULLTHRESHOLD 85 %", 170_000),
        ("offload at 90 %", 180_000), ("the current size", 200_000), ("SIZE", 400_000),
    ]  # fmt: skip
    assert [one.factor for one in resizes(limits)] == [1.2612, 1.5224, 2.0449]


def test_plan_supplies_levels_missing_in_the_policy() -> None:
    (plan,) = facts_of({"plans": [PLAN]}).plans
    limits = limits_of(series(), Policy(), plan, base_bytes=22 * MIB)
    assert (limits.size_at_most_bytes, limits.full_threshold_pct, limits.offload_pct) == (
        750 * MIB,
        80,
        (70, 90),
    )
    assert limits_of(series(), Policy(full_threshold_pct=0), plan, base_bytes=0).full_threshold_pct == 0
    assert "FULLTHRESHOLD" not in str(
        level_values(limits_of(series(), Policy(full_threshold_pct=0), None, base_bytes=0))
    )


def test_structure_that_cannot_grow_has_size_as_its_only_level() -> None:
    assert level_values(limits_of(series(), Policy(size_bytes=512 * MIB), None, base_bytes=22 * MIB)) == [
        ("SIZE", 200_000)
    ]
    assert level_values(limits_of(series(size_bytes=None), Policy(), None, base_bytes=0), None) == [
        ("SIZE", None)
    ]
    assert [one.level.value for one in data_set_levels(None)] == [None]


def test_published_base_is_used_without_a_fitted_one() -> None:
    fitted, rejected = (
        CurveFit(state=state, coupling_facility="CF01", base_bytes=Estimate(value, value, value))
        for state, value in (("fitted", 5.0), ("rejected", -1.0))
    )
    assert base_of("CF01", {}, [rejected, fitted]) == 5.0
    assert base_of("CF02", {"CF02": 20}, [fitted]) == 14 * MIB
    assert base_of("CF02", {}, [fitted]) == base_of(None, {}, [fitted]) == 22 * MIB


# ---- forecasts and progress ------------------------------------------------------------------------------------------


def task(number: int) -> Task:
    days = np.arange(738_000, 738_000 + 5)
    peaks = DailyPeaks("SQ03", f"APP{number}", "entries", days, np.arange(5.0), "entries")
    return Task(peaks, tuple(data_set_levels(9)), (), 9, 738_004, 10, is_simulated=False)


def test_forecasts_in_several_processes_equal_those_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    tasks = [task(number) for number in range(FEWEST_FOR_PROCESSES)]
    counted: list[int] = []
    spread = forecast_all(tasks, told=counted.append)
    assert counted == list(range(1, len(tasks) + 1))
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert spread == forecast_all(tasks)
    assert [one.structure for one in spread] == [one.peaks.structure for one in tasks]


def test_past_forecasts_are_scored_with_later_peaks(tmp_path: Path) -> None:
    history = history_at_once(tmp_path / "history", range(50), structures=1, every=12)
    made = next(one for one in plain_night(history.url)["forecasts"] if one["measure"] == "entries")
    early = made | {"made_on": "2026-04-10"}
    gone = made | {"structure": "GONE"}
    facts = facts_of(
        {"past_forecasts": [{"id": 7, "json": early}, {"id": 8, "json": gone}], "today": "2026-04-15"}
    )
    found = plain_night(history.url, facts)
    (score,) = found["scores"]
    assert (score["forecast_id"], score["days_scored"], score["complete"]) == (7, 10, False)
    entries = next(one for one in found["forecasts"] if one["measure"] == "entries")
    assert (entries["made_on"], entries["last_day"]) == ("2026-04-14", "2026-04-14"), "today is not over"


def test_second_run_on_a_day_repeats_results_without_scores(tmp_path: Path) -> None:
    history = history_at_once(tmp_path / "history", range(50), structures=1, every=12)
    first = plain_night(history.url, facts_of({"today": "2026-04-21"}))
    made = [{"id": number, "json": one} for number, one in enumerate(first["forecasts"])]
    curves = [one | {"version": 1} for one in first["curves"] if one["state"] == "fitted"]
    facts = {"today": "2026-04-21", "past_forecasts": made, "current_curves": curves}
    second = plain_night(history.url, facts_of(facts))
    assert second["days_reduced"] == 0
    for part in ("curves", "mixes", "forecasts", "findings"):
        assert second[part] == first[part], part
    assert {one["days_scored"] for one in second["scores"]} == {0}


def test_progress_prints_only_changes() -> None:
    out = StringIO()
    progress = Progress(wanted=True, out=out)
    for done in (0, 0, 1, 2, 3, 3):
        progress.tell("reducing", done, 3, f"{done} of 3")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["done"] for line in lines] == [0, 3], "not so soon after one another, and the last one once"
    silent = StringIO()
    Progress(out=silent).tell("reducing", 1, 2, "")
    assert silent.getvalue() == ""


def test_watch_counts_tasks_during_and_after_stages() -> None:
    looked = threading.Event()
    stages: list[dict[int, tuple[int, int]]] = [{1: (2, 4)}, {2: (1, 3)}, {}]

    class Info:
        def __init__(self, done: int, total: int) -> None:
            self.numCompletedTasks, self.numTasks = done, total  # Spark's names

    class Job:
        def __init__(self, numbers: list[int], status: str) -> None:
            self.stageIds, self.status = numbers, status  # Spark's names

    class Tracker:
        now: Mapping[int, tuple[int, int]] = {}
        began = False

        def getJobIdsForGroup(self, group: str | None) -> list[int]:  # noqa: N802 - Spark's name
            assert group is None
            if not self.began:
                self.began = True
                return [0]  # a job of before
            self.now = stages.pop(0) if stages else {}
            if not stages:
                looked.set()
            return [0, 1]

        def getJobInfo(self, job: int) -> Job:  # noqa: N802 - Spark's name
            assert job == 1
            return Job(list(self.now), "RUNNING" if stages else "SUCCEEDED")

        def getStageInfo(self, number: int) -> Info:  # noqa: N802 - Spark's name
            return Info(*self.now[number])

    class Context:
        statusTracker: Callable[[], Tracker] = Tracker  # noqa: N815 - Spark's name

    class Session:
        sparkContext = Context()  # noqa: N815 - Spark's name

    out = StringIO()
    session: Any = Session()
    with Watch(session, Progress(wanted=True, out=out), "Reducing 1 of 2 days") as watch:
        watch.begin("structures")
        assert looked.wait(120)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines[0]["sentence"] == "Reducing 1 of 2 days: structures, 2 of 4 tasks"
    assert (lines[-1]["done"], lines[-1]["total"]) == (7, 7)


def test_damaged_history_is_reported_and_not_treated_as_empty(tmp_path: Path) -> None:
    History.open(str(tmp_path / "history"), create=True)
    for path in (tmp_path / "history" / "_delta_log").iterdir():
        path.unlink()
    with pytest.raises(Exception, match="usage history"):
        plain_night(str(tmp_path / "history"))
