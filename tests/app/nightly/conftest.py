from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import URL

from app.database.engine import Database
from app.settings import Settings
from tests.app.nightly.support import JOBS, settings_for


@pytest.fixture(autouse=True)
def stand_in_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make processes find the stand-in jobs before the real ones, and hide the settings of this machine from them."""
    monkeypatch.setenv("PYTHONPATH", str(JOBS))
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"CFPLAN_{name.upper()}", raising=False)


@pytest.fixture
def settings(url: URL, tmp_path: Path, database: Database) -> Settings:
    assert database.revision()
    return settings_for(url, tmp_path)
