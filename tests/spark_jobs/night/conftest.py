"""What the tests of the night share."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: that files last is tested with the history."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
