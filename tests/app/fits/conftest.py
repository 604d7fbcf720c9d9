from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    """Return an application with an empty database of its own."""
    made = create_app(Settings(data_dir=tmp_path / "data"))
    yield made
    made.state.database.close()
