"""The plan document: defaults, validation errors, schema, and storage."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from planner_core.document.model import FittedCurve, MessageSizes, PlanDocument
from planner_core.document.reading import parse_json, read_json, read_object
from planner_core.document.schema import json_schema
from planner_core.errors import DocumentInvalid, NotJson, SizeSyntax
from planner_core.plan.evaluate import evaluate
from planner_core.typed_numbers import typed_size
from tests.cpu import at_most_cpu_seconds
from tests.planner_core.plans import BASE, documents, policy_documents, varied

K, M, G = 1024, 1024**2, 1024**3
SMALLEST: dict[str, Any] = {"qsg": "SQ03", "queue_managers": 5}
COMPLETE = Path(__file__).parents[1] / "data" / "complete.json"


def problems(document: object) -> dict[str, str]:
    """Return the problems of a document by field."""
    with pytest.raises(DocumentInvalid) as refused:
        read_object(document)
    fields = [problem.field for problem in refused.value.problems]
    assert len(fields) == len(set(fields)), "two problems for one field"
    return {problem.field: problem.message for problem in refused.value.problems}


def problem(**paths: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return the only problem of the base plan with these changes."""
    ((field, message),) = problems(varied(**paths)).items()
    return field, message


# ---- defaults ----------------------------------------------------------------------------------------------


def test_document_is_complete_with_its_defaults() -> None:
    plan = read_object(SMALLEST)
    assert plan.schema_version == 1
    assert plan.cfcc_level == 25
    assert plan.curve == "published"
    assert (plan.growth.percent_per_year, plan.growth.years) == (Decimal(0), Decimal(0))
    assert (plan.target_usage_percent, plan.headroom_percent) == (Decimal(80), None)
    assert plan.size_factor == Decimal("1.5")
    assert (plan.admin.headroom_percent, plan.admin.entsmax, plan.admin.full_threshold) == (
        Decimal(0),
        None,
        85,
    )
    assert (plan.system.include, plan.system.shared_channels, plan.system.group_ur_messages) == (
        True,
        500,
        1000,
    )
    assert (plan.policy.name, plan.policy.job, plan.policy.replace) == (None, False, False)
    assert (plan.coupling_facilities, plan.structures) == ([], [])


def test_structure_is_complete_with_its_defaults() -> None:
    (found,) = read_object(SMALLEST | {"structures": [{"name": "APP1"}]}).structures
    assert (found.cflevel, found.recover) == (5, True)
    assert (found.initsize, found.size, found.minsize) == (None, None, None)
    assert (found.allow_auto_alter, found.full_threshold, found.duplex) == (False, 85, "DISABLED")
    assert (found.entry_to_element_ratio, found.size_with_offload) == (None, False)
    assert (found.preflist, found.exclist, found.queues) == ([], [], [])
    offload = found.offload
    assert (offload.to, offload.dsgroup, offload.dsblock, offload.dsbufs) == ("SMDS", None, 256 * K, 100)
    assert [(rule.usage_over, rule.size_over) for rule in offload.rules] == [
        (70, 32 * K),
        (80, 4 * K),
        (90, 0),
    ]


def test_coupling_facility_is_nonvolatile_and_isolated_by_default() -> None:
    (cf,) = read_object(SMALLEST | {"coupling_facilities": [{"name": "CF01"}]}).coupling_facilities
    assert (cf.volatile, cf.failure_isolated, cf.size, cf.cfcc_level, cf.site) == (
        False,
        True,
        None,
        None,
        None,
    )


def test_documents_do_not_share_default_values() -> None:
    one, other = read_object(SMALLEST), read_object(SMALLEST)
    assert one == other
    assert one.structures is not other.structures


def test_sizes_are_read_as_bytes() -> None:
    plan = read_object(
        varied(
            structures__0__initsize=262144,
            structures__0__size="0.5G",
            coupling_facilities__0__size="1T",
        )
    )
    assert (plan.structures[0].initsize, plan.structures[0].size) == (256 * M, 512 * M)
    assert plan.coupling_facilities[0].size == 1024 * G


def test_queue_managers_may_be_a_number_or_names() -> None:
    assert read_object(SMALLEST).queue_manager_count == 5
    assert read_object(SMALLEST | {"queue_managers": ["QM1", "QM2"]}).queue_manager_count == 2


def test_document_is_immutable() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        read_object(SMALLEST).qsg = "SQ04"


# ---- what is refused, and where ----------------------------------------------------------------------------

S0, Q0 = "structures__0__", "structures__0__queues__0__"


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"colour": "red"}, "/colour", "is not a key of the plan document"),
        ({S0 + "colour": 1}, "/structures/0/colour", "is not a key of the plan document"),
        ({"a/b~c": 1}, "/a~1b~0c", "is not a key"),
        ({"schema_version": 2}, "/schema_version", "1"),
        ({"qsg": "sq03"}, "/qsg", "Write it in upper case: SQ03"),
        ({"qsg": 3}, "/qsg", "must be text in quotes, such as 'SQ03'"),
        ({"queue_managers": 0}, "/queue_managers", "greater than or equal to 1"),
        ({"queue_managers": True}, "/queue_managers", "must be a whole number, or a list"),
        ({"queue_managers": "1.200"}, "/queue_managers", "may have a thousands separator: write 1200"),
        ({"queue_managers": []}, "/queue_managers", "at least 1 item"),
        ({"queue_managers": ["QM1", "1QM"]}, "/queue_managers/1", "not starting with a digit"),
        ({"cfcc_level": "25"}, "/cfcc_level", "must be a whole number"),
        ({"cfcc_level": 0}, "/cfcc_level", "greater than or equal to 1"),
        ({"curve": "mine"}, "/curve", "published"),
        ({"curve": {"fitted": 0}}, "/curve/fitted", "greater than or equal to 1"),
        ({"headroom_percent": "10"}, "/headroom_percent", "must be a number"),
        ({"target_usage_percent": 0}, "/target_usage_percent", "must be between 1 and 100"),
        ({"target_usage_percent": 100.5}, "/target_usage_percent", "must be between 1 and 100"),
        ({"target_usage_percent": None}, "/target_usage_percent", "must be a number"),
        ({"headroom_percent": -0.1}, "/headroom_percent", "must be between 0 and 1000"),
        ({"headroom_percent": float("nan")}, "/headroom_percent", "must be a finite number"),
        ({"headroom_percent": Decimal("1e-50")}, "/headroom_percent", "must not have more than 15 digits"),
        ({"size_factor": 2.01}, "/size_factor", "must be between 1 and 2"),
        ({"growth__percent_per_year": -99.5}, "/growth/percent_per_year", "must be between -99 and 1000"),
        ({"system__include": 1}, "/system/include", "must be true or false"),
        ({"policy__name": "POLICY-1"}, "/policy/name", "1 to 8 characters"),
        ({"policy": None}, "/policy", "must be an object"),
        ({"structures": {}}, "/structures", "must be a list"),
        ({S0 + "name": "CSQ_ADMIN"}, "/structures/0/name", "always generated and holds no user data"),
        ({S0 + "cflevel": 6}, "/structures/0/cflevel", "less than or equal to 5"),
        (
            {S0 + "queues": [{"name": "Q1", "message_bytes": "big", "backlog": 1}]},
            "/structures/0/queues/0/message_bytes",
            "must be one size, such as 1024 or 4K, or mean/p95/max, such as 3500/12000/60000",
        ),
        ({S0 + "initsize": "12X"}, "/structures/0/initsize", "'12X' is not a valid size"),
        ({S0 + "initsize": "0.5K"}, "/structures/0/initsize", "512B is not a whole number of K"),
        (
            {S0 + "queues__0__message_bytes": "1.1K"},
            "/structures/0/queues/0/message_bytes",
            "must be a whole number of bytes, such as 1127",
        ),
        (
            {S0 + "initsize": "1.1G"},
            "/structures/0/initsize",
            "must be a whole number of K, such as 1153434K",
        ),
        (
            {S0 + "initsize": "1.1  g"},
            "/structures/0/initsize",
            "must be a whole number of K, such as 1153434K",
        ),
        ({S0 + "initsize": 0}, "/structures/0/initsize", "must be between 1K and 1T"),
        ({S0 + "size": "1025G"}, "/structures/0/size", "must be between 1K and 1T"),
        ({S0 + "initsize": 1.5}, "/structures/0/initsize", "must be a size such as '512M'"),
        ({S0 + "full_threshold": 101}, "/structures/0/full_threshold", "less than or equal to 100"),
        ({S0 + "entry_to_element_ratio": [1]}, "/structures/0/entry_to_element_ratio", "at least 2 items"),
        ({S0 + "entry_to_element_ratio": [1, 0]}, "/structures/0/entry_to_element_ratio/1", "to 1"),
        ({S0 + "preflist": [f"CF{n}" for n in range(9)]}, "/structures/0/preflist", "at most 8 items"),
        ({S0 + "exclist": ["1A"]}, "/structures/0/exclist/0", "starting with a letter"),
        ({S0 + "duplex": "YES"}, "/structures/0/duplex", "DISABLED"),
        ({S0 + "offload__to": "DISK"}, "/structures/0/offload/to", "SMDS"),
        ({S0 + "offload__dsgroup": "MQ.SMDS"}, "/structures/0/offload/dsgroup", "exactly one asterisk"),
        ({S0 + "offload__dsblock": "24K"}, "/structures/0/offload/dsblock", "must be 8K, 16K"),
        ({S0 + "offload__dsblock": 256}, "/structures/0/offload/dsblock", "'256' has no unit"),
        ({S0 + "offload__dsbufs": 10_000}, "/structures/0/offload/dsbufs", "9999"),
        (
            {S0 + "offload__rules": [{"usage_over": 70, "size_over": "65K"}]},
            "/structures/0/offload/rules/0/size_over",
            "must be between 0K and 64K",
        ),
        (
            {S0 + "offload__rules": [{"usage_over": 70, "size_over": 32}]},
            "/structures/0/offload/rules/0/size_over",
            "'32' has no unit: write it with K, M, G or T, such as 32K",
        ),
        (
            {S0 + "offload__rules": [{"usage_over": 70}]},
            "/structures/0/offload/rules/0/size_over",
            "is required",
        ),
        (
            {S0 + "offload__rules": [{"usage_over": 1, "size_over": "1K"}] * 4},
            "/structures/0/offload/rules",
            "at most 3 items",
        ),
        ({Q0 + "name": "A B"}, "/structures/0/queues/0/name", "1 to 48 characters A-Z a-z 0-9 . / _ %"),
        ({Q0 + "name": "A\n"}, "/structures/0/queues/0/name", "1 to 48 characters"),
        ({Q0 + "message_bytes": -1}, "/structures/0/queues/0/message_bytes", "between 0 and 104857600"),
        (
            {Q0 + "message_bytes": 1.5},
            "/structures/0/queues/0/message_bytes",
            "whole number of bytes, or an object",
        ),
        ({Q0 + "message_bytes": {"mean": 1}}, "/structures/0/queues/0/message_bytes/p95", "is required"),
        ({Q0 + "backlog": 1.5}, "/structures/0/queues/0/backlog", "must be a whole number"),
        ({Q0 + "isolation": "a b"}, "/structures/0/queues/0/isolation", "1 to 32 characters"),
        ({"coupling_facilities__0__site": "SITE3"}, "/coupling_facilities/0/site", "SITE1"),
        ({"coupling_facilities__0__type": "3931"}, "/coupling_facilities/0/type", "TYPE has 6 characters"),
        (
            {"coupling_facilities__0__type": 3931},
            "/coupling_facilities/0/type",
            "leading zeros are significant",
        ),
        ({"coupling_facilities__0__partition": "1G"}, "/coupling_facilities/0/partition", "A-F and digits"),
        ({"coupling_facilities__0__sequence": "A1B2C"}, "/coupling_facilities/0/sequence", "12 characters"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_invalid_value_is_reported_with_its_field(changes: dict[str, Any], field: str, says: str) -> None:
    document = varied(**{path: value for path, value in changes.items() if "/" not in path})
    document.update({path: value for path, value in changes.items() if "/" in path})
    found = problems(document)
    assert field in found, found
    assert says in found[field]


@pytest.mark.parametrize("key", ["qsg", "queue_managers"])
def test_fields_without_a_default_are_required(key: str) -> None:
    assert problems({k: v for k, v in SMALLEST.items() if k != key}) == {f"/{key}": "is required"}


@pytest.mark.parametrize("document", [None, [], "SQ03", 5, True])
def test_document_that_is_not_an_object_is_refused(document: object) -> None:
    ((field, message),) = problems(document).items()
    assert field == ""
    assert message.startswith("A plan document is an object")


def test_all_problems_are_reported_together() -> None:
    found = problems(varied(qsg="x", cfcc_level=0, structures__0__name="1"))  # the level of both CFs too
    levels = ["/cfcc_level", "/coupling_facilities/0/cfcc_level", "/coupling_facilities/1/cfcc_level"]
    assert list(found) == ["/qsg", *levels, "/structures/0/name"]


@pytest.mark.parametrize(
    ("typed", "size"),
    [
        ("1K", 1024), ("2 kb", 2048), ("1024", 1024), ("1.5K", 1536), ("1M", M), ("100M", 100 * M), ("0", 0), (7, 7),
    ],
)  # fmt: skip
def test_message_sizes_may_have_a_unit(typed: str | int, size: int) -> None:
    document = varied(**{Q0 + "message_bytes": typed})
    assert read_object(document).structures[0].queues[0].message_bytes == size
    jsonschema_rs.validate(json_schema(), document)


@pytest.mark.parametrize(
    "typed",
    [
        "3500.5/12K/1M",
        {"mean": 3500.5, "p95": "12K", "max": "1M"},
        {"mean": "3500.5", "p95": 12288, "max": M},
    ],
)
def test_message_distributions_may_have_units(typed: object) -> None:
    document = varied(**{Q0 + "message_bytes": typed})
    read = read_object(document).structures[0].queues[0].message_bytes
    assert read == MessageSizes(mean=Decimal("3500.5"), p95=12288, max=M)
    jsonschema_rs.validate(json_schema(), document)


@pytest.mark.parametrize("typed", ["1.3", "x", "101M", "1/2", "1/2/3/4", "-1", "", "9" * 5000 + "K"])
def test_unreadable_message_sizes_are_refused_at_their_field(typed: str) -> None:
    assert problem(**{Q0 + "message_bytes": typed})[0] == "/structures/0/queues/0/message_bytes"


@pytest.mark.parametrize(
    ("size", "meant"),
    [
        ("8", "8G"), (8, "8G"), ("8K", "8G"), ("16M", "16G"), ("512", "512M or 512G"), (8192, "8G"), ("65535", "65535M"),
    ],
)  # fmt: skip
def test_coupling_facilities_of_a_few_k_are_refused_with_a_suggestion(size: str | int, meant: str) -> None:
    at, message = problem(coupling_facilities__0__size=size)
    assert at == "/coupling_facilities/0/size"
    assert message.endswith(f"did you mean {meant}?")


@pytest.mark.parametrize("size", ["64M", "1G", 65536, "64T"])
def test_coupling_facilities_from_64_mb_are_accepted(size: str | int) -> None:
    read_object(varied(coupling_facilities__0__size=size))


def test_stored_document_with_a_small_coupling_facility_is_still_read() -> None:
    text = json.dumps(varied(coupling_facilities__0__size="8"))
    assert read_json(text, is_stored=True).coupling_facilities[0].size == 8 * K
    with pytest.raises(DocumentInvalid):
        read_json(text)


@pytest.mark.parametrize(
    ("changes", "field", "meant"),
    [
        ({"headroom": 10}, "/headroom", "headroom_percent"),
        ({"queue-managers": 10}, "/queue-managers", "queue_managers"),
        ({"queueManagers": 10}, "/queueManagers", "queue_managers"),
        ({S0 + "pref_list": []}, "/structures/0/pref_list", "preflist"),
        ({Q0 + "message_byte": 1}, "/structures/0/queues/0/message_byte", "message_bytes"),
        ({S0 + "offload__rule": []}, "/structures/0/offload/rule", "rules"),
        ({S0 + "offload__rules": [{"usage": 70}]}, "/structures/0/offload/rules/0/usage", "usage_over"),
        ({Q0 + "message_bytes": {"maxx": 1}}, "/structures/0/queues/0/message_bytes/maxx", "max"),
        ({"coupling_facilities__0__sizes": 1}, "/coupling_facilities/0/sizes", "size"),
        ({"curve": {"fited": 1}}, "/curve/fited", "fitted"),
        ({"admin__headroom": 1}, "/admin/headroom", "headroom_percent"),
    ],
)
def test_unknown_key_is_refused_with_the_closest_known_one(
    changes: dict[str, Any], field: str, meant: str
) -> None:
    assert problems(varied(**changes))[field].endswith(f": did you mean {meant}?")


@pytest.mark.parametrize("key", ["colour", "x" * 100_000])
def test_unknown_key_unlike_any_other_has_no_suggestion(key: str) -> None:
    assert problems({**SMALLEST, key: 1})[f"/{key}"] == "is not a key of the plan document"


def test_number_of_suggestions_is_limited() -> None:
    found = problems({**SMALLEST, **{f"queue_manager{nth}": 1 for nth in range(1000)}})
    assert sum("did you mean" in message for message in found.values()) == 50


# ---- what no single field shows ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"queue_managers": ["QM1", "QM2", "QM1"]}, "/queue_managers/2", "queue manager QM1 occurs twice"),
        ({"queue_managers": ["QM1", "SQ03"]}, "/queue_managers/1", "SQ03 is the name of the group"),
        ({"coupling_facilities__1__name": "CF01"}, "/coupling_facilities/1/name", "CF01 occurs twice"),
        ({"structures__1": {"name": "APP1"}}, "/structures/1/name", "structure APP1 occurs twice"),
        ({S0 + "preflist": ["CF01", "CF01"]}, "/structures/0/preflist/1", "CF01 occurs twice"),
        ({S0 + "exclist": ["A", "B", "A"]}, "/structures/0/exclist/2", "structure A occurs twice"),
        ({"admin__preflist": ["CF01", "CF01"]}, "/admin/preflist/1", "CF01 occurs twice"),
        (
            {"structures__0__queues__1": {"name": "Q1", "message_bytes": 1, "backlog": 1}},
            "/structures/0/queues/1/name",
            "queue Q1 is already at /structures/0/queues/0: a queue belongs to one structure",
        ),
        (
            {"structures__1": {"name": "X", "queues": [{"name": "Q1", "message_bytes": 1, "backlog": 1}]}},
            "/structures/1/queues/0/name",
            "already at /structures/0/queues/0",
        ),
        (
            {S0 + "initsize": "2M", S0 + "size": "1M"},
            "/structures/0/initsize",
            "INITSIZE 2M is above SIZE 1M",
        ),
        (
            {"system__initsize": "2M", "system__size": "1M"},
            "/system/initsize",
            "INITSIZE 2M is above SIZE 1M",
        ),
        ({S0 + "minsize": "2M", S0 + "initsize": "1M"}, "/structures/0/minsize", "MINSIZE 2M is above 1M"),
        ({S0 + "minsize": "2M", S0 + "size": "1M"}, "/structures/0/minsize", "MINSIZE 2M is above 1M"),
        ({Q0 + "put_rate_per_s": 1}, "/structures/0/queues/0/put_rate_per_s", "not both"),
        ({Q0 + "outage_minutes": 1}, "/structures/0/queues/0/outage_minutes", "not both"),
        ({Q0 + "backlog": None}, "/structures/0/queues/0/backlog", "is required, unless put_rate_per_s"),
        (
            {Q0 + "backlog": None, Q0 + "put_rate_per_s": 1},
            "/structures/0/queues/0/outage_minutes",
            "is required with put_rate_per_s",
        ),
        (
            {Q0 + "backlog": None, Q0 + "outage_minutes": 1},
            "/structures/0/queues/0/put_rate_per_s",
            "is required with outage_minutes",
        ),
        (
            {Q0 + "message_bytes": {"mean": 99, "p95": 50, "max": 100}},
            "/structures/0/queues/0/message_bytes",
            "a mean of 99 is impossible",
        ),
    ],
)
def test_contradictory_fields_are_reported(changes: dict[str, Any], field: str, says: str) -> None:
    found, message = problem(**changes)
    assert found == field
    assert says in message


def test_queue_names_are_case_sensitive() -> None:
    queues = [{"name": name, "message_bytes": 1, "backlog": 1} for name in ("q1", "Q1")]
    assert len(read_object(varied(structures__0__queues=queues)).structures[0].queues) == 2


# ---- JSON --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says", "field"),
    [
        ('{"qsg": "A", "qsg": "B"}', "The key 'qsg' occurs twice in one object", ""),
        ('{"structures": [{"name": "A", "name": "B"}]}', "The key 'name' occurs twice", "/structures/0"),
        ('{"qsg": NaN}', "NaN is not a JSON number", "/qsg"),
        ('{"qsg": -Infinity}', "-Infinity is not a JSON number", "/qsg"),
        ("[" * 100_000, "nested too deeply", ""),
        (b'{"qsg": "\xff"}', "not UTF-8: byte 9", ""),
        ('{"headroom_percent": ' + "1" * 50 + "}", "is too long", "/headroom_percent"),
        ('{"headroom_percent": 0.' + "1" * 50 + "}", "is too long", "/headroom_percent"),
        ('{"growth": {"years": 1e9999999999999999999999}}', "is out of range", "/growth/years"),
        ('{"growth": {"years": 1E-9999999999999999999999}}', "is out of range", "/growth/years"),
    ],
    ids=range(10),
)
def test_malformed_json_is_refused_at_its_field(text: str | bytes, says: str, field: str) -> None:
    with pytest.raises(DocumentInvalid, match=says) as refused:
        read_json(text)
    assert [item.field for item in refused.value.problems] == [field]


def test_every_unreadable_number_is_reported() -> None:
    with pytest.raises(DocumentInvalid) as refused:
        read_json('{"a~b": NaN, "c/d": [1, Infinity]}')
    assert [item.field for item in refused.value.problems] == ["/a~0b", "/c~1d/1"]


@pytest.mark.parametrize("text", ["", "qsg: SQ03", "{", '{"qsg": }', b""])
def test_text_that_is_not_json_is_refused_with_line_and_column(text: str | bytes) -> None:
    with pytest.raises(NotJson, match=r"not JSON: .*\(line 1, column \d+\)"):
        read_json(text)


def test_numbers_keep_all_their_digits() -> None:
    assert parse_json('{"a": 33.3, "b": 12345678901234567890}') == {
        "a": Decimal("33.3"),
        "b": 12345678901234567890,
    }


@settings(max_examples=300)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*BASE, "x"]), inner, max_size=4)
        ),
        max_leaves=8,
    )
)
def test_any_object_is_read_or_raises_documented_errors(value: object) -> None:
    try:
        read_object(value)
    except DocumentInvalid as refused:
        problems_found, sentence = refused.problems, str(refused)
        assert problems_found
        assert sentence.startswith("The plan document is not valid. ")


# ---- stored and read again ---------------------------------------------------------------------------------


@settings(max_examples=200)
@given(st.one_of(documents(), policy_documents()))
def test_stored_document_reads_back_unchanged(document: dict[str, Any]) -> None:
    plan = read_object(document)
    stored = plan.model_dump_json()
    again = read_json(stored)
    assert again == plan
    assert again.model_dump_json() == stored
    assert evaluate(again).as_json() == evaluate(plan).as_json()


@settings(max_examples=50)
@given(documents())
def test_document_from_text_equals_document_from_object(document: dict[str, Any]) -> None:
    assert read_json(json.dumps(document)) == read_object(document)


def test_reading_does_not_modify_its_input() -> None:
    document = varied()
    before = copy.deepcopy(document)
    read_object(document)
    assert document == before


def test_document_of_the_first_version_with_every_key_is_still_read() -> None:
    # Written when schema_version 1 was new, with every key of it: it must load for ever.
    plan = read_json(COMPLETE.read_bytes())
    assert isinstance(plan.curve, FittedCurve)
    assert isinstance(plan.structures[0].queues[1].message_bytes, MessageSizes)
    assert read_json(plan.model_dump_json()) == plan


# ---- the schema --------------------------------------------------------------------------------------------

SCHEMA = json_schema()
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)


def test_schema_is_valid_and_allows_no_unknown_keys() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(SCHEMA)
    objects = [SCHEMA, *SCHEMA["$defs"].values()]
    assert all(item["additionalProperties"] is False for item in objects if item["type"] == "object")
    assert SCHEMA["required"] == ["qsg", "queue_managers"]
    assert set(SCHEMA["properties"]) == set(PlanDocument.model_fields)


@settings(max_examples=200)
@given(st.one_of(documents(), policy_documents()))
def test_schema_allows_every_document_that_the_core_reads(document: dict[str, Any]) -> None:
    stored = json.loads(read_object(document).model_dump_json())
    for instance in (document, stored):
        assert VALIDATOR.is_valid(instance), [error.message for error in VALIDATOR.iter_errors(instance)]


def test_schema_allows_a_document_with_every_key() -> None:
    complete = json.loads(COMPLETE.read_text(encoding="utf-8"))
    assert VALIDATOR.is_valid(complete), [error.message for error in VALIDATOR.iter_errors(complete)]

    def keys(value: object, at: str = "") -> set[str]:
        """Return the paths of all keys, including those of objects in lists."""
        if isinstance(value, dict):
            return {f"{at}/{key}" for key in value} | {
                path for key, item in value.items() for path in keys(item, f"{at}/{key}")
            }
        return {path for item in value for path in keys(item, at)} if isinstance(value, list) else set()

    stored = json.loads(read_json(COMPLETE.read_bytes()).model_dump_json())
    assert keys(complete) == keys(stored), (
        "the file lacks a key: add it to the file and keep the existing ones"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"colour": "red"},
        {"schema_version": 2},
        {"qsg": "SQ033"},
        {"cfcc_level": "25"},
        {"size_factor": 3},
        {"headroom_percent": -1},
        {"structures__0__initsize": "12X"},
        {"structures__0__cflevel": 6},
        {"structures__0__full_threshold": 101},
        {"structures__0__queues__0__name": "A B"},
        {"structures__0__queues__0__message_bytes": -1},
        {"coupling_facilities__0__site": "SITE3"},
        {"system__include": "yes"},
    ],
    ids=str,
)
def test_core_refuses_every_document_that_the_schema_refuses(changes: dict[str, Any]) -> None:
    document = varied(**changes)
    assert not VALIDATOR.is_valid(document)
    assert problems(document)


@settings(max_examples=300)
@given(
    st.builds(
        "".join,
        st.tuples(
            st.text("0123456789", min_size=1, max_size=5),
            st.sampled_from(["", "."]),
            st.text("0123456789", max_size=5),
            st.sampled_from(["", "K", "G", "MiB", " t", "B", "X"]),
        ),
    )
)
@example("0.500G")
@example("1234.500M")
@example("1.5000G")
def test_schema_allows_every_size_that_the_core_reads(text: str) -> None:
    assume(is_size(text))
    assert VALIDATOR.is_valid(varied(structures__0__minsize=text))


@pytest.mark.parametrize("text", ["0", "00", " 000 ", "64K", "1.0000K"])
def test_schema_allows_the_sizes_of_rules_that_the_core_reads(text: str) -> None:
    offload = {"dsgroup": "MQ.SMDS.*.APP1", "rules": [{"usage_over": 70, "size_over": text}]}
    document = varied(structures__0__offload=offload)
    read_object(document)
    assert VALIDATOR.is_valid(document)


@pytest.mark.parametrize("text", ["1.500G", "4.000", "12.345M", "123.000 KiB", "1.2.3K", "1X", ""])
def test_schema_refuses_sizes_that_the_core_refuses_as_text(text: str) -> None:
    assert not is_size(text)
    assert not VALIDATOR.is_valid(varied(structures__0__minsize=text))


def is_size(text: str) -> bool:
    try:
        typed_size(text)
    except SizeSyntax:
        return False
    return True


def with_queues(queues: object) -> dict[str, Any]:
    return {**SMALLEST, "structures": [{"name": "APPLICATION1", "queues": queues}]}


@pytest.mark.parametrize(
    "document",
    [
        with_queues([1] * 24_000),
        with_queues([{}] * 300_000),
        with_queues([{"name": "!", "message_bytes": [], "backlog": -1}] * 100_000),
        {**SMALLEST, "structures": [1] * 500_000},
        {**SMALLEST, "structures": [{"queues": [{}] * 1000}] * 300},
        {**SMALLEST, "queue_managers": [1] * 500_000},
        {**SMALLEST, "acknowledged": [{}] * 1000},
        {**SMALLEST, **{f"k{at}": 1 for at in range(9_000)}},
    ],
    ids=["whole numbers", "empty", "three errors each", "structures", "nested", "names", "reasons", "keys"],
)
def test_many_field_errors_are_reported_in_bounded_cpu_time(document: dict[str, Any]) -> None:
    with at_most_cpu_seconds(5), pytest.raises(DocumentInvalid) as refused:
        read_object(document)
    *listed, last = refused.value.problems
    assert len(listed) == 199
    assert len({problem.field for problem in listed}) == 199
    assert last.field == ""
    assert "more problems than the 199 listed here" in last.message


def test_up_to_200_field_errors_are_all_listed() -> None:
    assert problems(with_queues([1] * 200)).keys() == {f"/structures/0/queues/{at}" for at in range(200)}


def test_error_after_many_valid_items_has_the_right_pointer() -> None:
    queue = {"name": "Q", "message_bytes": 1, "backlog": 1}
    queues: list[object] = [{**queue, "name": f"Q{at}"} for at in range(1_000)]
    queues[500] = {**queue, "colour": "red"}
    queues.append(7)
    assert problems(with_queues(queues)) == {
        "/structures/0/queues/500/colour": "is not a key of the plan document",
        "/structures/0/queues/1000": "must be an object",
    }


def test_object_with_too_many_keys_is_refused_with_their_number() -> None:
    text = "{" + ",".join(f'"k{at}":1' for at in range(200_000)) + "}"
    with at_most_cpu_seconds(5), pytest.raises(DocumentInvalid) as refused:
        read_json(text)
    (problem,) = refused.value.problems
    assert "200000 keys: at most 10000" in problem.message


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_text_nested_deeper_than_any_document_is_refused(opening: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    for levels in (62, 900, 100_000):
        with pytest.raises(DocumentInvalid, match="nested too deeply"):
            parse_json(opening * levels + "1" + closing * levels)
    assert parse_json("[" * 50 + "]" * 50)


def test_largest_plan_that_mq_permits_is_read() -> None:
    structures = [
        {
            "name": f"APP{at}",
            "queues": [
                {"name": f"Q{at}.{nth}", "message_bytes": 4096, "backlog": 1000} for nth in range(512)
            ],
        }
        for at in range(63)
    ]
    read = read_json(json.dumps({**SMALLEST, "structures": structures}))
    assert sum(len(structure.queues) for structure in read.structures) == 63 * 512


@given(
    st.decimals(0, 120, places=3),
    st.integers(0, 100),
    st.integers(0, 100),
    st.sampled_from([Decimal(1), Decimal("0.001"), Decimal(10**6)]),
)
def test_impossible_message_sizes_are_those_without_a_distribution(
    mean: Decimal, p95: int, largest: int, scale: Decimal
) -> None:
    whole = int(max(scale, Decimal(1)))
    sizes = MessageSizes.model_construct(mean=mean * scale, p95=p95 * whole, max=largest * whole)
    found = sizes.distribution()
    assert sizes.problem() == (None if isinstance(found, int) else found.problem())
