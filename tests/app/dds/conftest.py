from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.dds import service
from tests.app.dds.support import NOON, Site


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    # Otherwise these tests would find their intervals deleted, from a week after their day.
    monkeypatch.setattr(service, "utc_now", lambda: NOON)
    found = Site(tmp_path)
    with found.server.running(tmp_path):
        found.declare()
        with found.opened:
            yield found
