from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from fastapi import FastAPI

from app import main as application
from app.cli import main
from app.settings import Settings
from tests.app.serving.support import free_port


def test_serve_collects_no_garbage_while_it_builds_the_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collects = []

    def create_app(settings: Settings) -> FastAPI:
        collects.append(gc.isenabled())
        return original(settings)

    def supervised(*_: object) -> int:
        collects.append(gc.isenabled())
        return 0

    original = application.create_app
    monkeypatch.setattr(application, "create_app", create_app)
    monkeypatch.setattr("app.serve_cli.supervise", supervised)
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path))
    umask = os.umask(0o77)
    try:
        assert main(["serve", "--port", str(free_port())]) == 0
    finally:
        os.umask(umask)
    assert collects == [False, True]
