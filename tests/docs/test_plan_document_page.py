"""docs/reference/plan-document.md lists every key with its default and range, and has a valid example."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from pydantic import BaseModel

from app.texts.documents import parse_yaml
from planner_core.document import cluster_entries, model
from planner_core.document.reading import read_object
from planner_core.document.schema import json_schema
from planner_core.errors import DocumentInvalid
from tests.app.web.support import COMPLETE, Json
from tests.docs.pages import ROOT, headings, rows, section

PAGE = ROOT / "docs/reference/plan-document.md"

# The section of the page for each object of the document, and where such an object stands in a complete plan.
SECTIONS = {
    "PlanDocument": ("The plan", ""),
    "FittedCurve": ("curve", "/curve"),
    "Growth": ("growth", "/growth"),
    "Admin": ("admin", "/admin"),
    "System": ("system", "/system"),
    "Policy": ("policy", "/policy"),
    "CouplingFacility": ("coupling_facilities", "/coupling_facilities/0"),
    "OtherStructure": ("other_structures", "/other_structures/0"),
    "Structure": ("structures", "/structures/0"),
    "Scm": ("structures scm", "/structures/0/scm"),
    "Offload": ("structures offload", "/structures/0/offload"),
    "OffloadRule": ("structures offload rules", "/structures/0/offload/rules/0"),
    "Queue": ("structures queues", "/structures/0/queues/0"),
    "QueueManagerRates": (
        "structures queues queue_manager_rates",
        "/structures/0/queues/0/queue_manager_rates/QM01",
    ),
    "Cluster": ("clusters", "/clusters/0"),
    "ClusteredInstance": ("clusters instances", "/clusters/0/instances/0"),
    "ChannelEntry": ("clusters instances channels", "/clusters/0/instances/0/channels/0"),
    "Acknowledgment": ("acknowledged", "/acknowledged/0"),
    "MessageSizes": ("structures queues message_bytes", "/structures/1/queues/0/message_bytes"),
}
SCHEMA = json_schema()
OBJECTS: dict[str, dict[str, Any]] = {"PlanDocument": SCHEMA, **SCHEMA["$defs"]}


def described(name: str) -> dict[str, list[str]]:
    """Return the rows of an object's table by key."""
    return {row[0].strip("`"): row for row in rows(section(PAGE, SECTIONS[name][0]))}


def value_of(cell: str) -> Json:
    """Return the value that YAML reads from a cell in code marks."""
    match = re.fullmatch(r"`(.+)`", cell)
    assert match, cell
    return parse_yaml(match[1].encode())


KEYS = [(name, key) for name in SECTIONS for key in OBJECTS[name]["properties"]]
IDS = [f"{name}-{key}" for name, key in KEYS]


def test_every_object_of_the_schema_has_a_section() -> None:
    assert set(SECTIONS) == set(OBJECTS)
    assert {heading for heading, _ in SECTIONS.values()} <= set(headings(PAGE))


@pytest.mark.parametrize("name", SECTIONS)
def test_page_lists_exactly_the_keys_of_each_object(name: str) -> None:
    assert set(described(name)) == set(OBJECTS[name]["properties"])


@pytest.mark.parametrize(("name", "key"), KEYS, ids=IDS)
def test_default_on_the_page_matches_the_document(name: str, key: str) -> None:
    shape: type[BaseModel] = (vars(cluster_entries) | vars(model))[name]
    field, cell = shape.model_fields[key], described(name)[key][3]
    if field.is_required():
        assert cell == "*required*"
        return
    default = field.get_default(call_default_factory=True, validated_data={})
    stated = value_of(cell)
    # Through the document itself, so that `256K` and 262144 bytes, or {} and all defaults, are the same.
    assert shape.model_construct(**{key: default}) == shape.model_construct(
        **{key: read_field(name, key, stated)}
    )


def read_field(name: str, key: str, value: Json) -> Json:
    """Return the value of a field after reading a plan with it."""
    plan = read_object(placed(SECTIONS[name][1], key, value))
    found: Any = plan
    for step in filter(None, SECTIONS[name][1].split("/")):
        if isinstance(found, list):
            found = found[int(step)]
        elif isinstance(found, dict):
            found = found[step]
        else:
            found = getattr(found, step)
    return getattr(found, key)


def placed(pointer: str, key: str, value: Json) -> dict[str, Any]:
    """Return a complete plan with one field set and contradictory fields removed."""
    plan: Any = json.loads(json.dumps(COMPLETE))
    if pointer == "/curve":
        plan["curve"] = {}
    if pointer == "/structures/0/offload/rules/0":
        plan["structures"][0]["offload"]["rules"] = [{"usage_over": 70, "size_over": "32K"}]
    if pointer.startswith("/clusters"):
        instance = {"queue_manager": "NEWYORK", "channels": [{}]}
        plan["clusters"] = [{"name": "C", "queue": "Q", "rate_per_s": 1, "instances": [instance]}]
    if pointer == "/other_structures/0":
        plan["other_structures"] = [{"name": "DSNDB0A_LOCK1", "size": "1T"}]
    if pointer == "/acknowledged/0":
        plan["acknowledged"] = [{"code": "DSGROUP_MISSING", "reason": "agreed"}]
    if key in {"put_rate_per_s", "outage_minutes", "backlog"} and value is not None:
        queue = plan["structures"][0]["queues"][0]
        queue.pop("backlog", None)
        queue |= {"put_rate_per_s": 1, "outage_minutes": 1} if key != "backlog" else {}
    if key == "backlog" and value is None:
        plan["structures"][0]["queues"][0] |= {"put_rate_per_s": 1, "outage_minutes": 1}
    if key == "get_rate_per_s" and value is not None and pointer == "/structures/0/queues/0":
        plan["structures"][0]["queues"][0]["put_rate_per_s"] = 1
    here = plan
    for step in filter(None, pointer.split("/")):
        here = here[int(step)] if isinstance(here, list) else here.setdefault(step, {})
    here[key] = value
    return copy.deepcopy(plan)


@pytest.mark.parametrize(("name", "key"), KEYS, ids=IDS)
def test_example_on_the_page_is_accepted(name: str, key: str) -> None:
    read_object(placed(SECTIONS[name][1], key, value_of(described(name)[key][5])))


@pytest.mark.parametrize(("name", "key"), KEYS, ids=IDS)
def test_range_on_the_page_matches_the_document(name: str, key: str) -> None:
    stated = re.match(r"(-?\d+) to (\d+)(?=$|;)", described(name)[key][4])
    schema = OBJECTS[name]["properties"][key]
    bounds = [part for part in (schema, *schema.get("anyOf", ())) if "maximum" in part]
    if not stated:
        assert not bounds, "a number without its range"
        return
    assert [(part["minimum"], part["maximum"]) for part in bounds] == [(int(stated[1]), int(stated[2]))]


@pytest.mark.parametrize(("name", "key"), KEYS, ids=IDS)
def test_only_values_listed_on_the_page_are_accepted(name: str, key: str) -> None:
    cell = described(name)[key][4]
    listed = re.findall(r"`([^`]+)`", cell)
    if not re.fullmatch(r"`[^`]+`(, `[^`]+`)*", cell) or key == "curve":
        return
    for text in listed:
        read_object(placed(SECTIONS[name][1], key, parse_yaml(text.encode())))
    with pytest.raises(DocumentInvalid):
        read_object(placed(SECTIONS[name][1], key, "SOMETHING ELSE"))


SIZES = [
    (name, key, match)
    for name, key in KEYS
    if (match := re.match(r"(\d+[KMGT]) to (\d+[KMGT])", described(name)[key][4])) is not None
]


@pytest.mark.parametrize(("name", "key", "match"), SIZES, ids=[f"{name}-{key}" for name, key, _ in SIZES])
def test_sizes_are_accepted_up_to_the_range_on_the_page(name: str, key: str, match: re.Match[str]) -> None:
    pointer = SECTIONS[name][1]
    read_object(placed(pointer, key, match[1]))
    read_object(placed(pointer, key, match[2]))
    above = f"{int(match[2][:-1]) + 1}{match[2][-1]}"
    with pytest.raises(DocumentInvalid):
        read_object(placed(pointer, key, above))
