"""Damage to the log of the usage history is reported on the page and over REST."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.usage.history_state import damage_of
from tests.app.web.support import get

ENTRIES = ("00000000000000000000.json", "00000000000000000001.json")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the folder of a log with two intact entries."""
    folder = tmp_path / "history" / "_delta_log"
    folder.mkdir(parents=True)
    for name in ENTRIES:
        (folder / name).write_text('{"commitInfo": {}}\n{"add": {"path": "a.parquet"}}\n')
    return folder


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return create_app(Settings(data_dir=tmp_path))


def reported(app: FastAPI) -> list[str]:
    """Return the sentences over REST, after checking that the page shows the same."""
    found: list[str] = get(app, "/api/v1/usage/structures").json()["history_damage"]
    page = get(app, "/usage").text
    assert page.count('class="notice warning"') == len(found)
    assert all(each in page for each in found)
    return found


def test_intact_or_missing_history_has_no_damage(app: FastAPI, log: Path, tmp_path: Path) -> None:
    assert reported(app) == []
    assert damage_of(Settings(data_dir=tmp_path / "new")) == ()
    assert damage_of(Settings(history_url="s3://bucket/history")) == ()


@pytest.mark.parametrize("kept_bytes", [1, 10, 30])
def test_damaged_last_entry_is_reported_with_its_name(app: FastAPI, log: Path, kept_bytes: int) -> None:
    last = log / ENTRIES[-1]
    last.write_bytes(last.read_bytes()[:kept_bytes])
    (said,) = reported(app)
    assert f"({ENTRIES[-1]}) is damaged" in said


def test_entry_that_was_set_aside_is_reported_until_it_is_removed(app: FastAPI, log: Path) -> None:
    aside = log.parent / "00000000000000000002-1a2b3c4d.torn"
    aside.write_text("{")
    (said,) = reported(app)
    assert f"set aside as {aside.name}" in said
    assert "upload again" in said
    aside.unlink()
    assert reported(app) == []
