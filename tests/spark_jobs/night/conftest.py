"""Fixtures for the tests of nightly runs."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not force files to disk; the tests of the history cover that."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
