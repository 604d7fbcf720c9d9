"""A document that was stored before a key existed differs from a later one only in the values that a user wrote."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_json, read_object
from planner_core.document.schema import _MODEL_NAMED, json_schema, with_new_keys
from planner_core.errors import DocumentInvalid
from tests.planner_core.plans import documents, varied

COMPLETE = Path(__file__).parents[2] / "data" / "complete.json"


def stored(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(read_object(document).model_dump_json())
    return found


def test_missing_placement_keys_get_their_defaults() -> None:
    new = stored(json.loads(COMPLETE.read_text(encoding="utf-8")))
    old = json.loads(json.dumps(new))
    for place in (old["admin"], old["system"], *old["structures"]):
        del place["duplex_site"], place["enforce_order"]
    for place in old["structures"]:
        del place["scm"]
    for place in old["coupling_facilities"]:
        del place["occupied"], place["scm"]
    filled = with_new_keys(old)
    assert filled["structures"][0]["scm"] == {
        "max_size": None,
        "algorithm": "KEYPRIORITY1",
        "augmented": None,
    }
    assert filled["coupling_facilities"][0]["occupied"] is None
    assert filled["admin"]["enforce_order"] is False
    assert filled == stored(old)


def test_stored_values_are_kept_when_defaults_are_added() -> None:
    complete = json.loads(read_json(COMPLETE.read_bytes()).model_dump_json())
    # Itself, so that saving a plan need not compare it.
    assert with_new_keys(complete) is complete


@pytest.mark.parametrize("to", ["SMDS", "DB2"])
def test_missing_offload_rules_get_the_defaults_of_the_method(to: str) -> None:
    new = stored(varied(structures__0__offload={"to": to}))
    old = copy.deepcopy(new)
    del old["structures"][0]["offload"]["rules"]
    filled = with_new_keys(old)
    sizes = [rule["size_over"] for rule in filled["structures"][0]["offload"]["rules"]]
    assert (len(set(sizes)) == 1) == (to == "DB2")
    assert filled == new


def test_missing_keys_of_every_model_can_get_defaults() -> None:
    shapes = json_schema()["$defs"]
    with_defaults = {
        name
        for name, shape in shapes.items()
        if any("default" in each for each in shape.get("properties", {}).values())
    }
    assert with_defaults <= set(_MODEL_NAMED)


def paths(value: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Yield the path of every key of every object."""
    if isinstance(value, dict):
        return [(*at, key) for key in value] + [
            each for key, item in value.items() for each in paths(item, (*at, key))
        ]
    return (
        [each for nth, item in enumerate(value) for each in paths(item, (*at, nth))]
        if isinstance(value, list)
        else []
    )


def test_each_key_of_a_complete_document_is_kept() -> None:
    new = stored(json.loads(COMPLETE.read_text(encoding="utf-8")))
    restored = 0
    for *steps, key in paths(new):
        old = copy.deepcopy(new)
        place = old
        for step in steps:
            place = place[step]
        del place[key]
        try:
            expected = stored(old)
        except DocumentInvalid:  # a key that is required, or needed together with another
            continue
        assert with_new_keys(old) == expected, (*steps, key)
        restored += 1
    assert restored > 100


@given(documents(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_missing_key_with_a_default_is_filled_in(document: dict[str, Any], random: Random) -> None:
    new = stored(document)
    *steps, key = random.choice(paths(new))
    old = json.loads(json.dumps(new))
    place = old
    for step in steps:
        place = place[step]
    del place[key]
    try:
        expected = stored(old)
    except DocumentInvalid:  # a key that is required, or needed together with another
        return
    assert with_new_keys(old) == expected
