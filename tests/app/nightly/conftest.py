from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import URL

from app.database.engine import Database
from app.nightly import keeper
from app.settings import Settings
from tests.app.nightly.support import JOBS, settings_for


@pytest.fixture(autouse=True)
def stand_in_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make processes find the stand-in jobs before the real ones, and hide the settings of this machine from them."""
    # The processes must import this source tree, not another one that is installed.
    monkeypatch.setenv("PYTHONPATH", f"{JOBS}{os.pathsep}{Path(__file__).parents[3]}")
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    monkeypatch.setattr(keeper, "WAITS_S", (0.0, 0.0))
    for name in Settings.model_fields:
        monkeypatch.delenv(f"CFPLAN_{name.upper()}", raising=False)


@pytest.fixture
def settings(url: URL, tmp_path: Path, database: Database) -> Settings:
    assert database.revision()
    return settings_for(url, tmp_path)
