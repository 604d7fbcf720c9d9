"""The additional files of a simulation: a map that the site imports, and a truth file that is ignored."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from app.database.engine import Database, database_url
from app.jobs.models import JobState
from app.settings import Settings
from app.uploads import qsg_map
from planner_core.inputs import QSG_MAP, detect
from spark_jobs.ingest import main as ingest
from spark_jobs.readers import NotReadable, read
from spark_jobs.readers.companions import read_qsg_map
from spark_jobs.simulate.files import write_simulation
from spark_jobs.simulate.site import Options
from tests.app.uploads.support import job_id_of, keep, run_keeper

ENTRY = {"system_id": "SYSA", "queue_manager": "CSQ1", "qsg": "SQ03"}


def written(folder: Path, entries: object, **others: object) -> Path:
    """Write a map file."""
    path = folder / "map.json"
    path.write_text(json.dumps({"kind": QSG_MAP, "schema": 1, "entries": entries} | others))
    return path


def test_qsg_map_entries_are_read_in_upper_case(tmp_path: Path) -> None:
    path = written(tmp_path, [ENTRY, {"system_id": "sysb", "queue_manager": " csq2", "qsg": ""}])
    assert read_qsg_map(path) == {("SYSA", "CSQ1"): "SQ03", ("SYSB", "CSQ2"): ""}
    packed = tmp_path / "map.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_qsg_map(packed) == read_qsg_map(path)
    assert detect(packed.read_bytes(), packed.name).kind == "qsg_map"


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("none", "not a QSG map"),
        ([ENTRY, 5], "Entry 2"),
        ([{"system_id": "SYSA", "qsg": "SQ03"}], "Entry 1"),
        ([ENTRY | {"qsg": 7}], "Entry 1"),
        ([ENTRY | {"system_id": "SYSTEM1"}], "'SYSTEM1' is not a system id"),
        ([ENTRY | {"queue_manager": "1CSQ"}], "Entry 1 of the map: '1CSQ'"),
        ([ENTRY | {"qsg": "SQ-3"}], "Entry 1 of the map: 'SQ-3'"),
        ([ENTRY, ENTRY | {"qsg": "SQ04"}], "in two groups: SQ03 and SQ04"),
    ],
)
def test_invalid_qsg_map_entry_is_refused_by_number(tmp_path: Path, entries: object, said: str) -> None:
    with pytest.raises(NotReadable, match=said):
        read_qsg_map(written(tmp_path, entries))


@pytest.mark.parametrize("text", ["", "{", '{"kind": "cfplan qsg map"}', "[" * 50_000, '{"kind": "other"}'])
def test_other_files_are_refused_as_a_qsg_map(tmp_path: Path, text: str) -> None:
    path = tmp_path / "map.json"
    path.write_text(text)
    with pytest.raises(NotReadable):
        read_qsg_map(path)


@pytest.mark.parametrize("kind", ["qsg_map", "simulation_truth"])
def test_map_and_truth_files_are_not_read_as_usage(tmp_path: Path, kind: Any) -> None:  # noqa: ANN401 - one of the kinds
    with pytest.raises(NotReadable, match="contains no usage"):
        read(written(tmp_path, [ENTRY]), kind)


def reported(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the last line."""
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_group_is_requested_only_if_no_map_is_among_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "made"
    write_simulation(Options(1, 1, 1, 720, 2), folder)
    dump, own = str(folder / "simulated-2026-01-05.smf"), str(folder / "simulated-qsg-map.json")
    history = ["--history", str(tmp_path / "history")]
    assert ingest([*history, dump]) == 4
    assert reported(capsys)["status"] == "needs_answers"
    assert ingest([*history, dump, own]) == 0
    report = reported(capsys)
    assert report["status"] == "stored"
    assert [file["status"] for file in report["files"]] == ["stored", "map_read"]
    assert report["files"][1]["qsg_map"] == [{"system_id": "SIMA", "queue_manager": "SM01", "qsg": "SIM1"}]


def test_truth_file_alone_is_accepted_and_a_broken_map_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "made"
    write_simulation(Options(1, 1, 1, 720, 2), folder)
    history = ["--history", str(tmp_path / "history")]
    assert ingest([*history, str(folder / "truth.json")]) == 0
    assert reported(capsys)["status"] == "not_usage"
    assert ingest([*history, str(folder / "truth.json"), str(written(tmp_path, [5]))]) == 3
    report = reported(capsys)
    assert report["status"] == "not_readable"
    assert "Entry 1" in report["files"][1]["message"]


def test_uploaded_map_is_stored_and_uploaded_truth_is_ignored(tmp_path: Path) -> None:
    url = database_url("", data_dir=tmp_path / "data")
    settings = Settings(database_url=url.render_as_string(hide_password=False), data_dir=tmp_path / "data")
    database = Database(url)
    database.upgrade()
    try:
        with database.session(writes=True) as session:
            qsg_map.put(session, "SYSA", "CSQ1", "OLD1")
            qsg_map.put(session, "SYSC", "CSQ3", "SQ05")
        content = written(tmp_path, [ENTRY]).read_text()
        outcome = keep(database, settings.data_dir, content, filename="map.json")
        assert outcome.upload.detected_kind == "qsg_map"
        job = run_keeper(database, settings, job_id_of(outcome))
        assert job.state == JobState.DONE
        assert job.sentence == "A map of 1 queue manager to SQ03 was read."
        truth = '{"kind": "cfplan simulation truth", "schema": 1}\n'
        job = run_keeper(
            database,
            settings,
            job_id_of(keep(database, settings.data_dir, truth, filename="truth.json")),
        )
        assert job.state == JobState.DONE
        assert "nothing was read from it" in (job.sentence or "")
        with database.session(writes=False) as session:
            assert qsg_map.as_arguments(session) == ["SYSA:CSQ1=SQ03", "SYSC:CSQ3=SQ05"]
    finally:
        database.close()
