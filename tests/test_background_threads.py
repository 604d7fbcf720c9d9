"""Threads of services that tests leave running."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx

from app.main import create_app
from app.settings import Settings
from tests.serving import ANSWER_S, background_threads, served, threads_left


def test_thread_that_starts_jobs_is_found_until_it_ends() -> None:
    may_end = threading.Event()
    left = threading.Thread(target=may_end.wait, name="cfplan-jobs", daemon=True)
    left.start()
    try:
        assert threads_left(0) == ["cfplan-jobs"]
    finally:
        may_end.set()
    assert threads_left() == []


def test_server_that_tests_share_starts_no_jobs(tmp_path: Path) -> None:
    with served(create_app(Settings(data_dir=tmp_path / "own"))) as address:
        httpx.get(f"{address}/healthz", timeout=ANSWER_S)
        assert [each.name for each in background_threads()] == ["cfplan-jobs"]
    assert background_threads() == []
    with served(create_app(Settings(data_dir=tmp_path / "shared")), runs_jobs=False) as address:
        httpx.get(f"{address}/healthz", timeout=ANSWER_S)
        assert background_threads() == []
