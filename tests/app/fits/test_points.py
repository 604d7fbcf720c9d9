"""Sizing points are stored once, fitted, and used by plans; what they cannot support is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from app.audit.filters import AuditFilter
from app.audit.service import each_entry
from app.cli import main
from app.fits import fits, points
from app.main import create_app
from app.nightly import facts
from app.settings import Settings
from planner_core.errors import PlanRefused
from planner_core.sizing.fitted import fitted_curve
from tests.app.fits.support import ANSWERS, PointCosts, answers_of, fit_json, store_night, store_points
from tests.app.web.support import SQ03, Answer, call, get, post_json, send_json

POINTS = "/api/v1/sizing-points"
COSTS = PointCosts()
IN_USE = """\
STRNAME: SQ03APP1
 STATUS: ALLOCATED
 TYPE: SERIALIZED LIST
 POLICY INFORMATION:
  POLICY SIZE    : 200 M
 ACTIVE STRUCTURE
 ----------------
  ALLOCATION TIME: 11/03/2026 09:12:44
  CFNAME         : CF01
  ACTUAL SIZE            : 100 M
                IN-USE        TOTAL     %
  ENTRIES:          12        32143     0
  ELEMENTS:         72       192853     0
"""
EMPTY = IN_USE.replace("APP1", "APP2").replace("12  ", " 0  ").replace("72  ", " 0  ")


def add(app: FastAPI, text: str, **given: object) -> Answer:
    return post_json(app, POINTS, {"text": text, **given})


def actions(app: FastAPI) -> list[str]:
    return [entry.action for entry in each_entry(app.state.database, AuditFilter())]


def test_points_are_stored_with_their_origin_and_author(app: FastAPI) -> None:
    answer = add(app, ANSWERS)
    assert answer.status == 201
    found = answer.json()
    assert (found["added"], found["known"]) == (3, 0)
    (newest, *_) = get(app, POINTS).json()["points"]
    assert {
        name: newest[name] for name in ("number", "origin", "release", "measured_by", "measured_on", "author")
    } == {
        "number": 3,
        "origin": "zosmf",
        "release": "z/OS 3.1",
        "measured_by": "J. Doe",
        "measured_on": "2026-11-03",
        "author": "local",
    }
    assert newest["initsize_bytes"] == 400 * 2**20


def test_point_that_is_stored_or_repeated_is_not_added_again(app: FastAPI) -> None:
    rows = ANSWERS.splitlines()
    add(app, "\n".join(rows[:2]))
    # The service gives the same answer to everyone who asks.
    again = add(app, "\n".join([*rows, rows[3]]).replace("J. Doe", "A. Roe")).json()
    assert (again["added"], again["known"]) == (2, 2)
    assert get(app, POINTS).json()["total"] == 3
    assert (add(app, ANSWERS).json()["added"], actions(app)) == (0, ["sizing-points.added"] * 2)


def test_file_with_an_error_stores_nothing(app: FastAPI) -> None:
    answer = add(app, ANSWERS + "26,application,1:6,200M,400M,1,6,zosmf,,,\n")
    assert answer.status == 422
    (problem,) = answer.json()["errors"]
    assert problem == {"field": "line 5, initsize", "message": "INITSIZE must not be above SIZE."}
    assert get(app, POINTS).json()["total"] == 0


def test_listed_points_are_read_as_rows_are(app: FastAPI) -> None:
    row = {"cfcc_level": 26, "structure_type": "application", "ratio": "1:6", "size": "200M", "initsize": 102400, "entries": 5, "origin": "sizer"}  # fmt: skip
    assert post_json(app, POINTS, {"points": [row]}).json()["points"][0]["initsize_bytes"] == 100 * 2**20
    wrong = post_json(app, POINTS, {"points": [row, {**row, "ratio": "6"}]})
    assert wrong.status == 422
    assert wrong.json()["errors"][0]["field"] == "/points/1/ratio"
    assert post_json(app, POINTS, {}).json()["errors"][0]["field"] == "text"


def test_display_uses_the_level_of_its_coupling_facility(app: FastAPI) -> None:
    refused = add(app, EMPTY)
    assert refused.status == 422
    assert "The CFCC level of CF01" in refused.text
    assert send_json(app, "PUT", "/api/v1/cf-levels/CF01", {"cfcc_level": 25}).status == 200
    found = add(app, IN_USE + EMPTY, release="z/OS 3.1", measured_on="2026-11-03").json()
    assert [(each["structure"], each["cfcc_level"], each["origin"]) for each in found["points"]] == [
        ("SQ03APP2", 25, "display")
    ]
    (left_out,) = found["left_out"]
    assert left_out["line"] == 1
    assert left_out["reason"].startswith("SQ03APP1 holds data: 12 entries and 72 elements are in use.")


@pytest.mark.parametrize("given", [{"ratio": "6"}, {"size": "much"}, {"measured_on": "today"}])
def test_incorrect_value_for_displays_is_refused(app: FastAPI, given: dict[str, str]) -> None:
    answer = add(app, EMPTY, cfcc_level=25, **given)
    assert answer.status == 422
    assert answer.json()["errors"][0]["field"] == next(iter(given))


def test_removed_point_is_recorded_and_leaves_curves_alone(app: FastAPI) -> None:
    add(app, answers_of(COSTS))
    version = call(app, "POST", f"{POINTS}/fit?cfcc_level=26").json()["version"]
    first = next(each for each in get(app, POINTS).json()["points"] if each["number"] == 1)
    assert call(app, "DELETE", f"{POINTS}/1").json() == first
    assert call(app, "DELETE", f"{POINTS}/1").status == 404
    assert get(app, POINTS).json()["total"] == 9
    assert len(get(app, f"/api/v1/curves/{version}/points").json()["points"]) == 10
    assert actions(app) == ["sizing-points.added", "curve.fitted", "sizing-points.removed"]


def test_fit_recovers_the_costs_of_the_answers(app: FastAPI) -> None:
    add(app, answers_of(COSTS))
    found = get(app, f"{POINTS}/fit?cfcc_level=26").json()
    assert (found["state"], found["points_used"], found["not_separable"]) == ("fitted", 10, [])
    for name, true in (
        ("base_bytes", COSTS.base),
        ("entry_cost_bytes", COSTS.entry),
        ("element_cost_bytes", COSTS.element),
        ("size_cost", COSTS.size),
    ):
        assert found[name]["low"] <= true <= found[name]["high"], name
    assert found["version"] is None
    assert found["sources"] == ["z/OSMF CF Sizing (z/OS 3.1), 10 points, measured by J. Doe, 2026-11-03"]


def test_stored_fit_is_a_curve_that_plans_name(app: FastAPI) -> None:
    add(app, answers_of(COSTS))
    stored = call(app, "POST", f"{POINTS}/fit?cfcc_level=26")
    assert stored.status == 201
    version = stored.json()["version"]
    again = call(app, "POST", f"{POINTS}/fit?cfcc_level=26").json()
    assert again["version"] == version, "an unchanged fit keeps its version"
    curve = get(app, f"/api/v1/curves/{version}").json()
    assert (curve["state"], curve["is_current"], curve["run_id"], curve["kind"]) == (
        "accepted",
        True,
        None,
        "two_costs",
    )
    plan = {**SQ03, "curve": {"fitted": version}, "cfcc_level": 26}
    result = post_json(app, "/api/v1/size?explain=true", plan)
    assert result.status == 200, result.text[:500]
    shown = result.json()
    assert shown["curve"]["fitted"]["size_cost"] == pytest.approx(COSTS.size, rel=0.2)
    application = next(at for at, each in enumerate(shown["structures"]) if each["role"] == "application")
    need = shown["explanations"][f"/structures/{application}/need_bytes"]
    source = f"fitted to sizing answers, version {version}, {curve['answers']['sources'][0]}"
    assert {each["source"] for each in need["inputs"] if each["name"].startswith("fitted_")} == {source}
    for kind in ("policy", "mqsc"):
        assert post_json(app, f"/api/v1/{kind}", plan).status == 200


def test_plan_that_the_points_cannot_support_is_refused(app: FastAPI) -> None:
    # One ratio, and SIZE one and a half times INITSIZE.
    add(app, answers_of(COSTS, rows=[(mib, 6, 1.5) for mib in (100, 400, 1000, 4000)]))
    found = call(app, "POST", f"{POINTS}/fit?cfcc_level=26").json()
    assert [each["code"] for each in found["findings"]] == ["SIZING_POINTS_NOT_SEPARABLE"] * 2
    plan = {**SQ03, "curve": {"fitted": found["version"]}, "cfcc_level": 26}
    assert post_json(app, "/api/v1/size", plan).status == 200
    for change in (
        {"size_factor": 2},
        {"structures": [{**SQ03["structures"][0], "entry_to_element_ratio": [1, 2]}]},
    ):
        refused = post_json(app, "/api/v1/size", {**plan, **change})
        assert refused.status == 422
        assert "CURVE_CANNOT_SUPPORT_PLAN" in refused.text


def test_points_without_a_curve_are_not_stored_as_one(app: FastAPI) -> None:
    add(app, "\n".join(ANSWERS.splitlines()[:3]))
    found = get(app, f"{POINTS}/fit?cfcc_level=26").json()
    assert found["state"] == "too_little"
    assert [each["code"] for each in found["findings"]] == ["SIZING_POINTS_WITHOUT_CURVE"]
    assert call(app, "POST", f"{POINTS}/fit?cfcc_level=26").status == 422
    assert get(app, f"{POINTS}/fit?cfcc_level=25").status == 404
    assert get(app, "/api/v1/curves").json()["total"] == 0


def test_point_that_contradicts_the_others_is_left_out_and_reported(app: FastAPI) -> None:
    # A digit too many.
    wrong = "26,application,1:6,400M,400M,1750000,10500000,zosmf,z/OS 3.1,J. Doe,2026-11-03\n"
    add(app, answers_of(COSTS) + wrong)
    found = get(app, f"{POINTS}/fit?cfcc_level=26").json()
    assert (found["state"], found["points_used"]) == ("fitted", 10)
    assert "SIZING_POINTS_LEFT_OUT" in {each["code"] for each in found["findings"]}


def test_wrong_point_among_few_is_reported_and_named(app: FastAPI) -> None:
    # Four answers of 24 000 000 + 2200 bytes an entry, the first with twice its entries.
    rows = [(10_000, "34M"), (50_000, "128M"), (200_000, "443M"), (500_000, "1072M")]
    text = "".join(
        f"26,application,1:6,{size},{size},{count},{6 * count},zosmf,z/OS 3.1,J. Doe,2026-11-03\n"
        for count, size in rows
    )
    add(app, ANSWERS.splitlines()[0] + "\n" + text)
    found = get(app, f"{POINTS}/fit?cfcc_level=26").json()
    (message,) = [
        each["message"] for each in found["findings"] if each["code"] == "SIZING_POINTS_NOT_ON_LINE"
    ]
    assert "z/OSMF CF Sizing 1 (10000 entries, 60000 elements, SIZE 34M, INITSIZE 34M; " in message


def test_fit_of_csq_admin_is_shown_but_not_stored(app: FastAPI) -> None:
    add(app, answers_of(COSTS).replace("application", "admin"))
    assert get(app, f"{POINTS}/fit?cfcc_level=26&type=admin").json()["kind"] == "admin"
    refused = call(app, "POST", f"{POINTS}/fit?cfcc_level=26&type=admin")
    assert refused.status == 422
    assert "A plan sizes CSQ_ADMIN with its published size" in refused.text


def test_nightly_run_and_usage_know_only_curves_of_runs(app: FastAPI) -> None:
    add(app, answers_of(COSTS))
    call(app, "POST", f"{POINTS}/fit?cfcc_level=26")
    store_night(app.state.database, curves=[fit_json()])
    with app.state.database.session(writes=False) as session:
        found = facts.facts_of(session, app.state.settings, today=None)
        assert [each.coupling_facility for each in found.current_curves] == ["CF01"]
        assert [each.coupling_facility for each in fits.newest_fits(session)] == ["CF01"]
        assert [each.origin for each in fits.current_fits(session)] == ["sizing answers", "CF01"]


def test_advice_narrows_the_intervals_of_stored_points(app: FastAPI) -> None:
    first = get(app, f"{POINTS}/advice?cfcc_level=26").json()
    assert len(first["sizings"]) == 10
    assert first["text"]
    add(app, answers_of(COSTS))
    assert get(app, f"{POINTS}/advice?cfcc_level=26").json()["text"] != first["text"]


def test_preview_of_a_fit_is_the_stored_curve(app: FastAPI) -> None:
    store_points(app.state.database, answers_of(COSTS))
    with app.state.database.session(writes=True) as session:
        shown = points.preview(session, 26, "application")
        version = points.save(session, 26, "application").version
        stored = fits.get_fit(session, version or 0)
    assert shown.points == stored.points
    assert fitted_curve(version=1, fit=shown) == fitted_curve(version=1, fit=stored)


# ---- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    path = tmp_path / "answers.csv"
    path.write_text(answers_of(COSTS))
    return path


def told(capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(capsys.readouterr().out)


def test_command_prints_the_fit_and_stores_nothing(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curves", "fit-points", str(answers), "--json"]) == 0
    found = told(capsys)
    for name in ("base_bytes", "entry_cost_bytes", "element_cost_bytes", "bundle_bytes", "size_cost"):
        assert found[name]["low"] <= found[name]["value"] <= found[name]["high"]
    assert found["not_separable"] == []
    assert not (answers.parent / "data").exists()
    assert main(["curves", "fit-points", str(answers)]) == 0
    shown = capsys.readouterr().out
    for part in (
        "Fit of 10 of 10 points, CFCC level 26, application structures: fitted",
        "Base [bytes]",
        "Control storage",
    ):
        assert part in shown


def test_command_with_save_stores_points_and_curve(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curves", "fit-points", str(answers), "--save", "--json"]) == 0
    found = told(capsys)
    assert (found["version"], found["added"], found["known"]) == (1, 10, 0)
    assert main(["curves", "fit-points", str(answers), "--save", "--json"]) == 0
    assert told(capsys)["version"] == 1
    assert main(["curves", "list"]) == 0
    assert (
        "answers  CFCC 26              accepted, current: base 21.5 MiB (21.0 MiB to 22.0 MiB)"
        in capsys.readouterr().out
    )
    app = create_app(Settings(data_dir=answers.parent / "data"))
    assert actions(app) == ["sizing-points.added", "curve.fitted"]
    app.state.database.close()


def test_command_without_a_curve_exits_with_1_and_keeps_the_points(
    answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers.write_text("\n".join(ANSWERS.splitlines()[:2]))
    assert main(["curves", "fit-points", str(answers), "--save", "--json"]) == 1
    found = told(capsys)
    assert (found["state"], found["version"], found["added"]) == ("too_little", None, 1)


def test_command_fits_points_of_several_levels_separately(
    answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers.write_text(answers_of(COSTS) + "25,application,1:6,200M,100M,32143,192853,zosmf,,,\n")
    assert main(["curves", "fit-points", str(answers)]) == 2
    message = capsys.readouterr().err
    assert "choose with --cfcc-level and --type" in message
    assert "10 at CFCC level 26 of application structures, 1 at CFCC level 25" in message
    assert main(["curves", "fit-points", str(answers), "--cfcc-level", "26", "--json"]) == 0
    assert told(capsys)["points"] == 10
    assert main(["curves", "fit-points", str(answers), "--cfcc-level", "24"]) == 2


def test_command_refuses_a_damaged_file_before_it_stores(
    answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers.write_text(ANSWERS.replace("1:6", "six"))
    assert main(["curves", "fit-points", str(answers), "--save"]) == 2
    assert "line 2, ratio: must be entries and elements" in capsys.readouterr().err
    assert main(["curves", "list", "--json"]) == 0
    assert told(capsys) == []


def test_command_with_warnings_as_errors_exits_with_1(answers: Path) -> None:
    answers.write_text(answers_of(COSTS, rows=[(mib, 6, 2.0) for mib in (100, 400, 1000, 4000)]))
    assert main(["curves", "fit-points", str(answers)]) == 0
    assert main(["curves", "fit-points", str(answers), "--fail-on", "warning"]) == 1


def test_command_reads_displays_with_their_level(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers.write_text(IN_USE + EMPTY)
    assert main(["curves", "fit-points", str(answers), "--cfcc-level", "25", "--json"]) == 1
    found = told(capsys)
    assert found["points"] == 1
    assert [each["line"] for each in found["left_out"]] == [1]


def test_command_lists_the_sizings_to_run_next(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curves", "advise", "--cfcc-level", "26"]) == 0
    assert capsys.readouterr().out.strip()
    assert not (answers.parent / "data").exists()
    assert main(["curves", "advise", str(answers), "--json"]) == 0
    assert len(told(capsys)["sizings"]) == 10
    assert main(["curves", "advise"]) == 2


def test_curve_of_another_type_of_data_is_refused_in_the_core(app: FastAPI) -> None:
    store_points(
        app.state.database, answers_of(COSTS, rows=[(mib, 2, 1.0) for mib in (100, 400, 1000, 4000)])
    )
    with app.state.database.session(writes=False) as session:
        shown = points.preview(session, 26, "application")
    assert shown.ratio == (1, 2)
    with pytest.raises(PlanRefused, match="at 1:2 only, but structures are allocated at 1:6"):
        fitted_curve(version=1, fit=shown)
