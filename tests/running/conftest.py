from __future__ import annotations

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """The application with a data folder of its own."""
    return create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
