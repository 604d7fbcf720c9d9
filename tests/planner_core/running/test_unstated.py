"""Keywords that the plan does not state keep the value of the policy, in merges and in comparisons."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_json, read_object
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.running.compare import Comparison, compare
from planner_core.running.merge import MergedPolicy, merge
from planner_core.running.policy import in_effect, planned
from planner_core.running.state import read_running
from planner_core.running.unstated import DEFAULT_UNSTATED, UNSTATED, Unstated
from tests.planner_core.plans import varied
from tests.planner_core.running.policies import read_policies
from tests.planner_core.running.sysplex import HABITS, UndocumentedBehavior
from tests.planner_core.running.test_compare import M, carry_out, display, sysplex_of
from tests.planner_core.running.test_merge import OLD

OURS = "             REBUILDPERCENT(10)\n"
ADMIN_STATEMENT = """\
   STRUCTURE NAME(SQ03CSQ_ADMIN) SIZE(48M) INITSIZE(32M) FULLTHRESHOLD(90)
             DUPLEX(ENABLED) ALLOWAUTOALT(YES) PREFLIST(CF02,CF01)
/*
"""
POLICY = OLD.replace(OURS, f"{OURS}             DUPLEX(ENABLED)\n").removesuffix("/*\n") + ADMIN_STATEMENT
SILENT: dict[str, Any] = {
    "system__include": False,
    "structures__0__initsize": "256M",
    "structures__0__size": "512M",
    "admin__initsize": "32M",
    "admin__size": "48M",
}
"""A plan that states sizes and no other keyword of the policy."""


def minimal_document(**paths: Any) -> dict[str, Any]:  # noqa: ANN401
    document = varied(**{**SILENT, **paths})
    if "structures__0__preflist" not in paths:
        del document["structures"][0]["preflist"]
    return document


def minimal_plan(**paths: Any) -> PlanResult:  # noqa: ANN401
    return evaluate(read_object(minimal_document(**paths)))


def stored(document: dict[str, Any]) -> PlanResult:
    """Return the plan as it is stored, with every key."""
    complete = read_object(document).model_dump_json()
    assert set(json.loads(complete)["admin"]) >= {"duplex", "full_threshold", "preflist"}
    return evaluate(read_json(complete))


def findings(found: MergedPolicy | Comparison, code: str) -> list[Finding]:
    return [each for each in found.findings if each.code == code]


# ---- one declaration -------------------------------------------------------------------------------------------


def test_unstated_keywords_keep_the_policy_value_by_default() -> None:
    assert DEFAULT_UNSTATED == "policy" == next(iter(UNSTATED))
    result = minimal_plan()
    assert merge(POLICY, result) == merge(POLICY, result, unstated="policy")
    assert compare(result, read_running([POLICY])) == compare(
        result, read_running([POLICY]), unstated="policy"
    )


# ---- by hand ---------------------------------------------------------------------------------------------------


def test_unstated_duplex_keeps_the_duplexing_of_csq_admin() -> None:
    merged = merge(POLICY, minimal_plan())
    assert merged.policy == POLICY
    assert merged.changes == ()
    found = compare(minimal_plan(), read_running([POLICY]))
    assert found.commands == ()
    assert found.is_same
    assert {name: says["DUPLEX"] for name, says in found.merged.items()} == {
        "SQ03APP1": "ENABLED",
        "SQ03CSQ_ADMIN": "ENABLED",
    }


def test_unstated_plan_replaces_policy_values_with_defaults() -> None:
    merged = merge(POLICY, minimal_plan(), unstated="plan")
    changed = {(each.structure, each.keyword): each.after for each in merged.changes}
    assert changed[("SQ03CSQ_ADMIN", "DUPLEX")] == "DISABLED"
    assert changed[("SQ03APP1", "DUPLEX")] == "DISABLED"
    assert findings(merged, "MERGE_BY_DEFAULT")
    found = compare(minimal_plan(), read_running([POLICY]), unstated="plan")
    assert {each.result.name for each in found.structures if each.differences} == {"CSQ_ADMIN", "APP1"}
    assert findings(found, "DUPLEXING_ENDS")


def test_default_value_stated_in_the_plan_is_treated_as_stated() -> None:
    asked = minimal_plan(admin__duplex="DISABLED")
    assert ("SQ03CSQ_ADMIN", "DUPLEX", "DISABLED") in {
        (each.structure, each.keyword, each.after) for each in merge(POLICY, asked).changes
    }
    found = compare(asked, read_running([POLICY]))
    (admin,) = [each for each in found.structures if each.result.name == "CSQ_ADMIN"]
    assert [(each.keyword, each.planned) for each in admin.differences] == [("DUPLEX", "DISABLED")]


def test_default_in_a_document_with_every_key_is_unstated() -> None:
    """Stored documents are complete, so they do not show which keys the planner left out."""
    assert merge(POLICY, stored(minimal_document())).policy == POLICY
    assert compare(stored(minimal_document()), read_running([POLICY])).is_same
    asked = stored(minimal_document(admin__duplex="ALLOWED", structures__0__full_threshold=77))
    assert {(each.structure, each.keyword, each.after) for each in merge(POLICY, asked).changes} == {
        ("SQ03CSQ_ADMIN", "DUPLEX", "ALLOWED"),
        ("SQ03APP1", "FULLTHRESHOLD", "77"),
    }


def test_kept_values_are_reported_with_the_calculated_ones() -> None:
    for found in (merge(POLICY, minimal_plan()), compare(minimal_plan(), read_running([POLICY]))):
        told = {each.structure: each for each in findings(found, "UNSTATED_KEPT")}
        assert set(told) == {"CSQ_ADMIN", "APP1"}
        message = told["CSQ_ADMIN"].message
        assert "keeps ALLOWAUTOALT(YES), FULLTHRESHOLD(90), DUPLEX(ENABLED), PREFLIST(CF02,CF01)" in message
        assert "DUPLEX(DISABLED)" in message
        assert told["CSQ_ADMIN"].severity == "warning"
    assert findings(merge(POLICY, minimal_plan(), unstated="plan"), "UNSTATED_KEPT") == []
    (admin, _) = compare(minimal_plan(), read_running([POLICY])).structures
    assert admin.as_json()["kept"] == ["ALLOWAUTOALT", "FULLTHRESHOLD", "DUPLEX", "PREFLIST"]


def test_structure_missing_from_the_policy_has_the_defaults_of_the_plan() -> None:
    merged = merge(OLD, minimal_plan())
    (policy,) = read_policies(merged.policy)
    (admin,) = policy.structure("SQ03CSQ_ADMIN")
    says = planned(minimal_plan().structures[0])
    assert {key: in_effect(admin)[key] for key in says} == says


def test_values_of_the_active_policy_are_kept_without_a_policy_text() -> None:
    shown = [
        display(duplexed=True, duplex="ENABLED", threshold=91, alter="YES"),
        display("SQ03CSQ_ADMIN", actual="32 M", size="48 M", initsize="32 M", threshold=70),
    ]
    assert compare(minimal_plan(), read_running(shown)).commands == ()
    assert compare(minimal_plan(), read_running(shown), unstated="plan").commands != ()


# ---- structures that shrink ------------------------------------------------------------------------------------


def test_sizes_below_those_of_the_policy_are_a_warning_with_both_numbers() -> None:
    merged = merge(POLICY, minimal_plan(structures__0__initsize="200M", structures__0__size="400M"))
    (told,) = findings(merged, "STRUCTURE_SHRINKS")
    assert (told.structure, told.severity) == ("APP1", "warning")
    assert "INITSIZE falls from 256M to 200M and SIZE falls from 512M to 400M" in told.message
    assert findings(merge(POLICY, minimal_plan()), "STRUCTURE_SHRINKS") == []
    larger = minimal_plan(structures__0__initsize="300M", structures__0__size="600M")
    assert findings(merge(POLICY, larger), "STRUCTURE_SHRINKS") == []


def test_structure_that_grew_is_compared_with_its_current_size() -> None:
    running = read_running([display(actual="480 M", in_use=(10, 10))])
    asked = minimal_plan(structures__0__initsize="300M", structures__0__size="512M")
    for found in (merge(POLICY, asked, running=running), compare(asked, running)):
        (told,) = findings(found, "STRUCTURE_SHRINKS")
        assert "has 480M today, 10 % of it in use, and INITSIZE is 300M" in told.message
        assert told.field == "/structures/0/initsize"
    same = minimal_plan(structures__0__initsize="480M", structures__0__size="512M")
    for found in (merge(POLICY, same, running=running), compare(same, running)):
        assert findings(found, "STRUCTURE_SHRINKS") == []


@pytest.mark.parametrize(
    ("size", "says"),
    [("400M", "SIZE 400M cannot hold that"), ("512M", "a rebuild needs more than INITSIZE")],
)
def test_merge_to_a_size_below_the_data_in_use_is_a_warning_with_both_numbers(size: str, says: str) -> None:
    running = read_running([display(actual="512 M", in_use=(5, 90))])
    asked = minimal_plan(structures__0__initsize="256M", structures__0__size=size)
    (told,) = findings(merge(POLICY, asked, running=running), "STRUCTURE_SHRINKS")
    base = asked.structures[1].curve.base
    used = ceil(
        (base + (512 * M - base) * Fraction(600_664, 667_404)) / M
    )  # the elements are the fuller pool
    assert 512 * 0.9 < used < 512
    assert f"has 512M and 90 % of it in use: about {used}M" in told.message
    assert "INITSIZE is 256M in the merged policy" in told.message
    assert says in told.message


def test_unallocated_structure_does_not_shrink() -> None:
    running = read_running([display(actual=None)])
    asked = minimal_plan(structures__0__initsize="200M", structures__0__size="400M")
    assert findings(merge(POLICY, asked, running=running), "STRUCTURE_SHRINKS") == []


# ---- for all ---------------------------------------------------------------------------------------------------

STATED = {
    "structures__0__duplex": st.sampled_from(["DISABLED", "ALLOWED", "ENABLED"]),
    "structures__0__full_threshold": st.integers(0, 100),
    "structures__0__allow_auto_alter": st.booleans(),
    "structures__0__preflist": st.sampled_from([["CF01", "CF02"], ["CF02", "CF01"]]),
    "admin__duplex": st.sampled_from(["DISABLED", "ALLOWED", "ENABLED"]),
    "admin__full_threshold": st.integers(0, 100),
}
"""Any of these may be stated, or not."""
SIZES = {
    "structures__0__initsize": st.sampled_from(["256M", "300M", "512M"]),
    "structures__0__size": st.sampled_from(["512M", "1G"]),
}
PLANS = st.fixed_dictionaries(SIZES, optional=STATED)


@st.composite
def policy_texts(draw: st.DrawFn) -> str:
    """Draw POLICY with other values, or without them."""
    text = POLICY
    duplex = draw(st.sampled_from(["", "DUPLEX(DISABLED)", "DUPLEX(ALLOWED)", "DUPLEX(ENABLED)"]))
    text = text.replace(f"{OURS}             DUPLEX(ENABLED)", f"{OURS}             {duplex}")
    threshold = draw(st.sampled_from(["", "FULLTHRESHOLD(80)", "FULLTHRESHOLD(61)"]))
    text = text.replace("FULLTHRESHOLD(80)", threshold)
    return text.replace("ALLOWAUTOALT(YES) ", draw(st.sampled_from(["", "ALLOWAUTOALT(YES) "])))


@st.composite
def shown(draw: st.DrawFn) -> list[str]:
    """Draw no display, or one of an active policy that may differ from the text."""
    if draw(st.booleans()):
        return []
    duplex = draw(st.sampled_from(["DISABLED", "ALLOWED", "ENABLED"]))
    return [
        display(
            actual=draw(st.sampled_from([None, "256 M", "400 M", "512 M"])),
            duplex=duplex,
            duplexed=duplex != "DISABLED" and draw(st.booleans()),
            threshold=draw(st.integers(0, 100)),
            preflist=draw(st.sampled_from(["CF01 CF02", "CF02 CF01 CF03"])),
        )
    ]


@settings(max_examples=80, deadline=None)
@given(
    policy_texts(), shown(), PLANS, st.sampled_from(list(UNSTATED)), st.sampled_from(HABITS), st.booleans()
)
def test_commands_lead_a_sysplex_to_the_merged_policy(
    text: str,
    displays: list[str],
    asked: dict[str, Any],
    unstated: Unstated,
    habit: UndocumentedBehavior,
    if_unknown: bool,
) -> None:
    result, running = minimal_plan(**asked), read_running([text, *displays])
    (policy,) = read_policies(merge(text, result, unstated=unstated, running=running).policy)
    found = compare(result, running, unstated=unstated)
    sysplex = sysplex_of(running, habit=habit, is_duplexed_if_unknown=if_unknown)
    carry_out(found, sysplex)
    for structure in result.structures:
        (statement,) = policy.structure(structure.cfrm_name)
        wanted = in_effect(statement)
        (each,) = [other for other in found.structures if other.result is structure]
        assert not each.is_too_small
        keywords = planned(structure)
        for state in (sysplex.structures[structure.cfrm_name], found.after.structures[structure.cfrm_name]):
            assert {key: state.active[key] for key in keywords} == {key: wanted[key] for key in keywords}
        assert sysplex.structures[structure.cfrm_name].pending == set()


@settings(max_examples=80, deadline=None)
@given(policy_texts(), PLANS)
def test_merge_keeps_unstated_keywords_and_writes_stated_ones(text: str, asked: dict[str, Any]) -> None:
    result = minimal_plan(**asked)
    (before,), (after,) = read_policies(text), read_policies(merge(text, result).policy)
    keys = {"DUPLEX": "duplex", "FULLTHRESHOLD": "full_threshold", "ALLOWAUTOALT": "allow_auto_alter"}
    for at, structure in (("admin", result.structures[0]), ("structures__0", result.structures[1])):
        (old,), (new,) = before.structure(structure.cfrm_name), after.structure(structure.cfrm_name)
        for keyword, key in keys.items():
            is_stated = f"{at}__{key}" in asked
            wanted = planned(structure)[keyword] if is_stated else in_effect(old)[keyword]
            assert in_effect(new)[keyword] == wanted
            if not is_stated:
                assert new.values(keyword) == old.values(keyword)
