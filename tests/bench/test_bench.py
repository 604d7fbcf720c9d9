from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.routing import Match

from app.accounts.rights import RIGHTS, key_of
from app.main import create_app
from app.settings import Settings
from app.sizing.examples import sq03
from bench import load, load_run, small_dumps, start
from bench.__main__ import _print_pages, main
from bench.largest import SMALL_QUEUES, SMALL_STRUCTURES
from bench.pages import CALCULATOR, PAGES, SCRAPED_PAGES, SITE_PAGES, Served
from bench.plans import largest
from bench.service import same_structures
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from tests.prepared import Started, commands

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PATIENCE_S = 600
"""Time for a benchmark on a busy machine."""


@pytest.fixture
def forked_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the compared servers, instead of importing the application in each."""

    def start(
        command: Sequence[str], *, pass_fds: Sequence[int], env: Mapping[str, str], cwd: Path
    ) -> Started:
        assert cwd == ROOT
        (descriptor,) = pass_fds
        *python, which, number = command
        assert (python, number) == ([sys.executable, "-m", "bench.serving"], str(descriptor))
        return commands().start_with((descriptor, 1, 2), "bench.serving", which, "0", environment=env)

    names = SimpleNamespace(Popen=start, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setattr("bench.service.subprocess", names)


def test_benchmarks_print_both_figures_of_each_ratio(
    forked_servers: None, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = ("--only", "service", "--only", "core", "--only", "stored")
    main([*parts, "--rounds", "1", "--requests", "8", "--structures", "2", "--queues", "3"])
    printed = capsys.readouterr().out
    for name in ("planner", "bare-def", "bare-async", "validate the parsed document", "evaluate it"):
        assert re.search(rf"^{name} +[\d.]+", printed, re.MULTILINE), printed
    for aim in ("read it: strict JSON and validation", "evaluate it"):
        assert re.search(rf"^{aim}( +[\d.]+){{4}}$", printed, re.MULTILINE), printed
    assert re.search(r"^aim( +[\d.]+){2}\nratio to aim( +[\d.]+){2}$", printed, re.MULTILINE), printed
    assert len(re.findall(r"^aim for bare-def +[\d.]+\nof aim +[\d.]+$", printed, re.MULTILINE)) == 2
    assert len(re.findall(r"^planner +[\d. ]+\nbare-store +[\d. ]+$", printed, re.MULTILINE)) == 2


def test_pages_are_compared_with_endpoints_that_return_the_same_bytes() -> None:
    # In its own process, because it exempts all loaded modules from garbage collection.
    command = [sys.executable, "-m", "bench", "--only", "pages", "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    for name in (*PAGES, *SITE_PAGES, *SCRAPED_PAGES):
        (found,) = re.findall(rf"^{re.escape(name)}((?: +[\d.]+)+)$", printed, re.MULTILINE)
        first, median, bare, ratio, plain, sent = map(float, found.split())
        assert min(first, median, bare, ratio) > 0
        assert 0 < sent < plain
    assert re.search(r"^aim for the calculator +15\.0 +40\.0\nof aim +[\d.]+ +[\d.]+$", printed, re.MULTILINE)


def test_aim_for_the_calculator_is_compared_with_its_size_before_compression(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _print_pages({CALCULATOR: Served(90.0, 30.0, 3.0, plain_bytes=60_000, sent_bytes=20_000)})
    table = capsys.readouterr().out.splitlines()[1:]
    head, page, aim, of_aim = (row.rstrip() for row in table if row)
    column = head.index(" KB ") + len(" KB")
    assert [row[:column].split()[-1] for row in (page, aim, of_aim)] == ["60.0", "40.0", "1.50"]
    assert (page[column:].split(), aim[column:], of_aim[column:]) == (["20.0"], "", "")


def test_load_of_many_users_is_compared_with_two_users(
    forked_servers: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.load.addresses", lambda: iter(["/calculator?messages=NUMBER", "/plans/NONE"]))
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
    monkeypatch.setattr("bench.load.addresses", lambda: iter(["/calculator?messages=NUMBER", "/plans/NONE"]))
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


def test_start_of_commands_is_compared_with_python(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start, "WARM_UPS", 0)  # the test does not depend on the times
    main(["--only", "start", "--rounds", "1", "--small-dumps", "2"])
    printed = capsys.readouterr().out
    for name in (small_dumps.BY_COMMAND, small_dumps.BY_QUEUE):
        assert re.search(rf"^{re.escape(name)}( +[\d.]+){{5}}$", printed, re.MULTILINE), printed
    for name in start.COMMANDS:
        assert re.search(rf"^{re.escape(name)} +[\d.]+ +[\d.]+ +[\d.]+$", printed, re.MULTILINE), printed
    assert re.search(r"^service, of its libraries +[\d.]+$", printed, re.MULTILINE), printed


def test_documents_with_the_same_structures_do_not_get_a_kept_answer() -> None:
    first, second = (evaluate(read_object(each)) for each in islice(same_structures(sq03()), 2))
    assert all(one is other for one, other in zip(first.structures, second.structures, strict=True))
    assert first is not second
    assert first.json_bytes() != second.json_bytes()


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


WITHOUT_A_PLAN = re.compile(
    r"""
    [A-Z]+\ (/api/v1)?/(account|sign-|usage|uploads|upload-files|new-upload|qsg-map|jobs|curves|cf-levels|forecasts
        |nightly-runs|night|nights|simulated-data|users|audit|reference|docs|try|sizing-points|collection-kit|missing-data
        |other-structures|connections|policy-drifts|dds-pollers|notices|import)\b.*
    | [A-Z]+\ /(api/docs|api/try|openapi.json|metrics|healthz|readyz|static|assets|style|calculator|quick|what-runs).*
    | GET\ /api/v1/schema | POST\ /api/v1/lint | POST\ /lint
    | [A-Z]+\ (/api/v1)?/(cluster/(decide|explain)|events/(simulate|read)|plan-from-running)
    | MOUNT\ .*
    """,
    re.VERBOSE,
)
"""Routes that neither take nor show a plan: people and machines, measurements, pasted texts, published figures."""
OF_A_SAVED_PLAN = re.compile(
    r"""
    [A-Z]+\ (/api/v1)?/plans/{name}.*/(approval|approve|withdraw-approval|acknowledge|withdraw|restore|rename|delete|take-over)
    | DELETE\ .*
    | (PUT|POST)\ (/api/v1)?/plans/{name}/scenarios/.* | POST\ /(new-plan|import-plans) | GET\ /import-plans
    """,
    re.VERBOSE,
)
"""Routes that change stored data, and their forms. They have no aim for CPU time; one of each kind is measured."""


def test_every_route_about_a_plan_is_measured_with_the_largest_plan() -> None:
    # In its own process, because it exempts all loaded modules from garbage collection.
    # There is no warm-up for a plan of this size, whose requests would be the same.
    size = ("--structures", str(SMALL_STRUCTURES), "--queues", str(SMALL_QUEUES))
    done = commands().run("bench.__main__", "--only", "largest", *size, environment=os.environ)
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"^ +[\d.]+ +(?:[\d.]+ +)?[\d.]+  (.+)$", done.stdout, re.MULTILINE)
    assert [line for line in lines if "refused" in line] == []
    assert re.search(rf"^\d+ of {len(lines)} requests take more than 2 s$", done.stdout, re.MULTILINE)
    app = create_app(Settings())
    measured = {key for line in lines for key in _route_of(app, line.removeprefix("save: "))}
    expected = {
        key for key in RIGHTS if not WITHOUT_A_PLAN.fullmatch(key) and not OF_A_SAVED_PLAN.fullmatch(key)
    }
    assert expected - measured == set()


def _route_of(app: FastAPI, label: str) -> list[str]:
    """Return the keys of the route of a request in the benchmark, such as `POST /plans/NAME/edit: check`."""
    method, path = re.split(r"[?:]", label)[0].split(" ")
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    return next(
        [key for key in key_of(route) if key.startswith(f"{method} ")]
        for route in app.routes
        if route.matches(scope)[0] == Match.FULL
    )
