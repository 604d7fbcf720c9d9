"""Metrics about structures, forecasts and coupling facilities."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from app.main import create_app
from app.settings import Settings
from tests.app.accounts.support import add_token, add_user, app_with_accounts, bearer
from tests.app.fits.support import MADE_ON, crossing_json, fit_json, forecast_json, store_night
from tests.app.fleet.support import LAST_HOUR, measure, save_plan
from tests.app.web.support import get

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
Labels = tuple[tuple[str, str], ...]
SERIES = {"qsg": "SQ03", "structure": "APPLICATION1", "measure": "elements", "queue_manager": ""}


def samples(app: FastAPI) -> dict[str, dict[Labels, float]]:
    """Return the values of a scrape by name and labels."""
    answer = get(app, "/metrics", accept=OPENMETRICS)
    assert answer.status == 200
    found: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def key(**labels: str) -> Labels:
    return tuple(sorted(labels.items()))


def seconds(day: date) -> float:
    return datetime.combine(day, time(), UTC).timestamp()


def test_structure_metrics_equal_the_overview(own_app: FastAPI) -> None:
    measure(own_app, "APPLICATION1", 40, size_mib=512)
    measure(own_app, "FULL", 100)
    found = samples(own_app)
    for each in get(own_app, "/api/v1/fleet").json()["structures"]:
        labels = key(qsg=each["qsg"], structure=each["structure"])
        assert found["cfplan_structure_used_ratio"][labels] == pytest.approx(each["used_percent"] / 100)
        assert found["cfplan_structure_size_bytes"][labels] == each["size_bytes"]
        assert found["cfplan_structure_full"][labels] == float(each["full"] is not None)
        assert found["cfplan_structure_measured_timestamp_seconds"][labels] == LAST_HOUR.timestamp()
    assert found["cfplan_structures"] == {(): 2}
    assert found["cfplan_structures_omitted"] == {(): 0}
    assert found["cfplan_data_timestamp_seconds"] == {key(qsg="SQ03"): LAST_HOUR.timestamp()}


def test_limits_have_the_median_and_both_bounds(own_app: FastAPI) -> None:
    passed = {**crossing_json("75 %", 75_000, None, None, None), "state": "already_crossed"}
    crossings = [
        passed,
        crossing_json("85 %", 85_000, 5, 12, 40),
        crossing_json("SIZE", 100_000, 30, None, None),
    ]
    store_night(own_app.state.database, forecasts=[forecast_json(crossings=crossings)])
    found = samples(own_app)
    dates = found["cfplan_limit_timestamp_seconds"]
    of_85 = {**SERIES, "level": "85 %"}
    for estimate, days in (("lower", 5), ("median", 12), ("upper", 40)):
        assert dates[key(**of_85, estimate=estimate)] == seconds(MADE_ON + timedelta(days=days))
    of_size = {labels for labels in dates if ("level", "SIZE") in labels}
    assert of_size == {key(**SERIES, level="SIZE", estimate="lower")}
    assert found["cfplan_limit_value"][key(**of_85)] == 85_000
    assert found["cfplan_limit_passed"] == {
        key(**SERIES, level="75 %"): 1,
        key(**of_85): 0,
        key(**SERIES, level="SIZE"): 0,
    }
    assert found["cfplan_forecast_timestamp_seconds"] == {key(**SERIES): seconds(MADE_ON)}


def test_coupling_facilities_have_the_names_of_ibm(own_app: FastAPI) -> None:
    facilities = [{"name": "CF01", "size": "8G", "cfcc_level": 25}, {"name": "CF02", "cfcc_level": 25}]
    save_plan(own_app, coupling_facilities=facilities)
    found = samples(own_app)
    (known, unknown) = get(own_app, "/api/v1/fleet").json()["coupling_facilities"]
    assert unknown["storage_mib"] is None
    labels = key(name="CF01")
    size, free = known["storage_mib"] * 2**20, known["white_space_mib"] * 2**20
    assert found["mvs_cf_storage_size_bytes"] == {labels: size}
    assert found["mvs_cf_storage_available_bytes"] == {labels: free}
    assert found["mvs_cf_storage_utilized_percent"][labels] == pytest.approx(100 * (size - free) / size)
    assert set(found["cfplan_cf_structures"]) == {key(name="CF01"), key(name="CF02")}


def test_current_fits_have_an_age(own_app: FastAPI) -> None:
    store_night(own_app.state.database, curves=[fit_json()])
    found = samples(own_app)
    labels = key(coupling_facility="CF01", cfcc_level="25")
    assert found["cfplan_fit_data_timestamp_seconds"] == {labels: seconds(date(2026, 11, 19))}
    assert set(found["cfplan_fit_timestamp_seconds"]) == {labels}


def test_only_the_most_urgent_structures_have_metrics(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, metrics_structures=2))
    for name, percent in (("LOW", 10), ("HIGH", 95), ("FULL", 100)):
        measure(app, name, percent)
    forecasts = [
        forecast_json(structure=name, crossings=[crossing_json("SIZE", 1, 170, 175, None)])
        for name in ("LOW", "FULL")
    ]
    store_night(app.state.database, forecasts=forecasts)
    found = samples(app)
    shown = {dict(labels)["structure"] for labels in found["cfplan_structure_used_ratio"]}
    assert len(shown) == 2
    assert "FULL" in shown
    assert {dict(labels)["structure"] for labels in found["cfplan_limit_passed"]} <= shown
    assert (found["cfplan_structures"][()], found["cfplan_structures_omitted"][()]) == (3, 1)


def test_zero_structures_leave_out_the_capacity(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, metrics_structures=0))
    measure(app, "APPLICATION1", 40)
    assert "cfplan_capacity_up" not in samples(app)


def test_simulated_structures_count_only_while_there_are_no_others(own_app: FastAPI) -> None:
    measure(own_app, "APPL1", 40, qsg="SIM1")
    assert samples(own_app)["cfplan_structures"] == {(): 1}
    measure(own_app, "APPLICATION1", 40)
    found = samples(own_app)
    assert set(found["cfplan_structure_used_ratio"]) == {key(qsg="SQ03", structure="APPLICATION1")}
    assert set(found["cfplan_data_timestamp_seconds"]) == {key(qsg="SQ03")}


def test_structures_that_cannot_be_read_leave_the_other_metrics(
    own_app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        message = "the disk is gone"
        raise OSError(message)

    monkeypatch.setattr("app.monitoring.capacity.state_of_fleet", fail)
    found = samples(own_app)
    assert found["cfplan_capacity_up"] == {(): 0}
    assert found["cfplan_database_up"] == {(): 1}


def test_capacity_needs_a_token_of_a_viewer(tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    measure(app, "APPLICATION1", 40)
    add_user(app, "grafana", "viewer")
    assert get(app, "/metrics").status == 401
    answer = get(app, "/metrics", **bearer(add_token(app, "grafana", "viewer")))
    assert answer.status == 200
    assert "cfplan_structure_used_ratio" in answer.text
