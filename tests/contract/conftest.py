"""Fixtures of the contract tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.support import Service, serving


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Return the web application with its own data folder."""
    with serving(tmp_path_factory.mktemp("data")) as started:
        yield started
