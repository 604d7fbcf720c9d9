from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from tests.app.nightly.support import JOBS, LAST, night, order, put_day, put_days
from tests.serving import served as served_at


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, str]]:
    """Run a service with its watcher and stand-in jobs, after a nightly run with findings and a failed one."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(JOBS)  # the watcher hands it on to what it starts
    settings = Settings(data_dir=Path(tmp_path_factory.mktemp("data")), night_hour=None)
    app = create_app(settings)
    put_days(settings, 5)
    put_day(settings, LAST, peak=990)
    night(app.state.database, settings)
    order(settings, fail="The usage history cannot be read: the disk is full.")
    night(app.state.database, settings)
    order(settings, pause_s=0.2, result={"scores": []})
    try:
        with served_at(app) as origin:
            yield app, origin
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def origin(served: tuple[FastAPI, str]) -> str:
    """Return the address of the service."""
    return served[1]
