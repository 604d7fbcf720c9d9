from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.app.accounts.support import ROLES, add_user, app_with_accounts


@pytest.fixture
def site(tmp_path: Path) -> FastAPI:
    """Return an application with accounts, and a user for each role with its name."""
    app = app_with_accounts(tmp_path)
    for role in ROLES:
        add_user(app, role, role)
    return app
