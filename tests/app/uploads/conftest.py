from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.app.uploads.support import READER
from tests.forked_keepers import forked_keepers

__all__ = ["forked_keepers"]

ROOT = Path(__file__).parents[3]
"""The processes must import this source tree, not another one that is installed."""


@pytest.fixture(autouse=True)
def stand_in_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make processes find the stand-in before the real jobs."""
    monkeypatch.setenv("PYTHONPATH", f"{READER}{os.pathsep}{ROOT}")
    monkeypatch.delenv("SPARK_MASTER", raising=False)
