from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.forked_on_request import Parent, parent_of


@pytest.fixture(scope="session")
def parent() -> Iterator[Parent]:
    """Return a process that has imported the application, and starts services."""
    with parent_of("tests.app.serving.service") as found:
        yield found
