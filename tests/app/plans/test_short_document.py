"""Files with the document of a stored plan."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.plans.computed import canonical
from app.plans.short_document import without_defaults
from app.plans.stored import StoredVersion
from bench.plans import bank, largest
from planner_core.document.reading import read_object
from tests.app.plans.support import SQ03

ZEROS = {
    "qsg": "SQ03",
    "queue_managers": 2,
    "structures": [
        {
            "name": "APP1",
            "queues": [
                {
                    "name": "Q1",
                    "message_bytes": 1024,
                    "put_rate_per_s": 0.0,
                    "outage_minutes": 0,
                    "share": False,
                    "persistent": True,
                    "queue_manager_rates": {
                        "QM01": {"put_rate_per_s": 0.0, "get_rate_per_s": 1.5},
                        "QM02": {},
                    },
                }
            ],
        },
        {"name": "APP2"},
    ],
}


@pytest.mark.parametrize(
    "document",
    [
        SQ03,
        bank(),
        largest(structures=2, queues=3),
        largest(structures=2, queues=3, with_definitions=True),
        ZEROS,
    ],
)
def test_document_without_defaults_is_that_of_the_model(document: dict[str, Any]) -> None:
    read = read_object(document)
    version = StoredVersion(
        1, "P", 1, 1, datetime(2026, 1, 1, tzinfo=UTC), None, "1", canonical(read), "{}", "{}"
    )
    assert without_defaults(version) == read.model_dump(mode="json", exclude_defaults=True)
