"""The outlook of a structure: the history of each measure."""

from __future__ import annotations

from datetime import timedelta

from fastapi import FastAPI

from app.forecasts.service import MeasuredDay, outlooks
from tests.app.fits.support import MADE_ON, QSG, STRUCTURE, forecast_json, store_night

BEFORE = MADE_ON - timedelta(days=1)


def test_outlook_has_separate_peaks_and_totals_for_each_measure(app: FastAPI) -> None:
    store_night(
        app.state.database,
        forecasts=[
            forecast_json(measure="entries"),
            forecast_json(measure="elements"),
            forecast_json(measure="smds_blocks", queue_manager="CSQ1"),
            forecast_json(measure="smds_blocks", queue_manager="CSQ2"),
        ],
        days=[
            {
                "qsg": QSG, "structure": STRUCTURE, "day": day.isoformat(), "size_bytes": 2**26, "full_count": 0,
                "entries_peak": 11 + nth, "entries_total": 101 + nth, "elements_peak": 31 + nth, "elements_total": 301 + nth,
                "smds": smds, "is_simulated": False,
            }
            for nth, day, smds in [
                (0, BEFORE, [
                    {"queue_manager": "CSQ1", "blocks_peak": 5, "blocks_total": 50},
                    {"queue_manager": "CSQ2", "blocks_peak": 7, "blocks_total": 70},
                ]),
                (1, MADE_ON, [{"queue_manager": "CSQ2", "blocks_peak": 8, "blocks_total": 80}]),
            ]
        ],
    )  # fmt: skip

    with app.state.database.session(writes=False) as session:
        found = outlooks(session, QSG, STRUCTURE)

    assert {(each.measure, each.queue_manager): each.peaks for each in found} == {
        ("entries", None): (MeasuredDay(BEFORE, 11, 101), MeasuredDay(MADE_ON, 12, 102)),
        ("elements", None): (MeasuredDay(BEFORE, 31, 301), MeasuredDay(MADE_ON, 32, 302)),
        ("smds_blocks", "CSQ1"): (MeasuredDay(BEFORE, 5, 50),),
        ("smds_blocks", "CSQ2"): (MeasuredDay(BEFORE, 7, 70), MeasuredDay(MADE_ON, 8, 80)),
    }
