from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI

from planner_core.document.model import PlanDocument
from tests.app.web.support import COMPLETE, assert_problem, post_json

GIVEN: dict[str, Any] = {
    "preflist": ["CF01"], "exclist": ["SQ03OTHER"], "duplex": "DISABLED", "full_threshold": 80,
    "allow_auto_alter": False, "initsize": "64M", "size": "128M", "duplex_site": "CROSSSITE", "enforce_order": False,
}  # fmt: skip
FULL: dict[str, Any] = {
    **copy.deepcopy(COMPLETE),
    "queue_managers": ["QM01", "QM02"],
    "curve": "published",
    "separate_costs": "assumed",
    "growth": {"percent_per_year": 10, "years": 2},
    "headroom_percent": 10,
    "target_usage_percent": 75,
    "size_factor": 1.5,
    "admin": {**GIVEN, "headroom_percent": 5, "entsmax": 100_000, "elements_total": 200_000},
    "system": {**GIVEN, "include": True, "shared_channels": 500, "group_ur_messages": 1000},
    "policy": {"name": "POLICY1", "job": True, "replace": False},
}
FULL["db2_group"] = "DSNDB0A"
FULL["other_structures"] = [
    {
        "name": "DSNDB0A_LOCK1", "size": "1G", "initsize": "512M", "allocated": "512M", "preflist": ["CF01"], "exclist": ["OTHER"],
        "duplex": "ALLOWED", "duplex_site": "ANYSITE", "enforce_order": False,
    }
]  # fmt: skip
FULL["coupling_facilities"][0].update(volatile=False, failure_isolated=True, occupied="1G", scm="16G")
FULL["structures"][0].update(
    GIVEN, initsize="512M", size="1G", cflevel=5, recover=True, cfconlos="ASQMGR", recauto=True, minsize="256M", entry_to_element_ratio=[1, 6],
    size_with_offload=False, scm={"max_size": "4G", "algorithm": "KEYPRIORITY1", "augmented": "512M"},
)  # fmt: skip
FULL["structures"][0]["offload"] = {
    "to": "SMDS", "rules": [{"usage_over": 70, "size_over": "32K"}], "dsgroup": "MQ.SMDS.*.APP1", "dsblock": "256K",
    "dsbufs": 100, "dsexpand": True,
}  # fmt: skip
FULL["structures"][0]["event_target_percent"] = 70
FULL["structures"][0]["queues"][0].update(
    isolation="payments", selector_reads=False, maxdepth=100_000, qdepthhi=80, qdepthlo=20, qdphiev="ENABLED",
    qdploev="ENABLED", qdpmaxev="ENABLED", qsvciev="NONE", share=True, default_share_option="SHARED", index_type="MSGID",
    max_message_length=4_194_304, backout_threshold=3, backout_queue="PAYMENTS.BACKOUT", curdepth=0, put_rate_per_s=20, get_rate_per_s=25,
    queue_manager_rates={"QM01": {"put_rate_per_s": 20, "get_rate_per_s": 25}},
)  # fmt: skip
FULL["cfconlos"] = "TOLERATE"
FULL["perfmev"] = {"QM01": "ENABLED", "QM02": "DISABLED"}
FULL["acknowledged"] = [
    {
        "code": "OFFLOAD_GAINS_NOTHING",
        "structure": "APPLICATION1",
        "message": "So it is.",
        "reason": "looked at",
    }
]

FULL["clusters"] = [
    {
        "name": "INVENTORY",
        "queue": "INVENTQ",
        "sender": "LONDON",
        "rate_per_s": 1000,
        "not_fixed_percent": 90,
        "mode": "seed",
        "clwluseq": "LOCAL",
        "hbint": 300,
        "detect_seconds": 120,
        "outage_minutes": 10,
        "return_rate_per_s": 2000,
        "instances": [
            {
                "queue_manager": "QM01",
                "cluster": "INVENTORY",
                "clwlrank": 0,
                "clwlprty": 0,
                "put": "ENABLED",
                "local": False,
                "shared": True,
                "get_rate_per_s": 400,
                "channels": [
                    {
                        "channel": "TO.QM01",
                        "clwlrank": 0,
                        "clwlprty": 0,
                        "clwlwght": 50,
                        "netprty": 0,
                        "status": "RUNNING",
                        "suspend": "NO",
                    }
                ],
            }
        ],
    }
]

BAD_ANYWHERE: dict[str, object] = {
    "an object": {"x": 1},
    "a list": [[]],
    "too long": "X" * 25_000,
    "a line break": "A\nB",
    "a carriage return": "A\rB",
    "a statement": "A)\n  STRUCTURE NAME(B",
    "a control character": "A\x00B",
    "a next line": "A\x85B",
    "too large": 10**30,
    "too small": -(10**30),
}


def leaves(value: object, pointer: str = "") -> Iterator[str]:
    """Yield the JSON pointers of all values other than objects and lists."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{pointer}/{index}")
    else:
        yield pointer


def containers(value: object, pointer: str = "") -> Iterator[str]:
    """Yield the JSON pointers of all objects."""
    if isinstance(value, (dict, list)):
        if isinstance(value, dict):
            yield pointer
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from containers(item, f"{pointer}/{key}")


def changed(pointer: str, value: object) -> dict[str, Any]:
    document = copy.deepcopy(FULL)
    *path, last = [int(part) if part.isdigit() else part for part in pointer.split("/")[1:]]
    here: Any = document
    for part in path:
        here = here[part]
    here[last] = value
    return document


def assert_names(app: FastAPI, document: object, pointer: str) -> None:
    problem = assert_problem(post_json(app, "/api/v1/size", document), "document-invalid", 422)
    fields = [error["field"] for error in problem["errors"]]
    assert any(field == pointer or field.startswith(pointer + "/") for field in fields), (
        pointer,
        problem["errors"],
    )
    assert all(error["message"] for error in problem["errors"])


def test_unchanged_document_is_valid(app: FastAPI) -> None:
    answer = post_json(app, "/api/v1/size", FULL)
    assert answer.status == 200, answer.text


def test_document_contains_every_field_of_the_schema() -> None:
    schema = PlanDocument.model_json_schema()
    named = {name for part in (schema, *schema["$defs"].values()) for name in part.get("properties", {})}
    present = {part for pointer in leaves(FULL) for part in pointer.split("/")} | set(FULL)
    assert named - present == {"fitted"}  # the other way to say curve; tested below


@pytest.mark.parametrize("pointer", list(leaves(FULL)))
def test_refusal_of_an_invalid_value_names_its_field(app: FastAPI, pointer: str) -> None:
    for value in BAD_ANYWHERE.values():
        assert_names(app, changed(pointer, value), pointer)


@pytest.mark.parametrize("pointer", [pointer for pointer in containers(FULL) if pointer])
def test_value_that_is_not_an_object_is_refused_with_its_field(app: FastAPI, pointer: str) -> None:
    for value in ("x", 1, [1], None, True):
        if pointer.endswith("/message_bytes") and value == 1:
            continue  # a number is the other way to say it
        if value is None and pointer.endswith(("/perfmev", "/queue_manager_rates")):
            assert (
                post_json(app, "/api/v1/size", changed(pointer, value)).status == 200
            )  # as if it were not there
            continue
        assert_names(app, changed(pointer, value), pointer)


@pytest.mark.parametrize("pointer", list(containers(FULL)))
def test_unknown_key_is_refused_by_name(app: FastAPI, pointer: str) -> None:
    assert_names(app, changed(f"{pointer}/surprise", 1), f"{pointer}/surprise")


@pytest.mark.parametrize("value", [0, -1, "17", 1.5, None, 10**30, [17], {"x": 1}])
def test_invalid_fitted_curve_is_refused_with_its_field(app: FastAPI, value: object) -> None:
    assert_names(app, {**FULL, "curve": {"fitted": value}}, "/curve/fitted")


@pytest.mark.parametrize(
    "pointer",
    [
        "/qsg",
        "/queue_managers",
        "/structures/0/name",
        "/structures/0/queues/0/name",
        "/coupling_facilities/1/name",
    ],
)
def test_missing_field_is_refused_by_name(app: FastAPI, pointer: str) -> None:
    document = changed(pointer, None)
    *path, last = pointer.split("/")[1:]
    here: Any = document
    for part in path:
        here = here[int(part) if part.isdigit() else part]
    del here[last]
    assert_names(app, document, pointer)


def test_all_invalid_fields_are_reported_together(app: FastAPI) -> None:
    document = copy.deepcopy(FULL)
    document["qsg"], document["cfcc_level"], document["structures"][1]["name"] = "1234567", "25", "1ABC"
    problem = assert_problem(post_json(app, "/api/v1/size", document), "document-invalid", 422)
    assert {"/qsg", "/cfcc_level", "/structures/1/name"} <= {error["field"] for error in problem["errors"]}
