"""The folder of a simulation: equal for equal seeds, complete or absent, and never replacing other files."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from planner_core.inputs import detect
from planner_core.simulated import FILE_PREFIX, QSG, has_simulated_name, is_simulated
from spark_jobs.readers.companions import read_qsg_map
from spark_jobs.simulate import files
from spark_jobs.simulate.files import FolderRefused, write_simulation
from spark_jobs.simulate.site import Options, OptionsInvalid, Site
from spark_jobs.simulate.timeline import make_timeline
from spark_jobs.simulate.truth import truth_of

SMALL = Options(days=3, structures=3, queue_managers=2, interval_minutes=480, seed=11)


def digests(folder: Path) -> dict[str, str]:
    """Return the hashes of the files by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_bytes_depend_on_options_and_seed(tmp_path: Path) -> None:
    for name in ("one", "same"):
        write_simulation(SMALL, tmp_path / name)
    other = Options(3, 3, 2, 480, seed=12)
    write_simulation(other, tmp_path / "other")
    one = digests(tmp_path / "one")
    assert one == digests(tmp_path / "same")
    assert set(one) == set(digests(tmp_path / "other"))
    assert not set(one.values()) & {
        digest
        for name, digest in digests(tmp_path / "other").items()
        if name.endswith((".smf", "truth.json"))
    }


def test_bytes_do_not_depend_on_the_hash_seed_of_the_process(tmp_path: Path) -> None:
    made = []
    for seed in ("0", "1"):
        folder = tmp_path / seed
        subprocess.run(
            [
                sys.executable, "-m", "spark_jobs.simulate", "--days", "1", "--structures", "3", "--queue-managers", "3",
                "--interval-minutes", "720", "--seed", "4", "--out", str(folder),
            ],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
        )  # fmt: skip
        made.append(digests(folder))
    assert made[0] == made[1]


def test_every_file_is_marked_as_simulated_and_detected(tmp_path: Path) -> None:
    write_simulation(SMALL, tmp_path / "made")
    kinds = {}
    for path in (tmp_path / "made").iterdir():
        kinds[path.name] = detect(path.read_bytes(), path.name).kind
        assert path.name.startswith(FILE_PREFIX) or path.name == "truth.json"
    assert kinds == {
        "simulated-2026-01-05.smf": "smf",
        "simulated-2026-01-06.smf": "smf",
        "simulated-2026-01-07.smf": "smf",
        "simulated-qsg-map.json": "qsg_map",
        "truth.json": "simulation_truth",
    }
    assert read_qsg_map(tmp_path / "made" / "simulated-qsg-map.json") == {
        ("SIMA", "SM01"): QSG,
        ("SIMA", "SM02"): QSG,
    }
    truth = json.loads((tmp_path / "made" / "truth.json").read_text())
    assert truth["is_simulated"] is True


def test_simulated_rows_are_recognized_by_group_and_file() -> None:
    assert has_simulated_name(QSG)
    assert is_simulated(QSG, "simulated-2026-01-05.smf")
    assert is_simulated(None, "simulated-2026-01-05.smf")
    assert not is_simulated(QSG, "night.smf")
    assert not is_simulated("SQ03", "simulated-2026-01-05.smf")
    assert not is_simulated(None, None)


def test_several_days_in_a_dump_have_the_same_records(tmp_path: Path) -> None:
    write_simulation(SMALL, tmp_path / "apart")
    write_simulation(SMALL, tmp_path / "together", days_per_file=2)
    assert [path.name for path in sorted((tmp_path / "together").glob("*.smf"))] == [
        "simulated-2026-01-05.smf",
        "simulated-2026-01-07.smf",
    ]
    last = "simulated-2026-01-07.smf"
    assert digests(tmp_path / "apart")[last] == digests(tmp_path / "together")[last]
    assert digests(tmp_path / "apart")["truth.json"] == digests(tmp_path / "together")["truth.json"]


@pytest.mark.parametrize("days_per_file", [0, -3])
def test_days_per_file_must_be_at_least_1(tmp_path: Path, days_per_file: int) -> None:
    with pytest.raises(OptionsInvalid, match="days-per-file"):
        write_simulation(SMALL, tmp_path / "made", days_per_file=days_per_file)


# ---- the folder ------------------------------------------------------------------------------------------------------


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(FolderRefused, match="not empty"):
            write_simulation(SMALL, tmp_path, force=force)
    write_simulation(SMALL, tmp_path / "made")
    (tmp_path / "made" / "notes.txt").write_text("mine too")
    with pytest.raises(FolderRefused, match="not empty"):
        write_simulation(SMALL, tmp_path / "made", force=True)
    assert (tmp_path / "keep.txt").read_text() == "mine"


def test_earlier_simulation_is_replaced_only_with_force(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    write_simulation(Options(5, 3, 2, 480, 11), folder)
    before = digests(folder)
    with pytest.raises(FolderRefused, match="--force"):
        write_simulation(SMALL, folder)
    assert digests(folder) == before
    write_simulation(SMALL, folder, force=True)
    assert len(digests(folder)) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    write_simulation(SMALL, tmp_path / "made")
    assert (tmp_path / "made" / "truth.json").is_file()


def test_file_instead_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("")
    with pytest.raises(FolderRefused, match="is a file"):
        write_simulation(SMALL, tmp_path / "made")
    with pytest.raises(FolderRefused, match="cannot be written"):
        write_simulation(SMALL, tmp_path / "made" / "below")


def test_failed_simulation_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        message = "no room"
        raise OSError(28, message)

    monkeypatch.setattr(files, "_write_json", fail)
    with pytest.raises(FolderRefused, match="no room"):
        write_simulation(SMALL, tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], check=True, capture_output=True, text=True
    )
    left = tmp_path / f".made.{int(ended.stdout)}.simulating"
    left.mkdir()
    (left / "simulated-2026-01-05.smf").write_bytes(b"half")
    running = tmp_path / f".made.{os.getppid()}.simulating"
    running.mkdir()
    write_simulation(SMALL, tmp_path / "made")
    assert sorted(path.name for path in tmp_path.iterdir()) == [running.name, "made"]


# ---- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--days", "0", "--days: 0 is not between 1 and 3660"),
        ("--days", "99999", "--days"),
        ("--structures", "63", "--structures: 63 is not between 1 and 62"),
        ("--structures", "none", "--structures: 'none' is not a whole number"),
        ("--queue-managers", "33", "--queue-managers: 33 is not between 1 and 32"),
        ("--interval-minutes", "7", "--interval-minutes: 7 does not divide a day"),
        ("--interval-minutes", "0", "--interval-minutes"),
        ("--seed", "-1", "--seed: -1"),
        ("--last-day", "yesterday", "'yesterday' is not a day"),
        ("--last-day", "0001-01-01", "not all between 2000 and 2040"),
        ("--days-per-file", "0", "--days-per-file: 0"),
    ],
)
def test_command_names_an_invalid_option(
    option: str, value: str, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = {
        "--days": "2", "--structures": "2", "--queue-managers": "2", "--interval-minutes": "720", "--seed": "1",
        option: value,
    }  # fmt: skip
    arguments = [word for pair in given.items() for word in pair]
    assert main(["simulate", *arguments, "--out", str(tmp_path / "made")]) == 2
    assert said in capfd.readouterr().err
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "options",
    [
        Options(1, 1, 1, 1440, 0),
        Options(2, 1, 1, 1440, 2**63 - 1),
        Options(1, 62, 32, 1440, 5),
        Options(15, 2, 3, 720, 5),
    ],
)
def test_smallest_and_largest_options_are_accepted(options: Options, tmp_path: Path) -> None:
    written = write_simulation(options, tmp_path / "made")
    assert written.dumps >= 1


def test_simulated_quarter_has_every_event_and_a_structure_that_is_soon_full(tmp_path: Path) -> None:
    site = Site(Options(90, 8, 3, 60, 7))
    truth = truth_of(site, make_timeline(site))
    why = {one["why"] for structure in truth["structures"] for one in structure["allocations"]}
    assert why == {"initial", "altered", "ratio_altered", "reallocated", "rebuilt", "rebuilt_back"}
    assert {one["kind"] for one in truth["rises"]} == {"offload_storm", "backlog"}
    assert len(truth["outage_days"]) == 2
    assert truth["queue_manager_down"]
    first = next(one for one in truth["structures"] if one["structure"] == "PAYMENTS")
    crossing = next(
        one for one in first["crossings"] if (one["measure"], one["level"]) == ("usage", "full_threshold")
    )
    assert 1 <= crossing["days_after"] <= 100
    ratios = {
        facility["name"]: {
            tuple(one["ratio"])
            for structure in truth["structures"]
            for one in structure["allocations"]
            if one["coupling_facility"] == facility["name"]
        }
        for facility in truth["coupling_facilities"]
    }
    assert len(ratios["SIMCF01"]) >= 2  # both costs can be told
    assert ratios["SIMCF02"] == {(1, 6)}  # only base and bundle
