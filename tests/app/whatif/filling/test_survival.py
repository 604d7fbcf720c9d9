"""The probability of surviving an outage from stored roll-ups: their sums, REST, the command, and the page."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from app.cli import main
from app.main import create_app
from app.settings import Settings
from app.usage import repository
from app.whatif.survival_usage import measurements_in
from planner_core.document.reading import read_object
from planner_core.whatif.survival import survival
from planner_core.whatif.survival_answer import MeasuredGrowth, SurvivalQuestion
from tests.app.fits.support import MADE_ON, forecast_json, store_night
from tests.app.usage.support import MONDAY, queue_hour, store
from tests.app.web.pages.html import read
from tests.app.web.support import assert_problem, get, post_json, send_json
from tests.app.whatif.filling.survival_hours import puts_of, store_weeks
from tests.planner_core.whatif.filling.plans import queue, structure

PLAN = structure(
    [queue("PAYMENTS.IN", put_rate_per_s=100), queue("ORDERS.IN", message_bytes=9000, put_rate_per_s=25)],
    initsize="2G",
    size="3G",
)
DOCUMENT: dict[str, Any] = PLAN.model_dump(mode="json", exclude_defaults=True)
AT = "/plans/SURVIVES/versions/1/structures/APP1/survival"
EDGES = (0, 4096, 32_768, 64_512)
HOURS_LEFT_OUT = frozenset({30, 31, 32})


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[FastAPI, Path]:
    """Return an application with three weeks of usage, one day of which is incomplete, and its data folder."""
    folder = Path(tmp_path_factory.mktemp("survival"))
    made = create_app(Settings(data_dir=folder))
    store_weeks(made, 21, but=HOURS_LEFT_OUT)
    assert send_json(made, "PUT", "/api/v1/plans/SURVIVES", DOCUMENT).status == 201
    return made, folder


def test_put_bands_add_up_queues_by_their_mean_size(measured: tuple[FastAPI, Path]) -> None:
    app, _ = measured
    with app.state.database.session(writes=False) as session:
        rows = repository.put_bands(
            session, "SQ03", "APP1", first=MONDAY + timedelta(hours=9), past=MONDAY + timedelta(hours=10),
            edges=EDGES, header_bytes=372, element_bytes=256,
        )  # fmt: skip
    found = {row.band: (int(row.puts), float(row.elements), int(row.puts_without_bytes)) for row in rows}
    # 2,048 bytes and 372 in whole elements of 256: 10. A mean of 9,000 in messages of several sizes: at most 9,627/256.
    assert found == {
        1: (400_000, 4_000_000.0, 0),
        2: (100_000, pytest.approx(100_000 * (9_000 + 372 + 255) / 256), 0),
    }


def test_put_bands_have_an_upper_edge_and_count_puts_without_bytes(app: FastAPI) -> None:
    sizes = {"AT.4K": 4096, "ABOVE.4K": 4097, "AT.63K": 64_512, "ABOVE.63K": 64_513}
    lines = [
        queue_hour(0, structure="EDGES", queue=name, puts=3, put_bytes=3 * size)
        for name, size in sizes.items()
    ]
    lines.append(queue_hour(1, structure="EDGES", queue="UNSIZED", puts=5, put_bytes=None))
    store(app, lines)
    with app.state.database.session(writes=False) as session:
        rows = repository.put_bands(
            session, "SQ03", "EDGES", first=MONDAY, past=MONDAY + timedelta(hours=2),
            edges=EDGES, header_bytes=372, element_bytes=256,
        )  # fmt: skip
    first = {row.band: int(row.puts) for row in rows if row.hour == MONDAY}
    assert first == {1: 3, 2: 3, 3: 3, 4: 3}
    assert [int(row.puts_without_bytes) for row in rows if row.hour != MONDAY] == [5]
    found = measurements_in(app.state.database)("SQ03", "EDGES", edges=EDGES, header_bytes=372, most_days=91)
    assert found is not None
    # Without their sizes, the elements of these puts are not known, so the hour is not measured.
    assert [hour.puts is None for hour in found.hours] == [False, True]


def test_measurements_have_puts_fill_limits_and_growth(measured: tuple[FastAPI, Path]) -> None:
    app, _ = measured
    found = measurements_in(app.state.database)("SQ03", "APP1", edges=EDGES, header_bytes=372, most_days=91)
    assert found is not None
    assert len(found.hours) == 21 * 24
    nine = found.hours[9]
    assert list(nine.puts or ()) == [0, puts_of(9), puts_of(9) // 4, 0, 0]
    assert (nine.entries_in_use, nine.elements_in_use) == (500, 4_500)
    assert [hour.hour for hour in found.hours if hour.puts is None] == [
        MONDAY + timedelta(hours=at) for at in sorted(HOURS_LEFT_OUT)
    ]
    assert (found.entries_total, found.elements_total) == (900_000, 5_400_000)
    find = measurements_in(app.state.database)
    assert find("SQ03", "NONE", edges=EDGES, header_bytes=372, most_days=91) is None
    assert find("SQ\0", "APP1", edges=EDGES, header_bytes=372, most_days=91) is None


def test_measurements_take_the_growth_from_the_forecast_of_entries(app: FastAPI) -> None:
    growth = {"p10": 0.01, "p50": 0.02, "p90": 0.03}
    store_night(
        app.state.database,
        forecasts=[
            forecast_json(structure="GROWS", measure="entries", growth_per_30_days=growth),
            forecast_json(structure="GROWS", measure="elements"),
        ],
    )
    store(app, [queue_hour(0, structure="GROWS")])
    found = measurements_in(app.state.database)("SQ03", "GROWS", edges=EDGES, header_bytes=372, most_days=91)
    assert found is not None
    assert found.growth == MeasuredGrowth(0.01, 0.02, 0.03, MADE_ON)


def test_rest_and_command_return_the_core_result(
    measured: tuple[FastAPI, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, folder = measured
    asked = SurvivalQuestion.read({"structure": ["APP1"], "minutes": ["120"], "explain": ["true"]})
    expected = survival(PLAN, asked, measurements=measurements_in(app.state.database)).as_json()
    assert 0 < expected["probability"] < 1
    assert expected["interval"][0] < expected["probability"] < expected["interval"][1]
    assert (expected["basis"]["days"], expected["basis"]["days_left_out"]) == (20, 1)
    answer = post_json(app, "/api/v1/whatif/survival?structure=APP1&minutes=120&explain=true", DOCUMENT)
    assert (answer.status, answer.json()) == (200, expected)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(folder))
    arguments = [
        "whatif",
        "survival",
        str(path),
        "--structure",
        "APP1",
        "--minutes",
        "120",
        "--explain",
        "--json",
    ]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == expected


def test_command_without_a_database_says_that_nothing_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "none"))
    assert main(["whatif", "survival", str(path), "--fail-on", "warning"]) == 1
    assert "No puts to queues of APP1 of SQ03 were measured" in capsys.readouterr().out
    assert not (tmp_path / "none" / "cfplan.db").exists()
    assert main(["whatif", "survival", str(path), "--day", " ".join(["1000"] * 24)]) == 0
    assert "does not become full is 100 %" in capsys.readouterr().out


def test_rest_names_parameters_that_are_wrong(app: FastAPI) -> None:
    query = "minutes=long&day=1%202&at=none"
    answer = post_json(app, f"/api/v1/whatif/survival?{query}", DOCUMENT)
    problem = assert_problem(answer, "input-refused", 422)
    assert {each["field"] for each in problem["errors"]} == {"minutes", "day", "at"}


def test_page_shows_the_probability_in_words_in_a_chart_and_in_a_table(
    measured: tuple[FastAPI, Path],
) -> None:
    app, _ = measured
    answer = get(app, f"{AT}?minutes=120", Accept="text/html")
    assert answer.status == 200
    core = survival(PLAN, SurvivalQuestion(minutes=120), measurements=measurements_in(app.state.database))
    shown = read(answer.text)
    assert core.sentences[0] in " ".join(shown.text.split())
    drawn = [each for each in shown.all("svg") if each.attributes.get("role") == "img"]
    assert len(drawn) == 2  # for wide and for narrow pages
    assert "20 measured, 2026-11-16 to 2026-12-06; 1 incomplete day left out" in " ".join(shown.text.split())
    bold = [each for each in shown.all("tr") if "is-asked" in each.attributes.get("class", "")]
    assert [each.one("th").text for each in bold] == ["120"]


def test_page_takes_one_day_from_each_line(measured: tuple[FastAPI, Path]) -> None:
    app, _ = measured
    line = "%20".join(["9000"] * 24)
    answer = get(app, f"{AT}?days={line}%0D%0A{line}&message_bytes=2000", Accept="text/html")
    assert answer.status == 200
    assert "2 given" in read(answer.text).text


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("days=1%202%203", "days-error", "Day 1: Must have 24"),
        ("days=" + "%0A".join(["1%20" * 24] * 8), "days-error", "Enter at most 7 days."),
        ("message_bytes=100", "message_bytes-error", "Applies only to puts"),
        ("minutes=-1", "minutes-error", "Must be between 0 and 10080."),
        ("days=" + "1%20" * 24 + "&at=allocated", "", "Must be initsize or size"),
    ],
)
def test_page_shows_an_error_at_its_field(
    measured: tuple[FastAPI, Path], query: str, field: str, words: str
) -> None:
    app, _ = measured
    answer = get(app, f"{AT}?{query}", Accept="text/html")
    assert answer.status == 422
    shown = read(answer.text)
    if field:
        assert words in next(each for each in shown.all("p") if each.attributes.get("id") == field).text
        assert f'href="#{field.removesuffix("-error")}"' in answer.text
    assert words in shown.text


def test_page_of_a_structure_without_usage_says_what_is_needed(app: FastAPI) -> None:
    plan = {**DOCUMENT, "qsg": "SQ09"}
    assert read_object(plan).qsg == "SQ09"
    assert send_json(app, "PUT", "/api/v1/plans/UNSEEN", plan).status == 201
    answer = get(app, "/plans/UNSEEN/versions/1/structures/APP1/survival", Accept="text/html")
    assert answer.status == 200
    assert "No puts to queues of APP1 of SQ09 were measured." in read(answer.text).text


def test_probability_agrees_with_a_count_of_the_starts(measured: tuple[FastAPI, Path]) -> None:
    """Busy hours of working days put ten times as much, so whether an outage is survived depends on its start."""
    app, _ = measured
    found = survival(
        PLAN, SurvivalQuestion(minutes=60, rules=()), measurements=measurements_in(app.state.database)
    )
    assert found.without_offload is not None
    assert found.elements is not None
    # In a busy minute 400,000 / 60 messages with 10 elements and a quarter as many with 37.6 come, in a quiet one a tenth.
    busy = (400_000 * 10 + 100_000 * (9_000 + 372 + 255) / 256) / 60
    lasts_busy = (found.elements - 4_500) / busy
    # Within the busy hours an outage of this length is survived, of a little more not.
    assert found.without_offload.longest[0].minutes == pytest.approx(
        math.floor(lasts_busy * 10) / 10, abs=0.2
    )
