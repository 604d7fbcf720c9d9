from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.main import create_app
from app.plans import service
from app.settings import Settings
from tests.app.whatif.filling.survival_hours import store_weeks
from tests.planner_core.whatif.filling.plans import queue, structure
from tests.serving import served

PLAN = structure(
    [
        queue("PAYMENTS.IN", message_bytes=4096, put_rate_per_s=120, maxdepth=500_000),
        queue("ORDERS.IN", message_bytes={"mean": 9000, "p95": 28_000, "max": 60_000}, put_rate_per_s=40),
        queue("SCANS", message_bytes=40_000, put_rate_per_s=6),
    ],
    initsize="4G",
    size="6G",
    offload={"dsgroup": "MQ.SMDS.*.APP1"},
)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an application with a plan of one structure, whose usage was measured for six weeks."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    with app.state.database.session(writes=True) as session:
        service.save_plan(session, "FILLS", PLAN)
    store_weeks(app, 42)
    with served(app) as address:
        yield address
