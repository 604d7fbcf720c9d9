"""The form of the calculator: plan documents from typed texts, and errors at their fields."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from app.sizing.calculator.form import DEFAULTS, FEWER_SEEN, FIELDS, LONGEST_KEPT, QuickForm, read_form
from planner_core.document.model import PlanDocument


def document(**fields: str) -> PlanDocument:
    form, found = read_form(fields)
    assert found is not None, {field.name: field.error for field in form.wrong}
    return found


def refused(**fields: str) -> QuickForm:
    form, found = read_form(fields)
    assert found is None
    assert form.has_errors
    return form


def test_address_without_parameters_shows_the_example() -> None:
    form, found = read_form({})
    assert form.is_example
    assert found is not None
    assert (found.qsg, found.queue_managers, found.cfcc_level) == ("SQ03", 5, 25)
    assert found.structures[0].queues[0].backlog == 200_000
    assert found.structures[0].queues[0].message_bytes == 1024
    assert found.system.shared_channels == 500
    assert not read_form({"messages": "200000"})[0].is_example


def test_unknown_parameter_is_ignored() -> None:
    form, found = read_form({"utm_source": "a letter"})
    assert form.is_example
    assert found == document()


@pytest.mark.parametrize(
    "typed",
    ["1234567", " 1234567 ", "1 234 567", "1,234,567", "1'234'567", "1_234_567", "1\u202f234\u202f567"],
)
def test_numbers_with_separators_are_read(typed: str) -> None:
    assert document(messages=typed).structures[0].queues[0].backlog == 1_234_567


@pytest.mark.parametrize(
    "typed", ["1,23", "12.5", "1.234.567", "-5", "1e6", "0x10", "٣٠٠", "1 2345", "1,234 567", "k"]
)
def test_invalid_whole_number_is_reported_at_its_field_and_kept(typed: str) -> None:
    form = refused(messages=typed)
    assert [field.name for field in form.wrong] == ["messages"]
    assert form["messages"].error == "Enter a whole number of at most 24 digits."
    assert form["messages"].value == typed


def test_decimal_separator_is_a_point() -> None:
    assert document(headroom_percent="12.5").headroom_percent == pytest.approx(12.5)
    assert document(size_factor="1.25").size_factor == pytest.approx(1.25)
    assert refused(size_factor="1,25")["size_factor"].error.startswith(
        "Must have a point before the decimals"
    )
    assert refused(size_factor="x")["size_factor"].error == "Enter a number with a point before the decimals."


@pytest.mark.parametrize(
    ("typed", "size_bytes"), [("1024", 1024), ("1K", 1024), ("63K", 64_512), ("1 024", 1024)]
)
def test_message_size_with_a_unit_is_read(typed: str, size_bytes: int) -> None:
    assert document(message_bytes=typed).structures[0].queues[0].message_bytes == size_bytes


@pytest.mark.parametrize("typed", ["1 potato", "K", "1K2", "-1K", "-5", "3500/12K/60K"])
def test_unreadable_message_size_is_reported_with_valid_notations(typed: str) -> None:
    assert "1K or 63K" in refused(message_bytes=typed)["message_bytes"].error


@pytest.mark.parametrize(
    ("rate", "minutes", "backlog"),
    [("600", "60", 36_000), ("0.5", "3", 2), ("1.25", "90", 113), ("0", "60", 0), (".5", "2", 1)],
)
def test_backlog_from_rate_and_outage_is_rounded_up(rate: str, minutes: str, backlog: int) -> None:
    found = document(backlog_by="rate", rate_per_minute=rate, outage_minutes=minutes)
    assert found.structures[0].queues[0].backlog == backlog


@pytest.mark.parametrize(
    ("fields", "overflow"),
    [
        ({"overflow_minutes": "30"}, 18_000),
        ({"rate_per_minute": "0.5", "overflow_minutes": "3"}, 2),
        ({}, 0),
        ({"backlog_by": "messages", "overflow_minutes": "30"}, 0),
    ],
)
def test_overflow_is_counted_by_rate_and_does_not_change_the_plan(
    fields: dict[str, str], overflow: int
) -> None:
    form, found = read_form({"backlog_by": "rate", **fields})
    assert form.overflow_messages == overflow
    assert found == read_form({"backlog_by": "rate", **fields, "overflow_minutes": "0"})[1]


def test_negative_overflow_is_reported_at_its_field() -> None:
    form = refused(backlog_by="rate", overflow_minutes="-1")
    assert [field.name for field in form.wrong] == ["overflow_minutes"]


def test_only_fields_of_the_chosen_backlog_method_are_read() -> None:
    assert document(backlog_by="rate", messages="nonsense").structures[0].queues[0].backlog == 36_000
    assert (
        document(backlog_by="messages", rate_per_minute="nonsense").structures[0].queues[0].backlog == 200_000
    )


def test_too_large_backlog_is_reported_at_the_rate_field() -> None:
    form = refused(backlog_by="rate", rate_per_minute="9" * 20, outage_minutes="9" * 20)
    assert [field.name for field in form.wrong] == ["rate_per_minute"]


def test_structure_names_become_upper_case_and_queue_names_keep_their_case() -> None:
    found = document(
        qsg="sq03",
        structure="appl1",
        coupling_facilities="cf01, cf02;cf03",
        queue="Mixed.Case",
        dsgroup="mq.*.a1",
    )
    assert found.qsg == "SQ03"
    assert found.structures[0].name == "APPL1"
    assert found.structures[0].preflist == ["CF01", "CF02", "CF03"]
    assert [facility.name for facility in found.coupling_facilities] == ["CF01", "CF02", "CF03"]
    assert found.structures[0].queues[0].name == "Mixed.Case"
    assert found.structures[0].offload.dsgroup == "MQ.*.A1"


def test_empty_dsgroup_is_omitted_from_the_document() -> None:
    assert document().structures[0].offload.dsgroup is None
    assert document(dsgroup="  ").structures[0].offload.dsgroup is None


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("qsg", "SQ033"),
        ("qsg", "1SQ"),
        ("structure", "1AB"),
        ("structure", "A" * 13),
        ("structure", "A) SIZE(1"),
        ("queue", "A B"),
        ("queue", "Q" * 49),
        ("coupling_facilities", "CF-1"),
        ("dsgroup", "NO STAR"),
        ("dsgroup", "TWO.*.STARS.*"),
        ("queue_managers", "0"),
        ("cfcc_level", "0"),
        ("cfcc_level", "9999999"),
        ("headroom_percent", "100000000"),
        ("size_factor", "9"),
        ("full_threshold", "101"),
        ("shared_channels", "99999999999"),
        ("messages", "9" * 23),
        ("messages", "9" * 25),
        ("message_bytes", "999999999999"),
    ],
)
def test_error_of_the_core_is_reported_at_its_field(name: str, typed: str) -> None:
    form = refused(**{name: typed})
    assert [field.name for field in form.wrong] == [name]
    assert form.errors == ()
    assert form[name].value == typed
    assert form[name].error.endswith(".")


@pytest.mark.parametrize(
    "name", [name for name in DEFAULTS if name not in {"dsgroup", "coupling_facilities", "headroom_percent"}]
)
def test_empty_field_is_required_or_has_a_default(name: str) -> None:
    by_rate = {"rate_per_minute", "outage_minutes", "overflow_minutes"}
    by = {"backlog_by": "rate"} if name in by_rate else {}
    form, found = read_form({name: "", **by})
    if name in {"backlog_by", "persistent", "csqsysappl"}:
        assert found == document()
    else:
        assert [field.name for field in form.wrong] == [name]
        assert form[name].error in {"Enter a name.", "Enter a number."}


def test_unknown_choice_selects_the_first_option() -> None:
    form, found = read_form({"persistent": "perhaps", "backlog_by": "<b>"})
    assert found == document()
    assert form["persistent"].value == "yes"


def test_several_errors_are_reported_together_at_their_fields() -> None:
    form = refused(messages="many", qsg="TOOLONG", size_factor="9", queue="")
    assert {field.name for field in form.wrong} == {"messages", "qsg", "size_factor", "queue"}


def test_very_long_text_is_truncated() -> None:
    form = refused(queue="Q" * 100_000)
    assert len(form["queue"].value) == LONGEST_KEPT


def test_url_of_a_result_returns_the_same_result() -> None:
    typed = {"messages": "1 000", "queue": "A.B", "coupling_facilities": "CF01 CF02 CF03", "dsgroup": "A.*.B"}
    form, found = read_form(typed)
    again = {name: values[0] for name, values in parse_qs(form.query, keep_blank_values=True).items()}
    assert set(again) == set(DEFAULTS)
    assert read_form(again)[1] == found


def test_optional_fields_are_expanded_if_one_is_used_or_invalid() -> None:
    assert not read_form({})[0].is_unfolded
    assert not read_form({"messages": "5"})[0].is_unfolded
    for name in FEWER_SEEN:
        assert read_form({name: "no" if name == "csqsysappl" else "7"})[0].is_unfolded, name


def test_every_field_has_a_label() -> None:
    labels = {field.label for field in FIELDS}
    assert "" not in labels
    assert len(labels) == len(FIELDS)
