from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.app.accounts.support import ROLES, add_user, app_with_accounts


@pytest.fixture(scope="session")
def folder_with_users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of an application with a user for each role."""
    folder = Path(tmp_path_factory.mktemp("users"))
    app = app_with_accounts(folder)
    for role in ROLES:
        add_user(app, role, role)
    app.state.database.close()
    return folder / "data"


@pytest.fixture
def site(folder_with_users: Path, tmp_path: Path) -> FastAPI:
    """Return an application with accounts, and a user for each role with its name."""
    shutil.copytree(folder_with_users, tmp_path / "data")
    return app_with_accounts(tmp_path)
