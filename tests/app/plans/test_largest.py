"""The largest possible group is saved, read and changed, with all of its 32 256 queues. Nothing is timed here."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import URL

from app.database.engine import Database
from tests.app.plans.support import app_on, largest
from tests.app.web.support import get, send_json

pytestmark = pytest.mark.long


def test_largest_plan_is_saved_and_read_completely(database: Database, url: URL) -> None:
    app, document = app_on(url), largest()
    assert sum(len(structure["queues"]) for structure in document["structures"]) == 32_256
    saved = send_json(app, "PUT", "/api/v1/plans/BIG1", document)
    assert saved.status == 201
    found = get(app, "/api/v1/plans/BIG1").json()
    assert [s["name"] for s in found["document"]["structures"]] == [s["name"] for s in document["structures"]]
    assert sum(len(s["queues"]) for s in found["document"]["structures"]) == 32_256
    assert found["result"]["totals"]["structures"] == 64
    mqsc = get(app, "/api/v1/plans/BIG1/mqsc")
    assert mqsc.text.count("DEFINE QLOCAL") == 32_256
    again = send_json(app, "PUT", "/api/v1/plans/BIG1", found["document"])
    assert again.json()["saved"] == "identical"
    document["structures"][62]["queues"][511]["backlog"] += 1
    tag = saved.headers["etag"]
    assert send_json(app, "PUT", "/api/v1/plans/BIG1", document, if_match=tag).status == 200
    diff = get(app, "/api/v1/plans/BIG1/diff").json()
    assert json.loads(json.dumps(diff["document"])) == [
        {"pointer": "/structures/APPL62/queues/APPL62.QUEUE.0511/backlog", "kind": "changed", "before": 611, "after": 612}
    ]  # fmt: skip
    database.close()
