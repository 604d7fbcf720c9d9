"""A plan that names a fitted curve is evaluated with that version everywhere, or refused at /curve/fitted."""

from __future__ import annotations

import ast
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import pytest
from fastapi import FastAPI
from sqlalchemy import URL, delete

from app.cli import main
from app.data_folder import LOCK
from app.database.engine import Database
from app.fits.kept import curves_in, no_curves
from app.fits.resolve import evaluate
from app.nightly.models import FitVersion
from app.plans import service
from planner_core.document.reading import read_object
from planner_core.errors import PlanRefused
from planner_core.plan.evaluate import evaluate as core_evaluate
from planner_core.plan.result import PlanAnswer
from planner_core.texts.outputs import OUTPUT_KINDS
from planner_core.wire import adapter
from tests.app.fits.support import MIB, fit_json, store_curve, store_night, versions
from tests.app.plans.pages.browsing import Browser
from tests.app.plans.support import app_on, changed, plan
from tests.app.web.support import assert_problem, call, get, post_json, send_json

ROOT = Path(__file__).parents[3]
BASE, BUNDLE = 20 * MIB, 2100
MAY_EVALUATE = {
    "app/fits/resolve.py": "the one place",
    "app/sizing/description.py": "examples, which name no curve",
    "app/sizing/calculator/answer.py": "the calculator, which knows no plan",
    "app/sizing/calculator/pages.py": "the calculator, which knows no plan",
    "app/web/style_guide/placement.py": "specimens, which name no curve",
    "app/web/style_guide/questions.py": "specimens, which name no curve",
    "app/web/style_guide/specimens.py": "specimens, which name no curve",
}


def never(version: int) -> NoReturn:
    """Fail, because no curve may be looked up."""
    pytest.fail(f"asked for {version}")


def need(result: Any, name: str = "APPLICATION1") -> int:  # noqa: ANN401 - a result as JSON
    return next(each["need_bytes"] for each in result["structures"] if each["name"] == name)


# ---- one place -------------------------------------------------------------------------------------------------------


def test_plans_are_evaluated_by_only_one_function() -> None:
    found = set()
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_import = isinstance(node, ast.ImportFrom) and node.module == "planner_core.plan.evaluate"
            if is_import and any(each.name == "evaluate" for each in node.names):  # type: ignore[attr-defined]
                found.add(path.relative_to(ROOT).as_posix())
            if isinstance(node, ast.Attribute) and node.attr == "evaluate":
                found.add(path.relative_to(ROOT).as_posix())
    assert found == set(MAY_EVALUATE)


def test_plan_on_the_published_curve_needs_no_database() -> None:
    assert evaluate(plan(), never) == core_evaluate(plan())


# ---- the named version -----------------------------------------------------------------------------------------------


def test_plan_is_sized_with_the_curve_version_it_names(database: Database) -> None:
    older, newer = store_curve(database), store_curve(database, base_mib=30.0, bundle=2200.0)
    found = evaluate(plan(curve={"fitted": older}), curves_in(database))
    assert found.curve.base == BASE
    assert found.curve.bundle == BUNDLE
    structure = next(each for each in found.structures if each.name == "APPLICATION1")
    assert structure.load is not None
    bundles = max(Fraction(structure.load.demand.entries), Fraction(structure.load.demand.elements, 6))
    assert structure.sizes.need_bytes == -(-(BASE + BUNDLE * bundles) // 1)
    assert evaluate(plan(curve={"fitted": newer}), curves_in(database)).curve.base == 30 * MIB


def test_comparison_shows_both_curves_and_their_difference(database: Database) -> None:
    version = store_curve(database)
    result = evaluate(plan(curve={"fitted": version}), curves_in(database))
    shown = result.as_json()
    published = core_evaluate(plan()).as_json()
    assert result.comparison is not None
    compared: Any = shown["comparison"]
    assert compared["fitted"]["fitted"]["version"] == version
    by_name = {each["name"]: each for each in compared["structures"]}
    for name in ("APPLICATION1", "MYDATA", "CSQSYSAPPL"):
        both = by_name[name]
        assert both["fitted"]["need_bytes"] == need(shown, name)
        assert both["published"]["need_bytes"] == need(published, name)
        assert both["difference"]["need_bytes"] == need(shown, name) - need(published, name) != 0
    assert by_name["CSQ_ADMIN"]["difference"] == {"need_bytes": 0, "initsize_bytes": 0, "size_bytes": 0}
    totals: Any = shown["totals"]
    assert compared["totals"]["fitted"]["initsize_kib"] == totals["initsize_kib"]
    assert "comparison" not in published


def test_stored_result_is_read_back_unchanged(database: Database) -> None:
    version = store_curve(database, element=290.0)
    written = evaluate(plan(curve={"fitted": version}), curves_in(database)).answer()
    read: PlanAnswer = adapter(PlanAnswer).validate_json(written.json_bytes())
    assert read.comparison is not None
    assert read.comparison.fitted.fitted is not None
    assert read.as_json() == written.as_json()


def test_unknown_curve_version_is_refused_without_a_substitute(database: Database) -> None:
    store_curve(database)
    for curves in (curves_in(database), no_curves):
        with pytest.raises(PlanRefused) as refused:
            evaluate(plan(curve={"fitted": 99}), curves)
        assert [(each.code, each.field) for each in refused.value.findings] == [
            ("CURVE_UNKNOWN", "/curve/fitted")
        ]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("rejected", "An element costs 231.4 bytes, but holds 256 bytes of data."),
        ("too_little", "All structures have one size, so that no slope can be told."),
    ],
)
def test_rejected_fit_is_refused_with_its_reason(database: Database, state: str, reason: str) -> None:
    version = store_curve(database, state=state, reason=reason)
    with pytest.raises(PlanRefused) as refused:
        evaluate(plan(curve={"fitted": version}), curves_in(database))
    (finding,) = refused.value.findings
    assert (finding.code, finding.field, finding.severity) == ("CURVE_NOT_ACCEPTED", "/curve/fitted", "error")
    assert reason[1:-1] in finding.message


def test_finding_on_a_curve_mentions_that_it_is_from_simulated_data(database: Database) -> None:
    store_night(database, curves=[fit_json(qsgs=["SIM1"])], simulated=["SIM1"])
    result = evaluate(plan(curve={"fitted": versions(database)[-1]}), curves_in(database))
    assert result.curve.fit is not None
    assert result.curve.fit.is_simulated
    (used,) = [each for each in result.findings if each.code == "FITTED_CURVE_IN_USE"]
    assert "simulated data" in used.message


# ---- over REST -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["size", *OUTPUT_KINDS])
@pytest.mark.parametrize("name", ["fitted", "\\u0066itted"])
def test_every_route_that_takes_a_plan_resolves_the_curve(app: FastAPI, address: str, name: str) -> None:
    version = store_curve(app.state.database)
    document = changed(policy={"name": "POLICY1", "job": False})
    text = json.dumps({**document, "curve": {"fitted": version}}).replace('"fitted"', f'"{name}"')

    def sent(body: str) -> Any:  # noqa: ANN401 - an answer
        headers = {"content-type": "application/json"}
        return call(app, "POST", f"/api/v1/{address}", headers=headers, chunks=[body.encode()])

    answer, published = sent(text), post_json(app, f"/api/v1/{address}", document)
    if address == "job":  # the example has no hardware: refused for that, with the fitted curve found
        assert answer.status == 422
        assert "CURVE_UNKNOWN" not in answer.text
        return
    assert answer.status == published.status == 200, answer.text
    assert (answer.text != published.text) == (address != "mqsc")  # MQSC has no sizes
    missing = sent(text.replace(f": {version}}}", ": 4711}"))
    problem = assert_problem(missing, "plan-refused", 422)
    assert [each["field"] for each in problem["errors"]] == ["/curve/fitted"]


def test_stored_plan_keeps_its_curve(url: URL) -> None:
    app = app_on(url)
    database = app.state.database
    version = store_curve(database)
    document = changed(curve={"fitted": version})
    saved = send_json(app, "PUT", "/api/v1/plans/SQ03", document)
    assert saved.status == 201, saved.text
    assert saved.json()["curve"]["fitted"]["version"] == version
    assert saved.json()["result"]["comparison"]["totals"]["difference"]["initsize_bytes"] != 0
    with database.session(writes=True) as session:
        session.execute(delete(FitVersion))
    read = get(app, "/api/v1/plans/SQ03")
    assert read.json()["curve"] == saved.json()["curve"]
    assert read.json()["result"] == saved.json()["result"]
    again = {**document, "headroom_percent": 20}
    refused = send_json(app, "PUT", "/api/v1/plans/SQ03", again, if_match=saved.json()["etag"])
    assert [each["field"] for each in assert_problem(refused, "plan-refused", 422)["errors"]] == [
        "/curve/fitted"
    ]
    database.close()


def test_new_fit_changes_no_plan(app: FastAPI) -> None:
    version = store_curve(app.state.database)
    saved = send_json(app, "PUT", "/api/v1/plans/SQ03", changed(curve={"fitted": version}))
    store_curve(app.state.database, base_mib=60.0)
    same = send_json(
        app, "PUT", "/api/v1/plans/SQ03", changed(curve={"fitted": version}), if_match=saved.json()["etag"]
    )
    assert same.json()["saved"] == "identical"
    sized = post_json(app, "/api/v1/size", changed(curve={"fitted": version})).json()
    assert sized == saved.json()["result"]


def test_copies_and_acknowledgments_use_the_curve_of_the_plan(database: Database) -> None:
    version = store_curve(database)
    with database.session(writes=True) as session:
        first = service.save_plan(session, "SQ03", plan(curve={"fitted": version})).version
    with database.session(writes=True) as session:
        copied = service.copy_plan(session, "SQ03", "COPY")
    assert copied.result == first.result
    assert copied.curve["fitted"]["version"] == version


# ---- pages -----------------------------------------------------------------------------------------------------------


def test_editor_shows_both_curves_and_errors_of_the_curve(app: FastAPI) -> None:
    version = store_curve(app.state.database)
    browser = Browser(app)
    browser.save_example()
    fields = browser.get("/plans/SQ03/edit").fields
    shown = browser.post("/plans/SQ03/edit", {**fields, "/curve": str(version), "do": "check"})
    assert "Published and fitted curve" in shown.words
    refused = browser.post("/plans/SQ03/edit", {**fields, "/curve": "4711", "do": "save"})
    assert refused.status == 422
    assert "The plan names the fitted curve 4711" in refused.words
    saved = browser.post("/plans/SQ03/edit", {**fields, "/curve": str(version), "do": "save"})
    assert saved.path.startswith("/plans/SQ03?saved=changed")
    for address in ("/plans/SQ03", "/plans/SQ03/versions/2/print"):
        page = browser.get(address)
        assert "Published and fitted curve" in page.words
        assert f"curve {version}" in page.words
    for address in ("/plans/SQ03/versions/1", "/plans/SQ03/versions/1/print"):
        assert "Published and fitted curve" not in browser.get(address).words
    assert f"/curves/{version}" in browser.get("/plans/SQ03").links
    assert "/plans/SQ03" in browser.get(f"/curves/{version}").links


def test_split_advice_uses_the_curve_of_the_plan(app: FastAPI) -> None:
    version = store_curve(app.state.database)
    document = changed(curve={"fitted": version})
    document["structures"][0]["queues"].append(
        {"name": "BATCH.IN", "message_bytes": 2048, "backlog": 500_000, "isolation": "batch"}
    )
    assert send_json(app, "PUT", "/api/v1/plans/SQ03", document).status == 201
    page = get(app, "/plans/SQ03/advice", accept="text/html")
    assert page.status == 200
    assert "BATCH.IN" in page.text


# ---- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty data folder named in the settings."""
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("CFPLAN_DATABASE_URL", raising=False)
    return tmp_path / "data"


def written(folder: Path, version: int) -> str:
    path = folder.parent / "plan.json"
    path.write_text(json.dumps(changed(curve={"fitted": version})), encoding="utf-8")
    return str(path)


def test_command_reads_curves_from_the_data_folder_without_changes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = Database(URL.create("sqlite", database=str(folder / "cfplan.db")))
    version = store_curve(database)
    database.close()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["plan", written(folder, version)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["curve"]["fitted"]["version"] == version
    assert shown["comparison"]["fitted"] == shown["curve"]
    assert main(["plan", written(folder, version), "--output", "policy"]) == 0
    assert "STRUCTURE NAME(SQ03APPLICATION1)" in capsys.readouterr().out
    assert main(["plan", written(folder, 4711)]) == 1
    assert [each["code"] for each in json.loads(capsys.readouterr().out)["findings"]] == ["CURVE_UNKNOWN"]
    # The lock, which is empty, keeps a restore waiting while the command reads.
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {**before, LOCK: b""}


def test_command_without_a_database_is_refused_and_creates_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", written(folder, 17)]) == 1
    out, err = capsys.readouterr()
    (finding,) = json.loads(out)["findings"]
    assert (finding["code"], finding["field"]) == ("CURVE_UNKNOWN", "/curve/fitted")
    assert "there is no database in the data folder" in finding["message"]
    assert str(folder) in err
    assert not folder.exists()


def test_command_does_not_migrate_an_older_database(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = Database(URL.create("sqlite", database=str(folder / "cfplan.db")))
    database.upgrade("c3e2b8d5f9a7")
    database.close()
    assert main(["plan", written(folder, 1)]) == 2
    assert "cfplan migrate" in capsys.readouterr().err
    reopened = Database(URL.create("sqlite", database=str(folder / "cfplan.db")))
    assert reopened.revision() == "c3e2b8d5f9a7"
    reopened.close()


def test_plans_are_created_and_imported_with_their_curve(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = Database(URL.create("sqlite", database=str(folder / "cfplan.db")))
    version = store_curve(database)
    database.close()
    assert main(["plans", "put", "SQ03", written(folder, version)]) == 0
    assert main(["plans", "put", "OTHER", written(folder, 4711)]) == 2
    assert "4711" in capsys.readouterr().err
    assert read_object(changed(curve={"fitted": version})).curve != "published"
