"""Names that MQ and z/OS allow are returned unchanged; all others are refused with the rule."""

from __future__ import annotations

import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core import names
from planner_core.errors import NameSyntax
from planner_core.texts.mqsc.commands import read_commands

Check = Callable[[str], str]

ALLOWED: list[tuple[Check, str]] = [
    (names.qsg, "A"),
    (names.qsg, "SQ03"),
    (names.qsg, "A$#@"),
    (names.queue_manager, "QM01"),
    (names.queue_manager, "$QM1"),
    (names.queue_manager, "@"),
    (names.cfstruct, "A"),
    (names.cfstruct, "APPLICATION1"),
    (names.cfstruct, "CSQSYSAPPLX"),
    (names.coupling_facility, "CF_01$#@"),
    (names.structure, "A"),
    (names.structure, "SQ03APPLICATION1"),
    (names.structure, "A_$#@"),
    (names.policy, "POLICY_1"),
    (names.label, "PCI"),
    (names.label, "bank-1_a.b"),
    (names.label, "x" * 32),
    (names.dsgroup, "MQ.SMDS.*.APP1"),
    (names.dsgroup, "MQ.S*.APP1"),
    (names.dsgroup, "A-1.*"),
    (names.dsgroup, "*.MQ"),
    (names.dsgroup, ".".join(["A2345678"] * 4) + ".*.ABCDEF"),
]
REFUSED: list[tuple[Check, str, str]] = [
    (names.qsg, "", "1 to 4 characters"),
    (names.qsg, "SQ033", "1 to 4 characters"),
    (names.qsg, "1SQ", "starting with a letter"),
    (names.qsg, "$SQ", "starting with a letter"),
    (names.qsg, "SQ 3", "1 to 4 characters"),
    (names.qsg, "SQ03\n", "1 to 4 characters"),
    (names.qsg, "SQ0\u0662", "1 to 4 characters"),
    (names.qsg, "sq03", "Write it in upper case: SQ03"),
    (names.queue_manager, "1QM", "not starting with a digit"),
    (names.queue_manager, "QM001", "1 to 4 characters"),
    (names.cfstruct, "", "1 to 12 characters"),
    (names.cfstruct, "APPLICATION12", "1 to 12 characters"),
    (names.cfstruct, "1APP", "starting with a letter"),
    (names.cfstruct, "APP_1", "A-Z 0-9"),
    (names.cfstruct, "APP$", "A-Z 0-9"),
    (names.cfstruct, "CSQ_ADMIN", "always generated and holds no user data"),
    (names.cfstruct, "CSQSYSAPPL", "generated from the key 'system'"),
    (names.coupling_facility, "CF0000001", "1 to 8 characters"),
    (names.coupling_facility, "_CF", "starting with a letter"),
    (names.structure, "A2345678901234567", "1 to 16 characters"),
    (names.structure, "@APP", "starting with a letter"),
    (names.policy, "POLICY-1", "1 to 8 characters"),
    (names.policy, "9POLICY", "starting with a letter"),
    (names.label, "", "1 to 32 characters"),
    (names.label, "two words", "1 to 32 characters"),
    (names.label, "x" * 33, "1 to 32 characters"),
    (names.dsgroup, "MQ.SMDS.APP1", "exactly one asterisk"),
    (names.dsgroup, "MQ.*.*.APP1", "exactly one asterisk"),
    (names.dsgroup, "MQ..*.APP1", "each qualifier has 1 to 8"),
    (names.dsgroup, ".MQ.*", "each qualifier has 1 to 8"),
    (names.dsgroup, "MQ.*.APP1.", "each qualifier has 1 to 8"),
    (names.dsgroup, "MQ.1SMDS.*", "each qualifier has 1 to 8"),
    (names.dsgroup, "MQ.SMDSX*.APP1", "each qualifier has 1 to 8"),
    (names.dsgroup, "MQ.A23456789.*", "each qualifier has 1 to 8"),
    (names.dsgroup, "MQ.SMDS.*.APP1'", "is not allowed here"),
    (names.dsgroup, "mq.smds.*.app1", "upper case: MQ.SMDS"),
    (names.dsgroup, ".".join(["A2345678"] * 4) + ".*.ABCDEFGH", "up to 44 characters"),
]


@pytest.mark.parametrize(("check", "name"), ALLOWED, ids=lambda value: getattr(value, "__name__", value))
def test_valid_name_is_returned(check: Check, name: str) -> None:
    assert check(name) == name


@pytest.mark.parametrize(
    ("check", "name", "rule"), REFUSED, ids=lambda value: ascii(getattr(value, "__name__", value))
)
def test_invalid_name_is_refused_with_its_rule(check: Check, name: str, rule: str) -> None:
    with pytest.raises(NameSyntax) as refused:
        check(name)
    assert rule in str(refused.value)


CHECKS: tuple[Check, ...] = (
    names.qsg,
    names.queue_manager,
    names.cfstruct,
    names.coupling_facility,
    names.structure,
    names.policy,
    names.label,
    names.dsgroup,
)


@given(st.sampled_from(CHECKS), st.text(max_size=60))
def test_accepted_name_has_only_allowed_characters(check: Check, name: str) -> None:
    try:
        assert check(name) == name
    except NameSyntax as refused:
        sentence = str(refused)
        assert sentence.isascii()
        assert sentence.isprintable()
    else:
        assert not set(name) - set(string.ascii_letters + string.digits + "$#@_.-*")


def test_error_on_a_long_name_shows_only_its_beginning() -> None:
    with pytest.raises(NameSyntax) as refused:
        names.policy("x" * 5000)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("group", "name", "expected"),
    [
        ("NY03", "PRODUCT7", "NY03PRODUCT7"),
        ("SQ03", "MYDATA", "SQ03MYDATA"),
        ("MQ", "APP", "MQ@@APP"),
        ("A", "CSQ_ADMIN", "A@@@CSQ_ADMIN"),
        ("SQ03", "CSQSYSAPPL", "SQ03CSQSYSAPPL"),
    ],
)
def test_group_name_is_padded_with_at_signs(group: str, name: str, expected: str) -> None:
    assert names.cfrm_structure_name(qsg_name=group, cfstruct_name=name) == expected


group_names = st.from_regex(r"[A-Z][A-Z0-9$#@]{0,3}", fullmatch=True)
struct_names = st.from_regex(r"[A-Z][A-Z0-9]{0,11}", fullmatch=True)


@given(group_names, struct_names)
def test_structure_names_of_all_groups_are_valid_in_cfrm(group: str, name: str) -> None:
    made = names.cfrm_structure_name(qsg_name=names.qsg(group), cfstruct_name=name)
    assert names.structure(made) == made
    assert made[4:] == name


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("PAYMENTS.IN", "PAYMENTS.IN"),
        ("A_1", "A_1"),
        ("payments", "'payments'"),
        ("A/B", "'A/B'"),
        ("A%", "'A%'"),
        ("", "''"),
        ("O'BRIEN", "'O''BRIEN'"),
        ("A B", "'A B'"),
        ("A)+", "'A)+'"),
    ],
)
def test_mqsc_value_is_quoted_unless_it_survives_without_quotes(name: str, written: str) -> None:
    assert names.mqsc_value(name) == written


@given(
    st.from_regex(r"[A-Z]{2,12}", fullmatch=True).filter(lambda key: key not in {"SHARE", "NOSHARE"}),
    # A command is one line of printable text; a line break would end it.
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=64),
)
def test_mqsc_attribute_with_any_value_is_read_back_unchanged(keyword: str, value: str) -> None:
    (command,) = read_commands(f"ALTER CFSTRUCT(APP1) {names.mqsc_attribute(keyword, value)}\n").commands
    assert command.settings() == {keyword: value}


@pytest.mark.parametrize("value", ["0", "100", "4194304", "64K", "512M", "YES", "SMDS", "ASQMGR", "MSGID"])
def test_mqsc_attribute_with_number_or_keyword_has_no_quotes(value: str) -> None:
    assert names.mqsc_attribute("KEY", value) == f"KEY({value})"


@given(st.text())
def test_quoted_mqsc_value_ends_at_its_closing_quote(value: str) -> None:
    written = names.mqsc_value(value)
    if written.startswith("'"):
        inside = written[1:-1]
        assert "'" not in inside.replace("''", "")
        assert inside.replace("''", "'") == value
    else:
        assert written == value == value.upper()
