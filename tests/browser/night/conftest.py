from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from tests.app.nightly.support import JOBS, LAST, night, order, put_day, put_days
from tests.browser.conftest import stand_in_jobs
from tests.serving import served as served_at


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, str]]:
    """Run a service with its watcher and stand-in jobs, after a nightly run with findings and a failed one."""
    settings = Settings(data_dir=Path(tmp_path_factory.mktemp("data")), night_hour=None)
    with stand_in_jobs(JOBS):
        app = create_app(settings)
        put_days(settings, 5)
        put_day(settings, LAST, peak=990)
        night(app.state.database, settings)
        order(settings, fail="The usage history cannot be read: the disk is full.")
        night(app.state.database, settings)
        order(settings, pause_s=0.2, result={"scores": []})
        with served_at(app) as origin:
            yield app, origin


@pytest.fixture(scope="module")
def origin(served: tuple[FastAPI, str]) -> str:
    """Return the address of the service."""
    return served[1]
