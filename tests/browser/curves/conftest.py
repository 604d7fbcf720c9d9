from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from app.main import create_app
from app.plans import service
from app.settings import Settings
from tests.curves.support import daily, fit_json, forecast_json, store_night
from tests.plans.support import plan


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where an application is served after a night: two curves, a year of daily peaks and forecasts of it, a plan."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    store_night(
        app.state.database,
        curves=[fit_json(element=290.0), fit_json(coupling_facility="CF02", cfcc_level=None)],
        forecasts=[
            forecast_json(),
            forecast_json(measure="entries"),
            forecast_json(structure="TINY", state="too_short"),
        ],
        days=daily(days=366),
    )
    store_night(
        app.state.database,
        curves=[
            fit_json(state="rejected", reason="An element costs 231.4 bytes, but holds 256 bytes of data.")
        ],
        forecasts=[forecast_json(notes=["again"]), forecast_json(measure="entries", notes=["again"])],
    )
    with app.state.database.session(writes=True) as session:
        service.save_plan(session, "FITTED", plan(curve={"fitted": 1}))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=30)
