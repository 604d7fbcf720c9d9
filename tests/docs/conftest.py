"""A running service for the examples that need one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from tests.serving import served


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Return the application with default settings."""
    return create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))


@pytest.fixture
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the port of a service without stored data.

    Each run of a page has a separate service: the answers on the page assume an empty one, where a plan of an earlier run would not be created again.
    """
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("served")))
    with served(app, server_header=False) as origin:
        yield int(origin.rpartition(":")[2])
