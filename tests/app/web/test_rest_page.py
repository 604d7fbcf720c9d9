from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from fastapi import FastAPI

from tests.app.fits.support import ANSWERS, TROUBLE, daily, fit_json, forecast_json, health_json, store_night
from tests.app.uploads.support import finish
from tests.app.uploads.test_unregistered import left
from tests.app.usage.support import store, ten_days
from tests.app.web.support import COMPLETE, get, send_json

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "rest-api.md").read_text(encoding="utf-8")
ADDRESSES = re.findall(r"^\| `(GET|POST|PUT|PATCH|DELETE) ([^`]+)`", PAGE, re.MULTILINE)


STATUSES = {
    ("POST", "/api/v1/plans/SQ03/versions/1/approval"): 403,  # this service requires no approvals
    ("PUT", "/api/v1/plans/SQ03"): 201, ("POST", "/api/v1/uploads"): 201, ("POST", "/api/v1/uploads/1/ingest"): 202,
    ("POST", "/api/v1/sizing-points"): 201, ("POST", "/api/v1/sizing-points/fit"): 201,
    ("POST", "/api/v1/nightly-runs"): 202, ("POST", "/api/v1/plans/SQ03/scenarios"): 201,
    ("PUT", "/api/v1/plans/SQ03/scenarios/trade"): 201,
    ("POST", "/api/v1/upload-files/SHA256"): 202,
    # This service has no accounts.
    ("GET", "/api/v1/account/tokens"): 409, ("POST", "/api/v1/account/tokens"): 409,
    ("DELETE", "/api/v1/account/tokens/{number}"): 409, ("GET", "/api/v1/users"): 409, ("POST", "/api/v1/users"): 409,
    ("GET", "/api/v1/users/{name}"): 409, ("PATCH", "/api/v1/users/{name}"): 409,
}  # fmt: skip
"""Statuses of responses other than 200."""
BODIES: dict[str, object] = {
    "/api/v1/plans/SQ03/scenarios": {"name": "outage", "changes": {"outage_factor": 2}},
    "/api/v1/plans/SQ03/scenarios/trade": {"changes": {"rate_factor": 2}},
    "/api/v1/cf-levels/CF01": {"cfcc_level": 25},
    "/api/v1/sizing-points": {"text": ANSWERS},
    "/api/v1/uploads/1/ingest": {"kind": "template"},
    "/api/v1/usage/plan-document": {
        "qsg": "SQ03",
        "queue_managers": 5,
        "cfcc_level": 25,
        "persistent_when_unknown": True,
    },
    "/api/v1/account/tokens": {"name": "a script", "scope": "viewer", "days": 30},
    "/api/v1/users": {"name": "anna", "role": "viewer", "password": "purple-tree lantern 77"},
    "/api/v1/users/{name}": {"role": "planner"},
}
"""Bodies of requests that take no plan document."""
QUESTIONS = (
    "events/",
    "cluster/",
    "whatif/",
    "import/",
    "lint",
    "merge",
    "diff",
    "plan-from-running",
    "other-structures",
)


def test_addresses_on_the_page_respond_in_the_order_listed(own_app: FastAPI) -> None:
    assert ADDRESSES
    store(own_app, ten_days())
    store_night(
        own_app.state.database,
        curves=[fit_json()],
        forecasts=[forecast_json()],
        days=daily(),
        health=[health_json(TROUBLE)],
    )
    for method, address in ADDRESSES:
        sent = address.replace("structure=S", "structure=APPLICATION1").replace("{number}", "1")
        if sent.endswith("SHA256"):
            # Each row needs a file that no upload has.
            sent = sent.replace("SHA256", left(own_app.state.settings.data_dir, method.encode()))
        answer = (
            get(own_app, sent)
            if method == "GET"
            else send_json(own_app, method, sent, body_for(own_app, address))
        )
        expected = STATUSES.get((method, address.partition("?")[0]), 200)
        assert answer.status == expected, (address, answer.text)
        if (method, address.partition("?")[0]) == ("POST", "/api/v1/uploads"):
            finish(own_app, answer.json()["job"]["id"])  # no keeper works on the jobs of this application


def body_for(app: FastAPI, address: str) -> object:
    """Return a body: as declared above, an example of a what-if question, or a plan document."""
    path = address.partition("?")[0]
    if path in BODIES or not path.removeprefix("/api/v1/").startswith(QUESTIONS):
        return BODIES.get(path, COMPLETE)
    asked = app.openapi()["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    return next(iter(asked["examples"].values()))["value"]


def test_every_rest_route_is_on_the_page(app: FastAPI) -> None:
    described = get(app, "/openapi.json").json()["paths"]
    named = {(method.lower(), described_as(address, described)) for method, address in ADDRESSES}
    assert named == {(method, path) for path, item in described.items() for method in item}


def described_as(address: str, paths: Iterable[str]) -> str:
    """Return the described path of an address; paths without parameters take precedence."""
    path = address.partition("?")[0]
    fitting = [each for each in paths if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(each)), path)]
    return min(fitting, key=lambda each: each.count("{"), default=path)
