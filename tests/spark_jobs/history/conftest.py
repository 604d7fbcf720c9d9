from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def quick_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not force files to disk, except in the tests of that."""
    if "test_lasting" not in request.node.nodeid:
        monkeypatch.setattr(os, "fsync", lambda _: None)
