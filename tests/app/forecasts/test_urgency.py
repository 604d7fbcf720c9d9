"""Pages, REST and commands list full structures first, from what the nightly run stored."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy.orm import Session

from app import cli
from app.main import create_app
from app.nightly import repository, urgency
from app.nightly.models import StoredForecast
from app.settings import Settings
from tests.app.fits.support import MADE_ON, crossing_json, daily, forecast_json, store_night
from tests.app.fits.test_pages import page, table
from tests.app.web.support import get

FULL_ON = MADE_ON - timedelta(days=2)
PERCENT_100: dict[str, Any] = {"elements_peak": 131_072}


def days_of(
    structure: str, *, on: date = FULL_ON, qsg: str = "SQ03", **values: object
) -> list[dict[str, object]]:
    """Return daily peaks with these values on one day."""
    return [
        each | (values if each["day"] == on.isoformat() else {})
        for each in daily(qsg=qsg, structure=structure, days=30)
    ]


def quiet(structure: str, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - members of a forecast
    """Return a forecast that crosses no level."""
    return forecast_json(
        structure=structure, crossings=[crossing_json("SIZE", 131_072, None, None, None)], **members
    )


FAST = {"p10": 0.1, "p50": 0.2, "p90": 0.3}


def fill(app: FastAPI) -> None:
    """Store forecasts: PAYMENTS fills up soon; TRADES, full 102 times, and STUCK, full now, do not grow."""
    store_night(
        app.state.database,
        forecasts=[
            forecast_json(structure="PAYMENTS", middle=27),
            quiet("TRADES", measure="entries"),
            quiet("TRADES"),
            quiet("STUCK", growth_per_30_days=None),
            quiet("LARGE", measure="smds_blocks", queue_manager="CSQ1", growth_per_30_days=FAST),
        ],
        days=[
            *days_of("PAYMENTS"),
            *days_of("TRADES", full_count=102, **PERCENT_100),
            *days_of("STUCK", on=MADE_ON, **PERCENT_100),
            *days_of(
                "LARGE", smds=[{"queue_manager": "CSQ1", "blocks_peak": 400, "blocks_total": 400}]
            ),
        ],
    )  # fmt: skip


@pytest.fixture
def full(app: FastAPI) -> FastAPI:
    fill(app)
    return app


ORDER = [
    ("STUCK", "elements"), ("TRADES", "elements"), ("TRADES", "entries"), ("LARGE", "smds_blocks"), ("PAYMENTS", "elements"),
]  # fmt: skip


def test_rest_lists_full_structures_first(full: FastAPI) -> None:
    found = get(full, "/api/v1/forecasts").json()["forecasts"]
    assert [(each["structure"], each["measure"]) for each in found] == ORDER
    assert found[0]["fullness"] == {
        "state": "full_now", "count": 0, "days": 1, "since": MADE_ON.isoformat(), "last": MADE_ON.isoformat(),
        "sentence": "Full now, on 2026-11-20",
    }  # fmt: skip
    assert found[1]["fullness"]["count"] == 102
    assert found[1]["fullness"]["sentence"] == "Full 102 times since 2026-11-18"
    assert found[3]["fullness"]["state"] == "was_full"
    assert found[4]["fullness"] is None


def test_rest_pages_keep_the_order_of_urgency(full: FastAPI) -> None:
    found = [
        get(full, f"/api/v1/forecasts?per_page=2&page={number}").json()["forecasts"] for number in (1, 2, 3)
    ]
    assert [(each["structure"], each["measure"]) for part in found for each in part] == ORDER


def test_page_lists_full_structures_first(full: FastAPI) -> None:
    rows = table(page(full, "/forecasts"), "forecasts")[1:]
    assert [row[0] for row in rows] == [structure for structure, _ in ORDER]
    assert "Structure full now" in rows[0][3]
    assert "Structure full 102 times since 2026-11-18" in rows[1][3]
    assert "Data set full on 2026-11-18" in rows[3][3]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("-urgency", ["PAYMENTS", "LARGE", "TRADES", "TRADES", "STUCK"]),
        ("structure", ["LARGE", "PAYMENTS", "STUCK", "TRADES", "TRADES"]),
        ("qsg", ["STUCK", "TRADES", "TRADES", "LARGE", "PAYMENTS"]),
        ("measure", ["STUCK", "TRADES", "PAYMENTS", "TRADES", "LARGE"]),
        ("-used_percent", ["STUCK", "TRADES", "LARGE", "TRADES", "PAYMENTS"]),
        ("crossing_day", ["PAYMENTS", "STUCK", "TRADES", "TRADES", "LARGE"]),
        ("-probability", ["PAYMENTS", "STUCK", "TRADES", "TRADES", "LARGE"]),
        ("growth_per_30_days", ["TRADES", "TRADES", "PAYMENTS", "LARGE", "STUCK"]),
        ("-growth_per_30_days", ["LARGE", "TRADES", "TRADES", "PAYMENTS", "STUCK"]),
    ],
)
def test_list_file_and_rest_have_the_requested_order(full: FastAPI, sort: str, expected: list[str]) -> None:
    rows = table(page(full, f"/forecasts?sort={sort}"), "forecasts")[1:]
    assert [row[0] for row in rows] == expected
    lines = csv.DictReader(io.StringIO(get(full, f"/forecasts.csv?sort={sort}").text))
    assert [line["structure"] for line in lines] == expected
    found = get(full, f"/api/v1/forecasts?sort={sort}").json()["forecasts"]
    assert [each["structure"] for each in found] == expected


def test_list_is_filtered_by_name(full: FastAPI) -> None:
    rows = table(page(full, "/forecasts?search=pay"), "forecasts")[1:]
    assert [row[0] for row in rows] == ["PAYMENTS"]
    assert get(full, "/api/v1/forecasts?search=pay").json()["total"] == 1
    assert (
        "No name in the list of forecasts contains “nothing”" in page(full, "/forecasts?search=nothing").text
    )


def test_file_has_the_next_limit_with_its_interval(full: FastAPI) -> None:
    lines = csv.DictReader(io.StringIO(get(full, "/forecasts.csv?search=payments").text))
    (line,) = lines
    assert (line["urgency"], line["level"], line["crossing_day"]) == ("85 % in 27 days", "85 %", "2026-12-17")
    assert (line["crossing_p10"], line["crossing_p90"], line["made_on"]) == (
        "2026-12-21", "2027-01-29", "2026-11-20",
    )  # fmt: skip


def test_unknown_sort_key_is_refused(full: FastAPI) -> None:
    for address in ("/forecasts", "/forecasts.csv", "/api/v1/forecasts"):
        answer = get(full, f"{address}?sort=growth")
        assert answer.status == 422
        assert "It can be sorted by" in answer.json()["detail"]


def test_overview_names_full_structures_before_the_next_to_fill(full: FastAPI) -> None:
    actions = [" ".join(each.text.split()) for each in page(full, "/").one("ol", class_="todo").all("li")]
    assert "STUCK of SQ03 Full now, on 2026-11-20." in actions[0]
    assert "TRADES of SQ03 Full 102 times since 2026-11-18." in actions[1]
    assert "LARGE of SQ03 Data set of CSQ1: full on 2026-11-18." in actions[2]
    assert "PAYMENTS of SQ03" in actions[3]


def test_structure_page_reports_how_often_the_structure_was_full(full: FastAPI) -> None:
    text = page(full, "/forecasts/SQ03/TRADES").one("main").text
    assert text.count("full 102 times since 2026-11-18") == 1
    assert "full" not in page(full, "/forecasts/SQ03/PAYMENTS").one("main").text.lower().split("resize")[0]


def test_command_lists_full_structures_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    made = create_app(Settings(data_dir=tmp_path / "data"))
    fill(made)
    made.state.database.close()
    assert cli.main(["forecasts", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == [structure for structure, _ in ORDER]
    assert "Full 102 times since 2026-11-18." in lines[1]
    assert cli.main(["forecasts", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(each["structure"], each["measure"]) for each in listed] == ORDER
    assert listed[1]["fullness"]["since"] == "2026-11-18"


def test_structures_full_over_a_week_ago_are_listed_by_their_forecast(app: FastAPI) -> None:
    store_night(
        app.state.database,
        forecasts=[quiet("OLD"), forecast_json(structure="SOON", middle=30)],
        days=[*days_of("OLD", on=MADE_ON - timedelta(days=7), full_count=5), *days_of("SOON")],
    )
    found = get(app, "/api/v1/forecasts").json()["forecasts"]
    assert [(each["structure"], each["fullness"]) for each in found] == [("SOON", None), ("OLD", None)]


def test_file_of_forecasts_is_read_in_portions(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["S1", "S2", "S3", "S4", "S5"]
    store_night(app.state.database, forecasts=[forecast_json(structure=name) for name in names])
    portions: list[int] = []
    whole = repository.forecasts_by_id

    def counted(session: Session, forecast_ids: Sequence[int]) -> Mapping[int, StoredForecast]:
        portions.append(len(forecast_ids))
        return whole(session, forecast_ids)

    monkeypatch.setattr(urgency, "PORTION", 2)
    monkeypatch.setattr(repository, "forecasts_by_id", counted)
    found = get(app, "/forecasts.csv?sort=-structure")
    assert [row["structure"] for row in csv.DictReader(io.StringIO(found.text))] == names[::-1]
    assert portions == [2, 2, 1]
