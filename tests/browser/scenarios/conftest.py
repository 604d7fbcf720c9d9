from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.main import create_app
from app.plans import service as plans
from app.scenarios import service
from app.scenarios.service import ScenarioDraft
from app.settings import Settings
from tests.app.plans.support import plan
from tests.serving import served

KEPT = {
    "more": {"queue_managers": 6, "growth": {"percent_per_year": 10, "years": 2}},
    "outage": {"outage_factor": 2, "lost": "CF01"},
    "duplexed": {"structures": [{"name": "MYDATA", "duplex": "ENABLED", "offload_rules": []}]},
}


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an application with a plan and three scenarios."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    with app.state.database.session(writes=True) as session:
        plans.save_plan(session, "SCENES", plan())
    for name, changes in KEPT.items():
        worked = service.work_out(
            app.state.database, "SCENES", ScenarioDraft(changes, note="Because of it.\nTwice.")
        )
        with app.state.database.session(writes=True) as session:
            service.save(session, "SCENES", name, worked)
    with served(app) as address:
        yield address
