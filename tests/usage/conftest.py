from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings


@pytest.fixture
def own_app(tmp_path: Path) -> FastAPI:
    """An application with an empty database that no other test sees."""
    return create_app(Settings(data_dir=tmp_path / "data"))
