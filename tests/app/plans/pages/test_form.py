"""Conversion between the form of the editor and the plan document."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.plans.editor.form import (
    COLUMNS,
    ROWS_IN_STRUCTURE,
    change,
    check,
    read_typed,
    take_pastes,
    typed_of,
)
from app.plans.editor.view import show
from app.texts.documents import example_text, read_text
from app.web.field_values import text_of, value_of
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object


def example() -> PlanDocument:
    return read_text(example_text().encode())


def everything() -> PlanDocument:
    """Return a document without any default value."""
    return read_object(
        {
            "qsg": "Q#1",
            "queue_managers": ["QM01", "QM02"],
            "cfcc_level": 17,
            "growth": {"percent_per_year": -2.5, "years": 3},
            "headroom_percent": 12.5,
            "db2_group": "DSNDB0A",
            "other_structures": [
                {
                    "name": "DSNDB0A_LOCK1", "size": "128M", "initsize": "64M", "allocated": "96M", "preflist": ["CF1"],
                    "exclist": ["OTHER"], "duplex": "ENABLED", "duplex_site": "CROSSSITE", "enforce_order": True,
                }
            ],
            "size_factor": 1.25,
            "admin": {"headroom_percent": 7, "entsmax": 6000, "initsize": "30M", "size": "60M", "duplex": "ALLOWED"},
            "system": {"include": False, "shared_channels": 9, "preflist": ["CF2"], "allow_auto_alter": True},
            "policy": {"name": "POL1", "job": True, "replace": True},
            "coupling_facilities": [
                {
                    "name": "CF1", "size": "64G", "cfcc_level": 24, "site": "SITE2", "volatile": True,
                    "failure_isolated": False, "type": "003931", "mfg": "IBM", "plant": "02",
                    "sequence": "0000000A1B2C", "partition": "0F", "cpcid": "00", "dumpspace": "1G",
                },
                {"name": "CF2"},
            ],
            "structures": [
                {
                    "name": "APP1", "cflevel": 4, "recover": False, "initsize": "100M", "size": "150M",
                    "minsize": "50M", "allow_auto_alter": True, "entry_to_element_ratio": [1, 8],
                    "full_threshold": 70, "preflist": ["CF2", "CF1"], "exclist": ["Q#1@APP2"], "duplex": "ENABLED",
                    "offload": {
                        "to": "DB2", "rules": [{"usage_over": 60, "size_over": "8K"}], "dsgroup": "MQ.*.A",
                        "dsblock": "64K", "dsbufs": 50,
                    },
                    "size_with_offload": True,
                    "queues": [
                        {"name": "a/B%", "message_bytes": 100, "backlog": 5, "isolation": "PCI"},
                        {
                            "name": "C", "message_bytes": {"mean": 100.5, "p95": 200, "max": 300},
                            "put_rate_per_s": 0.25, "outage_minutes": 90, "persistent": True,
                        },
                    ],
                }
            ],
            "acknowledged": [{"code": "CF_VOLATILE", "structure": "APP1", "reason": "agreed, 2026"},
                {"code": "CF_TOO_SMALL", "message": "No. " * 300 + "No.", "reason": "longer than other fields"}],
        }
    )  # fmt: skip


def queues(count: int) -> PlanDocument:
    return read_object(
        {
            "qsg": "QSG1",
            "queue_managers": 2,
            "structures": [
                {
                    "name": "APP",
                    "queues": [
                        {"name": f"Q.{n}", "message_bytes": 1000 + n, "backlog": n} for n in range(count)
                    ],
                }
            ],
        }
    )


@pytest.mark.parametrize(
    "document",
    [
        example(),
        everything(),
        queues(0),
        queues(ROWS_IN_STRUCTURE),
        queues(ROWS_IN_STRUCTURE + 1),
        queues(512),
    ],
    ids=["example", "everything", "no queues", "as rows", "as text", "512 queues"],
)
def test_document_survives_the_form_unchanged(document: PlanDocument) -> None:
    sent = read_typed(pair for pair in typed_of(document).items() if pair[1])  # boxes not ticked are not sent
    checked = check(sent)
    assert (checked.errors, checked.general) == ({}, ())
    assert checked.document == document


def test_every_key_of_the_document_has_a_field() -> None:
    dumped = everything().model_dump(mode="json")

    def leaves(at: str, value: object) -> set[str]:
        if isinstance(value, dict) and not at.endswith(("message_bytes", "curve")):
            return set().union(*(leaves(f"{at}/{key}", item) for key, item in value.items()))
        # The other structures are one text.
        if isinstance(value, list) and value and isinstance(value[0], dict) and at != "/other_structures":
            return set().union(*(leaves(f"{at}/{number}", item) for number, item in enumerate(value)))
        return {at}

    assert leaves("", dumped) - {"/schema_version"} <= typed_of(everything()).keys()


def test_errors_appear_at_their_field_and_input_is_kept() -> None:
    typed = {
        **typed_of(example()),
        "/qsg": "",
        "/structures/0/full_threshold": "lots",
        "/structures/1/queues/0/backlog": "5",
    }
    checked = check(typed)
    assert checked.document is None
    assert set(checked.errors) == {"/qsg", "/structures/0/full_threshold"}
    assert typed["/structures/0/full_threshold"] == "lots"


def test_error_in_a_list_item_is_shown_at_the_list_field() -> None:
    checked = check({**typed_of(example()), "/structures/1/preflist": "CF01 9BAD"})
    assert set(checked.errors) == {"/structures/1/preflist"}


def test_blank_row_is_ignored_and_keeps_the_others_in_place() -> None:
    typed = change(typed_of(example()), "add:/structures/0/queues").typed
    typed = change(typed, "add:/structures/0/queues").typed
    typed["/structures/0/queues/2/name"] = "LAST"
    checked = check(typed)
    assert "/structures/0/queues/2/message_bytes" in checked.errors
    assert not any(name.startswith("/structures/0/queues/1/") for name in checked.errors)
    typed["/structures/0/queues/2/message_bytes"] = "1K"
    assert set(check(typed).errors) == {"/structures/0/queues/2/backlog"}
    typed["/structures/0/queues/2/backlog"] = "1 000"
    document = check(typed).document
    assert document is not None
    assert [queue.name for queue in document.structures[0].queues] == ["PAYMENTS.IN", "LAST"]
    assert document.structures[0].queues[1].backlog == 1000


def test_removing_a_structure_removes_only_its_fields() -> None:
    typed = change(typed_of(example()), "remove:/structures/0").typed
    document = check(typed).document
    assert document is not None
    assert [structure.name for structure in document.structures] == ["MYDATA"]


def test_error_in_queues_entered_as_text_names_its_line() -> None:
    typed = typed_of(queues(100))
    lines = typed["/structures/0/queues"].splitlines()
    lines[50] = lines[50].replace("1049", "many")
    checked = check({**typed, "/structures/0/queues": "\n".join(lines)})
    assert set(checked.errors) == {"/structures/0/queues"}
    assert checked.errors["/structures/0/queues"].startswith("Line 51:")


def test_queues_survive_the_change_from_rows_to_text_and_back() -> None:
    typed = typed_of(everything())
    as_text = change(typed, "text:/structures/0").typed
    assert as_text["/structures/0/queues"].splitlines()[0].split("\t") == list(COLUMNS)
    assert check(as_text).document == everything()
    assert check(change(as_text, "rows:/structures/0").typed).document == everything()


def test_pasted_queues_are_added_to_existing_ones() -> None:
    text = "name,message_bytes,backlog,persistent\nPAYMENTS.IN,2048,7,yes\nNEW.ONE,100,8,no\n"
    taken = take_pastes({**typed_of(example()), "/structures/0/paste": text})
    document = check(taken.typed).document
    assert document is not None
    assert [(q.name, q.message_bytes, q.backlog) for q in document.structures[0].queues] == [
        ("PAYMENTS.IN", 2048, 7),
        ("NEW.ONE", 100, 8),
    ]
    assert taken.typed["/structures/0/paste"] == ""


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["NEW.ONE", "NEW.TWO"], "2 queues were added to APPLICATION1."),
        (["PAYMENTS.IN"], "1 queue was added to APPLICATION1, replacing an existing queue."),
        (
            ["PAYMENTS.IN", "NEW.ONE"],
            "2 queues were added to APPLICATION1; 1 of them replaced an existing queue.",
        ),
    ],
)
def test_added_queues_are_counted_with_the_replaced_ones(names: list[str], words: str) -> None:
    text = "name,message_bytes,backlog\n" + "".join(f"{name},100,8\n" for name in names)
    assert take_pastes({**typed_of(example()), "/structures/0/paste": text}).notes == (words,)


POLICY = """\
DEFINE POLICY NAME(POLICY1)
  STRUCTURE NAME(DSNDB0A_LOCK1) SIZE(131072) INITSIZE(65536) PREFLIST(CF01,CF02)
  STRUCTURE NAME(SQ03CSQ_ADMIN) SIZE(65536) PREFLIST(CF01,CF02)
"""


@pytest.mark.parametrize("action", ["others:/other_structures", "add:/structures", "check"])
def test_pasted_policy_replaces_the_other_structures_with_every_button(action: str) -> None:
    typed = {**typed_of(example()), "/other_structures": "[{name: OLD, size: 1M}]", "/others_paste": POLICY}
    taken = take_pastes(typed) if action == "check" else change(typed, action)
    document = check({**taken.typed, "/structures/9/name": ""}).document or check(taken.typed).document
    assert taken.typed["/others_paste"] == ""
    assert "1 structure of Db2 and others imported." in taken.notes
    assert taken.typed["/other_structures"].startswith(
        "other_structures:\n  - {name: DSNDB0A_LOCK1, size: 128M, "
    )
    if action != "add:/structures":
        assert document is not None
        assert [each.name for each in document.other_structures] == ["DSNDB0A_LOCK1"]


@pytest.mark.parametrize(
    ("qsg", "text", "words"),
    [
        ("SQ03", "no policy at all", "has no structure of another owner"),
        ("SQ03", "STRUCTURE NAME(SQ03APP1) SIZE(64M)", "has no structure of another owner"),
        ("", POLICY, "Enter the queue-sharing group first"),
    ],
)
def test_pasted_text_without_other_structures_stays_in_its_box(qsg: str, text: str, words: str) -> None:
    typed = {**typed_of(example()), "/qsg": qsg, "/others_paste": text}
    taken = take_pastes(typed)
    assert taken.typed == typed
    assert taken.has_remarks
    assert any(words in note for note in taken.notes)


def test_errors_of_other_structures_are_shown_at_their_text() -> None:
    typed = {**typed_of(example()), "/other_structures": "[{name: ISGLOCK, size: 1X}, {size: 1M}]"}
    errors = check(typed).errors["/other_structures"]
    assert "0, size: " in errors
    assert "1, name: is required" in errors


def test_unreadable_pasted_line_stays_in_the_box() -> None:
    text = "name,message_bytes,backlog\nGOOD,1,1\nnot a name,1,1\n"
    taken = take_pastes({**typed_of(example()), "/structures/0/paste": text})
    assert taken.typed["/structures/0/paste"] == "name,message_bytes,backlog\nnot a name,1,1"
    assert any("Line 3" in note for note in taken.notes)


def test_list_of_512_pasted_queues_is_shown_as_text() -> None:
    text = "name\tmessage_bytes\tbacklog\n" + "".join(f"APP.{n}\t1024\t{n}\n" for n in range(512))
    taken = take_pastes({**typed_of(queues(0)), "/structures/0/name": "APP", "/structures/0/paste": text})
    document = check(taken.typed).document
    assert document is not None
    assert len(document.structures[0].queues) == 512
    assert "/structures/0/queues" in taken.typed


def test_displayed_queues_get_their_size_from_the_field_next_to_them() -> None:
    text = "CSQM401I !MQ01 QUEUE(APP.IN) TYPE(QLOCAL) QSGDISP(SHARED) DEFPSIST(YES) MAXDEPTH(5000)\n"
    typed = {
        **typed_of(queues(0)),
        "/structures/0/name": "APP",
        "/structures/0/paste": text,
        "/structures/0/paste_message_bytes": "2K",
    }
    document = check(take_pastes(typed).typed).document
    assert document is not None
    (queue,) = document.structures[0].queues
    assert (queue.name, queue.message_bytes, queue.backlog, queue.persistent) == ("APP.IN", 2048, 5000, True)


@given(st.integers(min_value=0, max_value=10**12))
def test_whole_number_is_read_back_as_displayed(number: int) -> None:
    assert value_of("whole", text_of("whole", number)) == number
    assert value_of("whole", f"{number:,}") == number


@pytest.mark.parametrize(
    "text", ["4K", "1024", "1.5K", "3500.5/12K/60K", "3500.123456789012/12K/60K", "big", "-5"]
)
def test_message_size_is_passed_to_the_document_as_text(text: str) -> None:
    assert value_of("bytes", text) == text


def test_message_sizes_lose_only_thousands_separators() -> None:
    assert value_of("bytes", "3,500.5 / 12 000 / 60K") == "3500.5/12000/60K"
    assert value_of("bytes", "3,500") == "3500"
    assert value_of("bytes", "3,500/12,000/60K") == "3,500/12000/60K"


@given(
    st.decimals(min_value=100_001, max_value=999_999, places=9),
    st.integers(min_value=10**6, max_value=2 * 10**6),
)
def test_distribution_is_read_back_from_its_text(mean: Decimal, largest: int) -> None:
    document = queues(1).model_dump(mode="json")
    document["structures"][0]["queues"][0]["message_bytes"] = {"mean": mean, "p95": largest, "max": largest}
    expected = read_object(document)
    assert check(typed_of(expected)).document == expected


def test_mean_with_three_decimals_is_read_back_from_its_text() -> None:
    document = queues(1).model_dump(mode="json")
    document["structures"][0]["queues"][0]["message_bytes"] = {
        "mean": Decimal("512.125"),
        "p95": 1024,
        "max": 2048,
    }
    expected = read_object(document)
    assert check(typed_of(expected)).document == expected


def test_mean_with_three_decimals_is_read_back_from_the_text_of_many_queues() -> None:
    document = queues(1).model_dump(mode="json")
    sizes = {"mean": 512.125, "p95": 1024, "max": 2048}
    document["structures"][0]["queues"] = [
        {"name": f"Q{number}", "message_bytes": sizes, "backlog": 1}
        for number in range(ROWS_IN_STRUCTURE + 1)
    ]
    expected = read_object(document)
    typed = typed_of(expected)
    assert "/structures/0/queues" in typed
    assert check(typed).document == expected


def test_fraction_of_a_number_is_never_its_thousands() -> None:
    assert value_of("decimal", "0,125") == "0,125"
    assert value_of("decimal", "1,125") == "1,125"
    assert value_of("decimal", "0.125") == Decimal("0.125")


@pytest.mark.parametrize(
    ("text", "readings"),
    [("1.200", "1200 or 1.2"), ("1,200", "1200 or 1.2"), ("999.999", "999999 or 999.9990")],
)
def test_number_that_may_have_a_thousands_separator_is_refused(text: str, readings: str) -> None:
    at = "/structures/0/queues/0/"
    typed = {
        **typed_of(example()),
        at + "backlog": "",
        at + "put_rate_per_s": text,
        at + "outage_minutes": "60",
    }
    words = f"This may have a thousands separator: write {readings}."
    assert check(typed).errors[at + "put_rate_per_s"] == words
    for reading in readings.split(" or "):
        typed[at + "put_rate_per_s"] = reading
        assert at + "put_rate_per_s" not in check(typed).errors


@pytest.mark.parametrize(
    "field", ["structures/0/initsize", "coupling_facilities/0/size", "structures/0/queues/0/message_bytes"]
)
def test_size_without_unit_whose_point_may_separate_thousands_is_refused(field: str) -> None:
    said = check({**typed_of(example()), f"/{field}": "4.000"}).errors
    assert said[f"/{field}"] == "This may have a thousands separator: write 4000 or 4."


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("structures/0/queues/0/max_message_length", "4.000", "write 4000."),
        ("structures/0/queues/0/backlog", "4.000", "This may have a thousands separator: write 4000."),
        ("queue_managers", "1.200", "This may have a thousands separator: write 1200."),
        ("structures/0/initsize", "2.000M", "write 2000M or 2M."),
        ("structures/0/size", "1,500M", "write 1500M or 1.5M."),
        ("structures/0/queues/0/message_bytes", "1.500K", "write 1500K or 1.5K."),
        ("structures/0/queues/0/max_message_length", "1.500K", "write 1500K or 1.5K."),
        ("structures/0/queues/0/message_bytes", "3000/4.000/12000", "write 4000 or 4."),
        ("structures/0/offload/dsblock", "64.000", "has no unit"),
    ],
)
def test_other_size_with_a_point_before_three_digits_is_refused(field: str, text: str, words: str) -> None:
    assert words in check({**typed_of(example()), f"/{field}": text}).errors[f"/{field}"]


@pytest.mark.parametrize("text", ["1,5", "-0,125", "1.200,5", "1\N{NARROW NO-BREAK SPACE}200,5"])
def test_number_with_a_decimal_comma_is_refused_with_the_reason(text: str) -> None:
    said = check({**typed_of(example()), "/growth/percent_per_year": text}).errors
    words = "Must have a point before the decimals, and no thousands separators, such as 1200.5."
    assert said["/growth/percent_per_year"] == words


def test_negative_number_whose_point_may_separate_thousands_is_refused() -> None:
    errors = check({**typed_of(example()), "/growth/percent_per_year": "-1.200"}).errors
    assert errors["/growth/percent_per_year"] == "This may have a thousands separator: write -1200 or -1.2."
    assert text_of("decimal", Decimal("-1.2")) == "-1.2"
    assert text_of("decimal", Decimal("-1.234")) == "-1.2340"


def test_number_with_three_decimals_is_read_back_from_its_text() -> None:
    assert text_of("decimal", Decimal("1.234")) == "1.2340"
    assert value_of("decimal", "1.2340") == Decimal("1.234")
    rates = {"QM01": {"put_rate_per_s": Decimal("1.234"), "get_rate_per_s": Decimal(0)}}
    assert text_of("rates", rates) == "QM01:1.2340/0"
    assert value_of("rates", "QM01:1.2340/0") == rates


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1.024/12K/60K", "write 1024 or 1.0240"),
        ("3500/12K/many", "'many' is not a valid size"),
        ("3500/12K/200M", "between 0 and 104857600 bytes"),
        ("5/4/3", "must not be above max (3)"),
    ],
)
def test_error_in_one_of_three_message_sizes_is_reported_once(text: str, words: str) -> None:
    said = check({**typed_of(example()), "/structures/0/queues/0/message_bytes": text}).errors
    assert words in said["/structures/0/queues/0/message_bytes"]
    assert ", or" not in said["/structures/0/queues/0/message_bytes"]


@pytest.mark.parametrize("text", ["4M", "4194304", "4,194,304"])
def test_maxmsgl_may_be_entered_as_a_size(text: str) -> None:
    document = check({**typed_of(example()), "/structures/0/queues/0/max_message_length": text}).document
    assert document is not None
    assert document.structures[0].queues[0].max_message_length == 4194304


@given(st.text(max_size=30).filter(lambda text: text.strip()))
def test_form_handles_any_text_in_any_field(text: str) -> None:
    typed = dict.fromkeys(typed_of(everything()), text)
    check(typed)


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("/structures/1/queues/0/name", "PAYMENTS.IN", "Queue PAYMENTS.IN is already in APPLICATION1"),
        ("/structures/0/queues/0/message_bytes", "big", "mean/p95/max, such as 3500/12000/60000"),
        ("/coupling_facilities/0/site", "HERE", "Must be SITE1 or SITE2."),
        ("/structures/0/entry_to_element_ratio", "many", "such as 1:6"),
        ("/curve", "-5", "Must be “published” or the number of a fitted curve."),
        ("/queue_managers", "0", "Must be 1 or more, or names."),
    ],
)
def test_errors_use_the_labels_of_the_form(field: str, text: str, words: str) -> None:
    said = check({**typed_of(example()), field: text}).errors[field]
    assert words in said
    assert not re.search(r"/structures/|object|list|Should|'SITE", said)


def test_new_structure_in_the_form_has_no_queue() -> None:
    typed = change(typed_of(example()), "add:/structures").typed
    assert [each.summary for each in show(typed, None).structures] == ["1 queue", "1 queue", "0 queues"]


@pytest.mark.parametrize(
    ("given", "listed"),
    [
        ({}, ()),
        ({"scm/algorithm": "KEYPRIORITY1", "duplex_site": ""}, ()),
        ({"initsize": "100M"}, ("INITSIZE 100M",)),
        ({"duplex_site": "CROSSSITE"}, ("Site of the second copy CROSSSITE",)),
        ({"exclist": "APP2"}, ("EXCLLIST APP2",)),
        ({"recover": "", "allow_auto_alter": "yes"}, ("RECOVER(NO)", "ALLOWAUTOALT(YES)")),
        ({"full_threshold": ""}, ("FULLTHRESHOLD empty",)),
        ({"offload/rules/1/usage_over": "65"}, ("rule 2: Usage over 65 %",)),
        ({"size_with_offload": "yes"}, ("Size for the backlog with offload: yes",)),
    ],
)
def test_summary_lists_the_collapsed_values_of_a_structure(
    given: dict[str, str], listed: tuple[str, ...]
) -> None:
    typed = {**typed_of(example()), **{f"/structures/0/{key}": value for key, value in given.items()}}
    before = show(typed_of(example()), None).structures[0].settings.split(" · ")
    settings = show(typed, None).structures[0].settings.split(" · ")
    assert [each for each in settings if each not in before] == list(listed)


def test_summary_lists_every_collapsed_value_of_a_plan() -> None:
    document = everything()
    form = show(typed_of(document), None)
    for words in ("CFCC level 17", "Annual growth -2.5 %", "CSQ_ADMIN ENTSMAX 6000", "CSQ_ADMIN INITSIZE 30M",
                  "Plan CSQSYSAPPL: no", "CSQSYSAPPL PREFLIST CF2", "CFRM policy POL1"):  # fmt: skip
        assert words in form.settings, words
    assert form.structures[0].queue_settings == "Persistent 1 · Keep apart 1"


@pytest.mark.parametrize(
    ("name", "text", "parts"),
    [
        ("/cfcc_level", "x", (True, False, False)),
        ("/admin/entsmax", "x", (True, False, False)),
        ("/structures/0/full_threshold", "x", (False, True, False)),
        ("/structures/0/offload/rules/0/usage_over", "x", (False, True, False)),
        ("/structures/0/queues/0/maxdepth", "x", (False, False, True)),
        ("/structures/0/queues/0/backlog", "x", (False, False, False)),
    ],
)
def test_more_is_open_only_if_one_of_its_fields_has_an_error(
    name: str, text: str, parts: tuple[bool, bool, bool]
) -> None:
    typed = {**typed_of(example()), name: text}
    form = show(typed, check(typed))
    first = form.structures[0]
    assert (form.is_unfolded, first.is_unfolded, first.columns_unfolded) == parts


def test_more_is_open_if_one_of_its_fields_gets_the_focus() -> None:
    form = show(typed_of(example()), None, focus="/structures/1/initsize")
    assert [each.is_unfolded for each in form.structures] == [False, True]


@pytest.mark.parametrize(
    ("given", "key", "words"),
    [
        ({"put_rate_per_s": "4"}, "put_rate_per_s", "Enter either a backlog, or puts per second and outage minutes, not both."),
        ({"backlog": ""}, "backlog", "Enter a backlog, or puts per second and outage minutes."),
        ({"backlog": "", "put_rate_per_s": "4"}, "outage_minutes", "Enter the outage minutes, or a backlog"),
        ({"backlog": "", "outage_minutes": "4"}, "put_rate_per_s", "Enter the puts per second, or a backlog"),
    ],
)  # fmt: skip
def test_backlog_and_rate_given_wrongly_are_explained_at_the_field(
    given: dict[str, str], key: str, words: str
) -> None:
    at = "/structures/0/queues/0"
    errors = check({**typed_of(example()), **{f"{at}/{name}": text for name, text in given.items()}}).errors
    assert list(errors) == [f"{at}/{key}"]
    assert errors[f"{at}/{key}"].startswith(words)


def test_too_small_size_of_a_coupling_facility_is_reported_at_its_field() -> None:
    typed = typed_of(example()) | {"/coupling_facilities/0/size": "8"}
    found = check(typed)
    assert found.document is None
    assert list(found.errors) == ["/coupling_facilities/0/size"]
    assert "did you mean 8G?" in found.errors["/coupling_facilities/0/size"]
