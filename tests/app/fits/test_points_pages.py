"""The pages about sizing points: list, forms, fit, and files."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import FastAPI

from app.fits.points_lists import POINTS
from tests.app.fits.support import ANSWERS, PointCosts, answers_of, store_points
from tests.app.fits.test_points import EMPTY, IN_USE
from tests.app.web.pages.html import read
from tests.app.web.support import Answer, call, get

FORM = "application/x-www-form-urlencoded"


def post(app: FastAPI, path: str, **fields: str) -> Answer:
    return call(
        app,
        "POST",
        path,
        chunks=[urlencode(fields).encode()],
        headers={"content-type": FORM, "accept": "text/html"},
    )


def html(app: FastAPI, path: str) -> str:
    answer = get(app, path, accept="text/html")
    assert answer.status == 200, answer.text[:500]
    return answer.text


def test_pasted_file_is_added_and_reported(app: FastAPI) -> None:
    answer = post(app, "/sizing-points", text=ANSWERS)
    assert (answer.status, answer.headers["location"]) == (303, "/sizing-points?added=3&known=0")
    assert "Added 3 points." in html(app, "/sizing-points?added=3&known=0")
    again = post(app, "/sizing-points", text=ANSWERS).headers["location"]
    assert "Added 0 points. 3 were stored before or repeated, and not added again." in html(app, again)


def test_damaged_file_is_shown_again_with_every_error(app: FastAPI) -> None:
    answer = post(app, "/sizing-points", text=ANSWERS.replace("1:6", "six"))
    assert answer.status == 422
    for line in (2, 3, 4):
        assert (
            f"Line {line}, ratio: must be entries and elements, such as 1:6, not &#39;six&#39;."
            in answer.text
        )
    assert "32143,192853" in answer.text, "the text stays in its field"
    assert post(app, "/sizing-points").status == 422


def test_one_answer_is_added_with_separators_in_its_numbers(app: FastAPI) -> None:
    answer = {
        "cfcc_level": "26", "structure_type": "application", "ratio": "1:6", "size": "200M", "initsize": "100M",
        "entries": "32,143", "elements": "192 853", "origin": "sizer",
    }  # fmt: skip
    typed = {f"answer-{name}": text for name, text in answer.items()}
    assert post(app, "/sizing-points/one", **typed).status == 303
    wrong = post(app, "/sizing-points/one", **{**typed, "answer-initsize": "300M", "answer-cfcc_level": ""})
    assert wrong.status == 422
    assert "CFCC level is missing." in wrong.text
    assert read(wrong.text).one("input", id="answer-initsize")["value"] == "300M"


def test_selected_points_are_removed(app: FastAPI) -> None:
    store_points(app.state.database)
    answer = post(app, "/sizing-points/remove", remove="2")
    assert answer.headers["location"] == "/sizing-points?removed=1"
    assert "Removed 1 point." in html(app, "/sizing-points?removed=1")
    assert get(app, "/api/v1/sizing-points").json()["total"] == 2


def test_downloaded_points_can_be_imported_again(app: FastAPI) -> None:
    store_points(app.state.database)
    text = get(app, "/sizing-points.csv?sort=number").text
    assert text.splitlines()[0].startswith(
        "cfcc_level,structure_type,ratio,size,initsize,entries,elements,origin"
    )
    assert post(app, "/sizing-points", text=text).headers["location"] == "/sizing-points?added=0&known=3"
    template = get(app, "/sizing-points/template.csv").text
    assert post(app, "/sizing-points", text=template).headers["location"] == "/sizing-points?added=1&known=0"


def test_list_is_filtered_and_sorted_by_every_key(app: FastAPI) -> None:
    store_points(app.state.database)
    for key in POINTS.keys:
        for sort in (key, f"-{key}"):
            assert get(app, f"/sizing-points.csv?sort={sort}").status == 200
            html(app, f"/sizing-points?sort={sort}")
    assert "No sizing point contains" in html(app, "/sizing-points?search=nobody")
    assert html(app, "/sizing-points?search=DOE").count("J. Doe") == 3
    assert get(app, "/sizing-points?sort=colour", accept="text/html").status == 422


def test_displays_without_a_point_are_listed_after_an_import(app: FastAPI) -> None:
    answer = post(app, "/sizing-points", text=IN_USE + EMPTY, **{"display-cfcc_level": "25"})
    assert answer.status == 200
    assert "Displays without a point" in answer.text
    assert "SQ03APP1 holds data" in answer.text
    wrong = post(app, "/sizing-points", text=EMPTY, **{"display-cfcc_level": "250"})
    assert wrong.status == 422
    assert "Cfcc_level: must be between 1 and 99, not 250." in wrong.text


def test_fit_page_shows_figures_findings_and_advice(app: FastAPI) -> None:
    store_points(app.state.database)
    page = html(app, "/sizing-points/fit?cfcc_level=26")
    assert "SIZING_POINTS_NOT_SEPARABLE" in page
    assert "10 sizings for CFCC level 26" in page
    assert get(app, "/sizing-points/advice.txt?cfcc_level=26").text in page.replace("&#39;", "'")
    stored = post(app, "/sizing-points/fit", cfcc_level="26", type="application")
    assert (stored.status, stored.headers["location"]) == (303, "/curves/1")
    assert "The current curve of these points is" in html(app, "/sizing-points/fit?cfcc_level=26")
    curve = html(app, "/curves/1")
    for part in ("of sizing answers", "The current curve of the sizing points at this level", "Points from"):
        assert part in curve
    assert "nightly run" not in curve


def test_curve_with_a_cost_of_size_shows_it(app: FastAPI) -> None:
    store_points(app.state.database, answers_of(PointCosts()))
    assert "% of SIZE" in html(app, "/sizing-points/fit?cfcc_level=26")
    post(app, "/sizing-points/fit", cfcc_level="26")
    assert "Controls for SIZE" in html(app, "/curves/1")
    assert "sizing answers" in html(app, "/curves")


def test_points_without_a_curve_are_explained(app: FastAPI) -> None:
    store_points(app.state.database, "\n".join(ANSWERS.splitlines()[:2]))
    page = html(app, "/sizing-points/fit?cfcc_level=26")
    assert "These points do not determine a curve yet." in page
    assert "Store this fit" not in page
    refused = post(app, "/sizing-points/fit", cfcc_level="26")
    assert refused.status == 422
    assert "has no curve that a plan can use" in refused.text
    for address in ("?cfcc_level=0", "?cfcc_level=26&type=lock", "?cfcc_level=25", ""):
        assert get(app, f"/sizing-points/fit{address}", accept="text/html").status == 404
