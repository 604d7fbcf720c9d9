from __future__ import annotations

import pytest

from tests.app.uploads.support import READER


@pytest.fixture(autouse=True)
def stand_in_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make processes find the stand-in before the real jobs."""
    monkeypatch.setenv("PYTHONPATH", str(READER))
    monkeypatch.delenv("SPARK_MASTER", raising=False)
