from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from bench.service import requests_of_a_round
from bench.versions import checkout, probes, requests, rounds
from bench.versions.__main__ import main
from bench.versions.checkout import NotMeasured, Version
from bench.versions.rounds import AFTER, BEFORE, Measured
from bench.versions.table import Line, lines, print_lines
from tests.prepared import Started, commands

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
ITSELF = Version(BEFORE, ROOT, sys.executable)


@pytest.fixture
def forked_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork servers and measurements, instead of importing the application in each."""
    nothing = os.open(os.devnull, os.O_RDONLY)

    def start(
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        pass_fds: Sequence[int] = (),
        stdout: IO[bytes] | None = None,
        stderr: IO[bytes] | None = None,
        **_: object,
    ) -> Started:
        assert cwd == ROOT
        _python, option, what, *arguments = command
        module = {checkout.MAIN[1]: "app.cli", "bench.serving": what}.get(what, "bench.versions.probes")
        assert option == ("-m" if module == "bench.serving" else "-c")
        out = stdout.fileno() if stdout else 1
        err = stderr.fileno() if stderr else 2
        if pass_fds:
            arguments[-1] = "0"
        files = (pass_fds[0] if pass_fds else nothing, out, err)
        return commands().start_with(files, module, *arguments, environment=env)

    names = SimpleNamespace(Popen=start, **{
        name: getattr(subprocess, name) for name in ("DEVNULL", "TimeoutExpired", "run")
    })  # fmt: skip
    monkeypatch.setattr("bench.versions.checkout.subprocess", names)
    monkeypatch.setattr("bench.service.subprocess", names)


def _table(printed: str) -> dict[str, list[float]]:
    """Return the figures of each line that both versions have: before, after, ratio, and perhaps aim and ratio to it."""
    found = re.findall(r"^(\S.*?) {2,}([\d.,]+ +[\d.,]+ +[\d. ]+)$", printed, re.MULTILINE)
    return {name: [float(figure.replace(",", "")) for figure in figures.split()] for name, figures in found}


def test_version_compared_with_itself_prints_both_figures_of_each_line(
    forked_processes: None, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = ("--only", "pages", "--only", "sizing", "--only", "largest")
    main(
        [
            "--before",
            str(ROOT),
            *parts,
            "--rounds",
            "1",
            # So many that they take several ticks of the clock of CPU time, which has 10 ms.
            "--requests",
            "200",
            "--structures",
            "1",
            "--queues",
            "2",
        ]
    )
    printed = capsys.readouterr().out
    table = _table(printed)
    for name in (
        "calculator, CPU ms",
        "sizing, the same structures in each, of bare-def",
        "largest plan: save, s",
    ):
        before, after, ratio, aim, of_aim = table[name]
        assert before > 0
        assert ratio == pytest.approx(after / before, rel=0.05)
        assert of_aim == pytest.approx(after / aim, rel=0.05, abs=0.001)
    assert len(table) == len(
        re.findall(r"^(?:calculator|list|openapi|sizing|largest).*", printed, re.MULTILINE)
    )


def test_dumps_and_load_of_a_version_compared_with_itself(
    forked_processes: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.load.addresses", lambda: iter(["/calculator?messages=NUMBER", "/plans/NONE"]))
    monkeypatch.setattr("bench.load.STRUCTURES", 1)
    monkeypatch.setattr("bench.load.PAUSE_S", (0.1, 0.3))
    parts = (
        "--only",
        "ingest",
        "--small-dumps",
        "2",
        "--queued-dumps",
        "1",
        "--dump-mb",
        "0.1",
        "--only",
        "load",
    )
    main(
        ["--before", str(ROOT), *parts, "--load-planners", "2", "--load-scripts", "1", "--load-seconds", "1"]
    )
    printed, reported = capsys.readouterr()
    table = _table(printed)
    for name in (
        "2 small dumps: cfplan ingest of a list, s",
        "1 small dumps: uploads in the queue, s",
        "load: pages, p99, s",
        "load: sizing requests, p50, s",
    ):
        assert min(table[name][:2]) > 0
    assert "load: before has no /plans/NONE" in reported
    assert re.search(r"load, before: 0 errors of [1-9]", reported)


class Nights:
    """Stands in for nightly runs of two versions: the first one has no DuckDB."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, str, int]] = []

    def probe(self, version: Version, name: str, _: Path, **arguments: Any) -> Any:  # noqa: ANN401 - a result
        if name == "night_size":
            return {"days": 10, "hours": 24, "times_as_long": 10}
        url = Path(arguments["url"])
        if name == "history":
            url.mkdir(exist_ok=True)
            return 1
        if name == "reductions":
            if version.name == BEFORE:
                message = "No module named 'duckdb'"
                raise NotMeasured(message)
            return {"own_s": 3.0, "duckdb_s": 2.0}
        known = len(arguments["published"])
        self.runs.append((version.name, url.name, known))
        return {
            "days": 9,
            "forecasts": 5,
            "seconds": (1.0, 2.0, 8.0)[int(url.name)],
            "published": {"day": "x"},
        }


def test_nightly_runs_add_a_day_to_reduced_histories(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nights = Nights()
    monkeypatch.setattr(
        Version, "probe", lambda version, *names, **arguments: nights.probe(version, *names, **arguments)
    )
    main(["--before", str(ROOT), "--only", "night", "--night-rows", "10000", "--night-structures", "5"])
    assert nights.runs == [(AFTER, str(history), known) for known in (0, 1) for history in range(3)]
    printed = capsys.readouterr().out
    ratio = r"^nightly run, long of short history +- +4\.000 +- +1\.200 +3\.333$"
    assert re.search(ratio, printed, re.MULTILINE), printed
    assert re.search(r"^first reduction of .*, of DuckDB +- +1\.500 ", printed, re.MULTILINE), printed
    assert printed.count("before: NotMeasured: No module named 'duckdb'") == 5


def test_folder_without_the_packages_of_a_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    with pytest.raises(SystemExit, match="is not a checkout of cfplan with its packages"):
        main(["--before", str(tmp_path)])


def test_version_that_fails_is_left_out_of_later_rounds() -> None:
    calls: list[str] = []

    def fail() -> dict[str, float]:
        calls.append(BEFORE)
        message = "no such command"
        raise NotMeasured(message)

    def measure() -> dict[str, float]:
        calls.append(AFTER)
        return {"warm": 1.0 * len(calls)}

    found = rounds.alternate("part", {BEFORE: fail, AFTER: measure}, 2, warm_ups=1)
    assert calls == [BEFORE, AFTER, AFTER, AFTER]
    assert lines(found, {"warm": 7.0, "other": None}) == [
        Line("warm", None, 3.5, 7.0, "before: NotMeasured: no such command"),
        Line("other", None, None, None, "before: NotMeasured: no such command; after: not in this version"),
    ]


def test_version_that_could_not_be_prepared_is_not_measured() -> None:
    found = rounds.alternate(
        "part",
        {BEFORE: dict, AFTER: dict},
        1,
        prepared={BEFORE: Measured(reason="no server"), AFTER: Measured()},
    )
    assert found == {BEFORE: Measured(reason="no server"), AFTER: Measured([{}])}


@pytest.mark.parametrize(("wanted", "sent"), [(1, 4), (4, 4), (402, 400)])
def test_figures_count_the_requests_that_a_round_sends(wanted: int, sent: int) -> None:
    assert requests_of_a_round(wanted) == sent


def test_missing_figures_are_printed_as_a_dash_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines([Line("new", None, 2.0, 4.0, "before: no such page"), Line("both", 1500.0, 150.0, None)])
    assert capsys.readouterr().out == (
        "        before     after   ratio     aim  of aim\n"
        "new          -     2.000       -   4.000   0.500\n"
        "both     1,500     150.0   0.100                \n"
        "\n- new: before: no such page\n"
    )


def test_medians_ignore_lines_that_a_round_does_not_have() -> None:
    assert Measured([{"one": 1.0}, {"one": 3.0, "other": 5.0}]).median("other") == 5.0


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/calculator?messages=1", ["/calculator?messages=1", "/?messages=1"]),
        ("/plans/PAYMENTS", ["/plans/PAYMENTS"]),
    ],
)
def test_addresses_of_older_versions_are_tried_after_the_current_one(
    address: str, expected: list[str]
) -> None:
    assert requests.candidates(address) == expected


def test_settings_of_the_caller_do_not_reach_the_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CFPLAN_DATABASE_URL", "postgresql://other")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    environment = ITSELF.environment(tmp_path)
    assert "PYTHONPATH" not in environment
    assert {name: value for name, value in environment.items() if name.startswith("CFPLAN_")} == {
        "CFPLAN_DATA_DIR": str(tmp_path),
        "CFPLAN_NIGHT_HOUR": "off",
    }


def test_last_line_of_an_error_is_the_reason(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match=r"^ModuleNotFoundError: No module named 'absent'$"):
        ITSELF.run("-c", "import absent", data_dir=tmp_path)


def test_temporary_files_of_a_killed_command_are_in_the_folder_of_the_run(tmp_path: Path) -> None:
    version = replace(ITSELF, temporary=tmp_path)
    program = "import os, tempfile; tempfile.mkdtemp(); os._exit(1)"
    with pytest.raises(NotMeasured, match="exit code 1"):
        version.run("-c", program, data_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


LEAVES_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
if sys.argv[1] == "waits":
    time.sleep(600)
"""


@pytest.mark.parametrize("ends", ["at once", "waits"])
def test_processes_that_a_command_leaves_are_stopped(
    ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "LONGEST_S", 2.0)
    file = tmp_path / "pid"
    program = LEAVES_A_CHILD.replace("print(", f"print(file=open({str(file)!r}, 'w'), *(", 1).replace(
        ", flush=True)", ",), flush=True)"
    )
    if ends == "waits":
        with pytest.raises(NotMeasured, match="still running after 2 s"):
            ITSELF.run("-c", program, ends, data_dir=tmp_path)
    else:
        ITSELF.run("-c", program, ends, data_dir=tmp_path)
    status = Path(f"/proc/{file.read_text().strip()}/status")
    end = time.monotonic() + 60
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < end, "the child still runs"
        time.sleep(0.05)


def test_page_that_a_version_does_not_have_is_not_measured() -> None:
    found = probes.pages(addresses={"absent": ["/absent", "/also-absent"]}, numbers=[1, 2])
    assert found == {"absent": None}
