from __future__ import annotations

import gc
import re
import weakref
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader
from markupsafe import Markup

from app.web import rendering
from app.web.rendering import count, group_digits, mib, mib_signed, number, percent
from planner_core.units import MIB

NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda value: format(value, "f"))


@given(NUMBERS | st.integers().map(str))
def test_grouped_digits_are_the_number_in_groups_of_three(text: str) -> None:
    shown = group_digits(text)
    assert isinstance(shown, Markup)
    assert re.sub(r"<.*?>", "", shown) == text.replace("-", "\N{MINUS SIGN}")
    whole, *groups = filter(None, re.split("<[^>]+>", shown))
    digits = text.removeprefix("-").partition(".")[0]
    assert [len(group.partition(".")[0]) for group in groups] == (
        [3] * ((len(digits) - 1) // 3) if len(digits) > 4 else []
    )
    assert 1 <= len(whole.lstrip("\N{MINUS SIGN}").partition(".")[0]) <= (3 if len(digits) > 4 else 4)


@pytest.mark.parametrize("text", ["<b>", "1&2", "12345<", '1.5"', "-<i>", "1234567.<u>"])
def test_texts_that_are_not_numbers_are_not_marked_as_safe(text: str) -> None:
    assert not isinstance(number(text), Markup)


@given(st.integers(min_value=-(2**70), max_value=2**70), st.integers(min_value=1, max_value=10**6))
def test_bytes_as_mib_are_rounded_once(value: int, denominator: int) -> None:
    for exact in (Fraction(value), Fraction(value, denominator)):
        rounded = float(exact / MIB)  # correctly rounded
        assert re.sub(r"<.*?>", "", mib(exact)) == f"{rounded:.1f} MiB".replace("-", "\N{MINUS SIGN}")
    assert mib(value) == mib(Fraction(value))
    assert mib_signed(value) == mib_signed(Fraction(value))


def test_kinds_of_numbers_have_the_same_markup() -> None:
    expected = '<span class="n">12<i>345</i></span>'
    assert {
        count(12345),
        number(12345),
        number("12345"),
        number(Decimal(12345)),
        number(Fraction(12345)),
    } == {expected}
    assert percent(Fraction(1, 3)) == '0.4 <span class="u">%</span>'


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("Full from 2026-11-24 11:00 to 2026-11-25T12:00.", ["2026-11-24", "2026-11-25T12:00"]),
        ("A (2026-11-24), and 2026-11-24; ", ["2026-11-24", "2026-11-24"]),
        ("Q-2026-11-24, 2026-11-24-1, D2026-11-24 and 12026-11-24", []),
    ],
)
def test_dates_of_a_sentence_stay_on_one_line_but_parts_of_names_are_no_dates(
    text: str, dates: list[str]
) -> None:
    shown = str(rendering.sentence(text))
    assert re.sub("<[^>]+>", "", shown) == text
    assert re.findall(r'<span class="keep">(.*?)</span>', shown) == dates


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("It holds 1234567 messages.", ["1234567"]),
        ("It holds 9999 messages.", []),
        ("They need 220742.5 of 65536, or 123456.", ["220742.5", "65536", "123456"]),
        ("MAXDEPTH(220742) and INITSIZE 451584K of Q12345 or APP.12345 on 20261121-1", []),
        ("(65536 bytes)", ["65536"]),
    ],
)
def test_numbers_of_a_sentence_are_grouped_but_not_names_and_values_of_keywords(
    text: str, grouped: list[str]
) -> None:
    shown = str(rendering.sentence(text))
    assert re.sub("<[^>]+>", "", shown) == text
    assert [
        re.sub("<[^>]+>", "", each) for each in re.findall(r'<span class="n">.*?</span>', shown)
    ] == grouped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Lower size_factor.", "Lower SIZE as a multiple of INITSIZE (<code>size_factor</code>)."),
        ("Check `occupied`.", "Check Used by others (<code>occupied</code>)."),
        ("Set my_size_factor or size_factor_2.", "Set my_size_factor or size_factor_2."),
    ],
)
def test_keys_of_a_sentence_are_preceded_by_the_labels_of_their_fields(text: str, shown: str) -> None:
    assert str(rendering.sentence(text)) == shown


@pytest.mark.parametrize(
    ("values", "unit", "digits"),
    [
        ((80, 80.04), "percent", 2),
        ((80, 80.00001), "percent", 1),
        ((80, 90, None, "none"), "percent", 1),
        ((MIB, MIB + 20_000), "bytes", 2),
        ((1024, 1025), "K", 3),
        ((1, 2), "messages", 1),
    ],
)
def test_values_that_differ_are_shown_with_enough_digits(
    values: tuple[object, ...], unit: str, digits: int
) -> None:
    assert rendering.telling_digits(values, unit) == digits


def test_markup_in_a_sentence_is_escaped() -> None:
    assert str(rendering.sentence("<b>123456")) == '&lt;b&gt;<span class="n">123<i>456</i></span>'


class Answer:
    """A value of a page."""

    def __str__(self) -> str:
        return "A-1"


@dataclass(frozen=True, kw_only=True)
class AnswerPage(rendering.Page):
    """A page that passes its values on to macros."""

    answer: Answer


def test_values_of_a_page_are_freed_without_garbage_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    env = rendering.environment().overlay(
        loader=DictLoader(
            {
                "page": '{% from "one" import tagged with context %}{% from "two" import twice with context %}'
                "{{ twice() }}{% macro own() %}{{ answer }}{% endmacro %}{{ own() }}",
                "one": "{% macro tagged() %}<b>{{ answer }}</b>{% endmacro %}",
                "two": "{% macro twice() %}{{ answer }}{{ answer }}{% endmacro %}",
            }
        )
    )
    monkeypatch.setattr(rendering, "environment", lambda: env)
    monkeypatch.setattr(rendering, "frame_of", lambda _: None)
    page = AnswerPage(title="", section="", answer=Answer())
    kept = weakref.ref(page.answer)
    gc.collect()
    gc.disable()
    try:
        assert rendering.render_text("page", page) == "A-1A-1A-1"
        del page
        assert kept() is None
    finally:
        gc.enable()


def test_templates_lose_their_indentation_and_values_keep_it() -> None:
    template = rendering.environment().from_string(
        "<ul>\n  {% for item in items %}\n    <li>{{ item }}</li>\n  {% endfor %}\n</ul>"
    )
    assert (
        template.render(items=["  one", "two\n  lines"])
        == "<ul>\n<li>  one</li>\n<li>two\n  lines</li>\n</ul>"
    )
