from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import load, load_run, small_dumps, start
from bench.__main__ import main
from bench.pages import PAGES, SITE_PAGES
from bench.plans import largest
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PATIENCE_S = 600
"""Time for a benchmark on a busy machine."""


def test_benchmarks_print_both_figures_of_each_ratio() -> None:
    command = [
        sys.executable,
        "-m",
        "bench",
        "--only",
        "service",
        "--only",
        "core",
        "--only",
        "stored",
        "--rounds",
        "1",
        "--requests",
        "8",
        "--structures",
        "2",
        "--queues",
        "3",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("planner", "bare-def", "bare-async", "validate the parsed document", "evaluate it"):
        assert re.search(rf"^{name} +[\d.]+", done.stdout, re.MULTILINE), done.stdout
    for aim in ("read it: strict JSON and validation", "evaluate it"):
        assert re.search(rf"^{aim}( +[\d.]+){{4}}$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^aim( +[\d.]+){2}\nratio to aim( +[\d.]+){2}$", done.stdout, re.MULTILINE), done.stdout
    assert len(re.findall(r"^aim for bare-def +[\d.]+\nof aim +[\d.]+$", done.stdout, re.MULTILINE)) == 2
    assert len(re.findall(r"^planner +[\d. ]+\nbare-store +[\d. ]+$", done.stdout, re.MULTILINE)) == 2


def test_pages_are_compared_with_endpoints_that_return_the_same_bytes() -> None:
    # In its own process, because it exempts all loaded modules from garbage collection.
    command = [sys.executable, "-m", "bench", "--only", "pages", "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    for name in (*PAGES, *SITE_PAGES):
        (found,) = re.findall(rf"^{re.escape(name)}((?: +[\d.]+)+)$", printed, re.MULTILINE)
        first, median, bare, ratio, plain, sent = map(float, found.split())
        assert min(first, median, bare, ratio) > 0
        assert 0 < sent < plain
    assert re.search(r"^aim for the calculator +15\.0 +40\.0\nof aim +[\d.]+ +[\d.]+$", printed, re.MULTILINE)


def test_load_of_many_users_is_compared_with_two_users(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.load._pages", lambda: iter(["/calculator?messages=NUMBER", "/plans/NONE"]))
    monkeypatch.setattr("bench.load.STRUCTURES", 1)
    monkeypatch.setattr("bench.load.PAUSE_S", (0.1, 0.3))
    main(["--only", "load", "--load-planners", "4", "--load-scripts", "2", "--load-seconds", "2"])
    printed = capsys.readouterr().out
    for kind in (load.PAGE, load.SIZING):
        (found,) = re.findall(rf"^{kind}((?: +[\d.]+)+)$", printed, re.MULTILINE)
        answers, p50, p99, *others = map(float, found.split())
        assert answers > 0
        assert 0 < p50 <= p99
        assert len(others) == 5
    assert re.search(r"^  [\d.]+ [\d.]+ /plans/NONE$", printed, re.MULTILINE), printed
    assert re.search(r" [1-9]\d* errors\n  /plans/NONE: status 404$", printed, re.MULTILINE), printed


def test_service_is_loaded_while_it_reads_uploads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.load._pages", lambda: iter(["/calculator?messages=NUMBER", "/plans/NONE"]))
    monkeypatch.setattr("bench.load.STRUCTURES", 1)
    monkeypatch.setattr("bench.load.PAUSE_S", (0.1, 0.3))
    asked = [
        "--planners",
        "4",
        "--scripts",
        "2",
        "--seconds",
        "2",
        "--dumps",
        "1",
        "--workers",
        "2",
        "--no-night",
    ]
    assert load_run.main(asked) == 1  # because of the missing page
    printed = capsys.readouterr().out
    for kind in (load.PAGE, load.SIZING):
        (found,) = re.findall(rf"^{kind}((?: +[\d.]+)+)$", printed, re.MULTILINE)
        answers, p50, p90, p99, longest, _ = map(float, found.split())
        assert answers > 0
        assert 0 < p50 <= p90 <= p99 <= longest
    assert re.search(r"^memory: 0 s [1-9]\d* MB", printed, re.MULTILINE), printed
    assert re.search(r"^uploads: 1 of 1 read after \d+ s$", printed, re.MULTILINE), printed
    assert re.search(r"^[1-9]\d* errors, aim 0\n  /plans/NONE: status 404$", printed, re.MULTILINE), printed
    assert printed.endswith("not all aims are met\n")


def test_start_of_commands_is_compared_with_python(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", "start", "--rounds", "1", "--small-dumps", "2"])
    printed = capsys.readouterr().out
    for name in (small_dumps.BY_COMMAND, small_dumps.BY_QUEUE):
        assert re.search(rf"^{re.escape(name)}( +[\d.]+){{5}}$", printed, re.MULTILINE), printed
    for name in start.COMMANDS:
        assert re.search(rf"^{re.escape(name)} +[\d.]+ +[\d.]+ +[\d.]+$", printed, re.MULTILINE), printed
    assert re.search(r"^service, of its libraries +[\d.]+$", printed, re.MULTILINE), printed


def test_servers_are_stopped_if_a_measurement_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def watched(*arguments: object, **keywords: object) -> subprocess.Popen[bytes]:
        ended.append(start(*arguments, **keywords))  # type: ignore[call-overload]
        return ended[-1]

    monkeypatch.setattr("bench.service.subprocess.Popen", watched)
    monkeypatch.setattr("bench.service.SERVERS", ("bare-def", "bare-async"))  # these start fastest
    monkeypatch.setattr("bench.__main__.sq03", lambda: {"qsg": "no plan"})
    with pytest.raises(RuntimeError, match="422"):
        main(["--only", "service", "--rounds", "1", "--requests", "4"])
    assert ended
    assert all(process.poll() is not None for process in ended)


def test_large_benchmark_plan_is_valid() -> None:
    result = evaluate(read_object(largest()))
    assert [finding for finding in result.findings if finding.severity == "error"] == []
    assert len(result.structures) == 64


def test_every_request_about_the_largest_plan_is_listed_with_its_ratio_to_the_aim() -> None:
    # In its own process, because it exempts all loaded modules from garbage collection.
    command = [sys.executable, "-m", "bench", "--only", "largest", "--structures", "2", "--queues", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"^ +[\d.]+ +(?:[\d.]+ +)?[\d.]+  (.+)$", done.stdout, re.MULTILINE)
    for name in (
        "save: PUT a new plan",
        "POST the editor: check",
        "GET /plans/LARGEST/edit",
        "POST /api/v1/size",
    ):
        assert name in lines, done.stdout
    assert re.search(rf"^\d+ of {len(lines)} requests take more than 2 s$", done.stdout, re.MULTILINE)
