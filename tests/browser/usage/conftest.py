from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.main import create_app
from app.settings import Settings
from tests.app.fits.support import TROUBLE, health_json, store_night
from tests.app.usage.support import store, ten_days
from tests.serving import served


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an application with ten days of usage."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    store(app, ten_days())
    store_night(app.state.database, health=[health_json(TROUBLE)])
    with served(app) as address:
        yield address
