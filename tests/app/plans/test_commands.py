"""`cfplan plans ...` on the store of the service, on both databases."""

from __future__ import annotations

import gc
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import URL

from app.cli import main
from app.fits.kept import Curves, curves_for
from app.plans.computed import ComputedPlan, compute
from app.plans.service import get_plan, save_plan
from app.texts.documents import example_text
from planner_core.document.model import PlanDocument
from tests.app.plans.support import app_on, changed
from tests.app.web.support import get, send_json
from tests.packaging.pins import ROOT

pytestmark = pytest.mark.long

SMALL = {
    "qsg": "SQ03",
    "queue_managers": 2,
    "structures": [{"name": "A", "queues": [{"name": "Q", "message_bytes": 1, "backlog": 1}]}],
}


@pytest.fixture(autouse=True)
def environment(url: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", url.render_as_string(hide_password=False))
    monkeypatch.delenv("CFPLAN_PORT", raising=False)


@pytest.fixture
def app(url: URL) -> FastAPI:
    return app_on(url)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "SQ03.yaml"
    path.write_text(example_text(), encoding="utf-8")
    return path


def written(path: Path, document: object) -> str:
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_plan_saved_by_command_has_the_same_policy_in_the_service(
    app: FastAPI, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plans", "put", "SQ03", str(file), "--comment", "first"]) == 0
    assert "SQ03: created, version 1" in capsys.readouterr().out
    by_rest = get(app, "/api/v1/plans/SQ03/policy").text
    assert main(["plans", "show", "SQ03", "--output", "policy"]) == 0
    assert capsys.readouterr().out == by_rest
    assert main(["plan", str(file), "--output", "policy"]) == 0
    assert capsys.readouterr().out == by_rest
    assert main(["plans", "show", "SQ03"]) == 0
    assert json.loads(capsys.readouterr().out) == get(app, "/api/v1/plans/SQ03").json()


def test_change_without_if_match_or_replace_is_refused(
    app: FastAPI, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tag = send_json(app, "PUT", "/api/v1/plans/SQ03", changed()).headers["etag"]
    other = written(tmp_path / "other.json", changed(headroom_percent=20))
    assert main(["plans", "put", "SQ03", other]) == 2
    assert f"Use --if-match '{tag}' " in capsys.readouterr().err
    imported = written(tmp_path / "SQ03.json", changed(headroom_percent=20))
    assert main(["plans", "import", imported]) == 2
    refused = capsys.readouterr().err
    assert "--replace" in refused
    assert "match" not in refused.lower()
    assert main(["plans", "put", "SQ03", other, "--create"]) == 2
    assert main(["plans", "put", "SQ03", other, "--if-match", '"0.0"']) == 2
    assert "changed since" in capsys.readouterr().err
    assert get(app, "/api/v1/plans/SQ03").json()["version"] == 1
    assert main(["plans", "put", "SQ03", other, "--if-match", tag]) == 0
    assert main(["plans", "put", "SQ03", str(file), "--replace"]) == 0
    assert main(["plans", "put", "SQ03", str(file)]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == [
        "SQ03: changed", "SQ03: changed", "SQ03: identical",
    ]  # fmt: skip
    assert main(["plans", "show", "SQ03", "--output", "versions"]) == 0
    history = json.loads(capsys.readouterr().out)
    assert [version["version"] for version in history["versions"]] == [3, 2, 1]
    assert main(["plans", "show", "SQ03", "--version", "2", "--output", "document"]) == 0
    assert json.loads(capsys.readouterr().out)["headroom_percent"] == 20


def test_list_command_prints_all_plans(app: FastAPI, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plans", "list"]) == 0
    assert capsys.readouterr().out == "There are no plans.\n"
    assert send_json(app, "PUT", "/api/v1/plans/P000", SMALL).status == 201
    with app.state.database.session(writes=True) as session:
        computed = compute(get_plan(session, "P000").document, curves_for(session))
        for number in range(1, 205):
            save_plan(session, f"P{number:03}", computed)
    assert main(["plans", "list"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split()[:3] == ["name", "version", "qsg"]
    assert [line.split()[0] for line in lines] == [f"P{number:03}" for number in range(205)]
    assert main(["plans", "list", "--search", "p00", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["plans"]) == 10


def test_deleted_plan_is_listed_and_restored(app: FastAPI, capsys: pytest.CaptureFixture[str]) -> None:
    send_json(app, "PUT", "/api/v1/plans/SQ03", changed())
    assert main(["plans", "delete", "SQ03", "--if-match", '"0.0"']) == 2
    assert main(["plans", "delete", "SQ03"]) == 0
    assert "cfplan plans restore SQ03" in capsys.readouterr().out
    assert main(["plans", "show", "SQ03"]) == 2
    assert main(["plans", "list", "--deleted"]) == 0
    assert "SQ03" in capsys.readouterr().out
    assert main(["plans", "restore", "SQ03"]) == 0
    assert get(app, "/api/v1/plans/SQ03").status == 200
    assert main(["plans", "restore", "SQ03"]) == 2


def test_plan_that_is_not_kept_is_reported_as_removed(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    send_json(app, "PUT", "/api/v1/plans/SQ03", changed())
    monkeypatch.setenv("CFPLAN_DELETED_DAYS", "0")
    assert main(["plans", "delete", "SQ03"]) == 0
    assert capsys.readouterr().out == "SQ03: deleted. It cannot be restored (CFPLAN_DELETED_DAYS is 0).\n"
    assert main(["plans", "restore", "SQ03"]) == 2


def test_import_saves_all_plans_or_none(
    app: FastAPI, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = {name: changed(headroom_percent=at) for at, name in enumerate(("A", "B.1", "c-2"))}
    for name, document in documents.items():
        send_json(app, "PUT", f"/api/v1/plans/{name}", document)
    folder = tmp_path / "out" / "plans"
    assert main(["plans", "export", "--to", str(folder)]) == 2
    assert main(["plans", "export", "--all", "--to", str(folder)]) == 0
    files = [str(folder / f"{name}.json") for name in documents]
    assert sorted(map(str, folder.iterdir())) == sorted(files)
    assert main(["plans", "import", *files]) == 0
    assert capsys.readouterr().out.count("identical") == 3
    for name in documents:
        main(["plans", "delete", name])
    broken = written(folder / ".hidden.json", changed())
    assert main(["plans", "import", *files, broken]) == 2
    assert get(app, "/api/v1/plans").json()["total"] == 0
    assert main(["plans", "import", *files]) == 0
    for name, document in documents.items():
        found = get(app, f"/api/v1/plans/{name}").json()
        assert found["document"]["headroom_percent"] == document["headroom_percent"]
    written(folder / "A.json", changed(headroom_percent=50))
    assert main(["plans", "import", *files]) == 2
    assert main(["plans", "import", *files, "--replace"]) == 0


def test_plans_exported_by_the_page_are_imported_by_the_command(
    app: FastAPI, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("SQ03", "B.1"):
        send_json(app, "PUT", f"/api/v1/plans/{name}", changed())
    archive = zipfile.ZipFile(io.BytesIO(get(app, "/export-plans").content))
    archive.extractall(tmp_path)
    files = [str(tmp_path / name) for name in archive.namelist()]
    assert main(["plans", "import", *files]) == 0
    assert capsys.readouterr().out.count("identical") == 2
    assert get(app, "/api/v1/plans").json()["total"] == 2


def test_documented_move_of_plans_to_another_database_works(
    app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_json(app, "PUT", "/api/v1/plans/SQ03", changed())
    page = (ROOT / "docs" / "operations" / "settings.md").read_text(encoding="utf-8")
    export, bring = re.findall(
        r"^(?:CFPLAN_DATABASE_URL=\.\.\. )?cfplan (plans (?:export|import) .*)$", page, re.MULTILINE
    )
    monkeypatch.chdir(tmp_path)
    assert main(export.split()) == 0
    monkeypatch.setenv("CFPLAN_DATABASE_URL", f"sqlite:///{tmp_path}/other.db")
    *words, pattern = bring.split()
    assert main([*words, *map(str, tmp_path.glob(pattern))]) == 0
    assert main(["plans", "show", "SQ03"]) == 0


def test_deleted_plans_with_the_same_name_can_each_be_restored(
    app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    for headroom in (10, 20):
        send_json(app, "PUT", "/api/v1/plans/SQ03", changed(headroom_percent=headroom))
        main(["plans", "delete", "SQ03"])
    send_json(app, "PUT", "/api/v1/plans/SQ03", changed())
    capsys.readouterr()
    assert main(["plans", "list", "--deleted", "--json"]) == 0
    _, older = json.loads(capsys.readouterr().out)["plans"]
    assert main(["plans", "restore", "SQ03", "--id", str(older["id"])]) == 2
    assert "under another name" in capsys.readouterr().err
    assert main(["plans", "restore", "SQ03", "--id", str(older["id"]), "--as", "OLD"]) == 0
    assert get(app, "/api/v1/plans/OLD").json()["document"]["headroom_percent"] == 10


def test_findings_are_acknowledged_with_their_current_message(
    app: FastAPI, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = {"name": "Q", "message_bytes": 1024, "backlog": 1000}
    two: list[object] = [
        {"name": name, "offload": {}, "queues": [{**queue, "name": name}]} for name in ("APP1", "APP2")
    ]
    tag = send_json(app, "PUT", "/api/v1/plans/SQ03", changed(structures=two)).headers["etag"]
    accept = ["plans", "acknowledge", "SQ03", "DSGROUP_MISSING", "--reason", "the storage team does"]
    assert main([*accept, "--if-match", '"0.0"']) == 2
    assert main([*accept, "--structure", "APP2", "--if-match", tag]) == 0
    assert "SQ03: version 2" in capsys.readouterr().out
    assert main(accept) == 0
    found = get(app, "/api/v1/plans/SQ03").json()
    messages = {f["structure"]: f["message"] for f in found["findings"] if f["code"] == "DSGROUP_MISSING"}
    assert [(item["structure"], item["message"]) for item in found["document"]["acknowledged"]] == [
        (name, messages[name]) for name in ("APP2", "APP1")
    ]
    assert not [f for f in found["findings"] if f["code"] == "DSGROUP_MISSING" and not f["acknowledged"]]
    assert main(accept) == 2
    assert "no open warning" in capsys.readouterr().err


def test_files_are_computed_before_the_database_is_locked(
    app: FastAPI, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def others_save_meanwhile(document: PlanDocument, curves: Curves) -> ComputedPlan:
        assert send_json(app, "PUT", "/api/v1/plans/OTHER", changed()).status in (200, 201)
        return compute(document, curves)

    monkeypatch.setattr("app.plans.computed.compute", others_save_meanwhile)
    assert main(["plans", "import", str(file), str(file)]) == 0
    assert main(["plans", "put", "SQ03", str(file)]) == 0


def test_saving_a_plan_with_errors_reports_them(tmp_path: Path) -> None:
    file = written(tmp_path / "bad.json", changed(cfcc_level=8))
    assert main(["plans", "put", "SQ03", file]) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("postgresql://cfplan:geheim@127.0.0.1:1/cfplan", "cannot be used"),
        ("mysql://cfplan:geheim@127.0.0.1/cfplan", "kind 'mysql'"),
        ("geheim", "is not the URL"),
        ("sqlite:////proc/none/cfplan.db", "cannot be used"),
    ],
)
def test_unusable_database_is_reported_without_its_password(
    given: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATABASE_URL", given)
    for command in (["plans", "list"], ["migrate"], ["serve", "--port", "1"]):
        assert main(command) == 2
        error = capsys.readouterr().err
        assert said in error
        assert "geheim" not in error
        assert "internal error" not in error


@pytest.mark.parametrize("command", [["plans", "list"], ["migrate"], ["serve", "--port", "1"]])
def test_damaged_database_file_is_reported_with_a_message(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.db").write_bytes(b"no database at all " * 400)
    monkeypatch.setenv("CFPLAN_DATABASE_URL", f"sqlite:///{tmp_path}/bad.db")
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "is damaged or is not a database: restore it from a backup" in error
    assert "internal error" not in error


def test_server_exempts_loaded_modules_from_garbage_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    spared: list[int] = []
    gc.unfreeze()  # objects that tests/conftest.py exempts

    def count(_: object) -> int:
        spared.append(gc.get_freeze_count())
        return 0

    monkeypatch.setattr("app.serving.supervisor.Supervisor.run", count)
    monkeypatch.setenv("CFPLAN_PORT", "0")
    try:
        assert main(["serve", "--migrate"]) == 0
    finally:
        gc.freeze()
    assert spared[0] > 50_000


def test_invalid_setting_is_reported_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_PORT", "web")
    assert main(["plans", "list"]) == 2
    assert "CFPLAN_PORT" in capsys.readouterr().err
