from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from app.texts.documents import example_text, read_text
from tests.app.fits.support import daily, forecast_json, store_night
from tests.app.fleet.support import fail_run, measure
from tests.serving import ANSWER_S, served

FINDING = {
    "code": "STRUCTURE_WAS_FULL", "severity": "error", "message": "MYDATA was full.", "source": "IBM MQ",
    "qsg": "SQ03", "structure": "MYDATA",
}  # fmt: skip


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a fleet: two plans, coupling facilities that are too small, a full structure, and a failed run."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data")), night_hour=None))
    facilities = [{"name": name, "size": "2G"} for name in ("CF01", "CF02")]
    measure(app, "APPLICATION1", 50, coupling_facilities="CF01")
    measure(app, "MYDATA", 100, coupling_facilities="CF02 CF01", is_duplexed=True)
    measure(app, "ORDERS", 85, qsg="SQ04", coupling_facilities="CF02")
    store_night(
        app.state.database,
        forecasts=[forecast_json(), forecast_json(structure="MYDATA")],
        days=daily(),
        findings=[FINDING],
    )
    fail_run(app)
    document = read_text(example_text().encode()).model_dump(mode="json")
    with served(app) as address:
        # Over the network, because the browser's driver already runs an event loop in this thread.
        for qsg in ("SQ03", "SQ05"):
            plan = document | {"qsg": qsg, "coupling_facilities": facilities}
            httpx.put(f"{address}/api/v1/plans/{qsg}", json=plan, timeout=ANSWER_S).raise_for_status()
        yield address
