"""The filters of the Ansible role run without cfplan, so they repeat facts of the core: both must state the same."""

from __future__ import annotations

from types import ModuleType

import pytest

from planner_core import names
from planner_core.running.policy import in_effect, with_defaults
from planner_core.texts.cfrm.policy_json import FLAG_KEYWORDS, KEYWORDS, SIZE_KEYWORDS, STRUCTURES
from planner_core.texts.cfrm.render import LAST_COLUMN
from planner_core.units import parse_size
from tests.deployment.ansible_filters import load_filters
from tests.planner_core.running.policies import read_policies

STATEMENT = " STRUCTURE NAME(A) SIZE(2048) PREFLIST(CF1)"
ONLY_IN_THE_ROLE = {"ALLOWREALLOCATE": "YES", "ENCRYPT": "NO", "REBUILDPERCENT": "1"}
"""Defaults of keywords that no plan sets; their values in the role are those that the core accepts."""


@pytest.fixture(scope="module")
def filters() -> ModuleType:
    return load_filters()


def effect(text: str) -> dict[str, object]:
    """Return the settings that a statement has in the core, with its defaults."""
    (statement,) = read_policies(f"{text}\n")[0].structures
    return dict(in_effect(statement))


def test_defaults_of_the_role_are_those_of_the_core(filters: ModuleType) -> None:
    defaults = vars(filters)["_DEFAULTS"]
    known = {keyword for keyword, value in with_defaults({}).items() if value not in (None, ())}
    assert set(defaults) == known | set(ONLY_IN_THE_ROLE)
    for keyword in known:
        stated = f"{STATEMENT} {keyword}({defaults[keyword]})"
        assert effect(stated) == effect(STATEMENT), keyword
        # The words of the core for YES and NO must have been read, and not passed over as unreadable.
        assert effect(stated)[keyword] is not None
    assert {keyword: defaults[keyword] for keyword in ONLY_IN_THE_ROLE} == ONLY_IN_THE_ROLE
    # The core reads percentages and switches of these keywords, but states no default for them.
    assert set(ONLY_IN_THE_ROLE) - FLAG_KEYWORDS == {"REBUILDPERCENT"}
    assert set(defaults) <= set(KEYWORDS[STRUCTURES])


@pytest.mark.parametrize("size", ["2048", "2M"])
def test_initsize_that_equals_size_is_no_difference_in_the_role_and_in_the_core(
    filters: ModuleType, size: str
) -> None:
    stated = f"{STATEMENT} INITSIZE({size})"
    assert effect(stated) == effect(STATEMENT)
    assert filters.policy_differences(STATEMENT, stated) == []
    other = f"{STATEMENT} INITSIZE(1024)"
    assert effect(other) != effect(STATEMENT)
    assert filters.policy_differences(STATEMENT, other) == [
        "STRUCTURE A has INITSIZE(1024K) instead of nothing"
    ]


def test_sizes_of_the_role_are_those_of_the_core(filters: ModuleType) -> None:
    assert vars(filters)["_SIZES"] == SIZE_KEYWORDS
    for unit, kib in vars(filters)["_KIB"].items():
        assert kib * 1024 == parse_size(f"1{unit}"), unit


def test_last_column_of_the_role_is_that_of_the_core(filters: ModuleType) -> None:
    assert filters.LAST_COLUMN == LAST_COLUMN


@pytest.mark.parametrize("name", ["A", "P$#@_123", "PROD0001"])
def test_policy_names_of_the_core_are_read_by_the_role(filters: ModuleType, name: str) -> None:
    assert names.is_policy(name)
    assert list(filters.policies([f" DEFINE POLICY NAME({name}) REPLACE(NO)"])) == [name]


@pytest.mark.parametrize("name", ["PROD00012", "1PROD", "_PROD", "prod", "PR-OD", ""])
def test_names_that_the_core_refuses_are_no_policies_of_a_report(filters: ModuleType, name: str) -> None:
    assert not names.is_policy(name)
    assert filters.policies([f" DEFINE POLICY NAME({name}) REPLACE(NO)"]) == {}


def test_report_without_a_policy_has_none(filters: ModuleType) -> None:
    assert filters.policies(["1ADMINISTRATIVE DATA UTILITY", " DATA TYPE(CFRM) REPORT(YES)"]) == {}
