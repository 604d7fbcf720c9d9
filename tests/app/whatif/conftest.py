from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Return the application with its own database."""
    return create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
