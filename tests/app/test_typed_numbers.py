"""Every place where people type or paste numbers follows one rule (decision 0035), and reads what cfplan shows itself."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import Workbook
from pydantic import TypeAdapter, ValidationError

from app.command_line import message_size, read_question, whole_number
from app.fits.points_cli import _size as size_option
from app.importing.cli import _number as import_option
from app.importing.spreadsheets import table_text
from app.settings import Settings, SettingsInvalid, read_settings
from app.sizing.cli import _mib as mib_option
from app.web.csv_files import csv_text
from app.web.field_values import text_of, value_of
from app.web.forms import FormField, read_fields
from app.web.question_forms import question_fields
from app.web.question_forms import read_question as read_question_form
from planner_core.document.types import MeanBytes, StructureSize
from planner_core.errors import PlannerError
from planner_core.questions import Absent, Label, Number, Question, Size, Whole
from planner_core.texts.csv_rows import RowReader
from planner_core.texts.queue_paste import read_queues
from planner_core.typed_numbers import ambiguity, decimal, size_text, unambiguous, whole
from planner_core.units import KIB, MIB, format_size, parse_size
from planner_core.whatif.survival_answer import SurvivalQuestion

NO = None
# text: as a whole number, as a number with decimals, in a table
NUMBERS: Mapping[str, tuple[object, object, object]] = {
    "1200": (1200, 1200, 1200),
    "1,200": (1200, NO, NO),
    "4,000": (4000, NO, NO),
    "1.200": (NO, NO, NO),
    "4.000": (NO, NO, NO),
    "1.2000": (NO, "1.2", "1.2"),
    "1.5": (NO, "1.5", "1.5"),
    "1,5": (NO, NO, "1.5"),
    "0,125": (NO, NO, "0.125"),
    "0.125": (NO, "0.125", "0.125"),
    "1234.567": (NO, "1234.567", "1234.567"),
    "1234,567": (NO, NO, "1234.567"),
    "12,345,678": (12345678, 12345678, 12345678),
    "1,200.5": (NO, "1200.5", "1200.5"),
    "1,200.500": (NO, "1200.5", "1200.5"),
    "1.234.567": (NO, NO, NO),
    "1.200,5": (NO, NO, NO),
    "1 200": (1200, 1200, 1200),
    "1 200,5": (NO, NO, "1200.5"),
    "1\u202f200": (1200, 1200, 1200),
    "1'200": (1200, 1200, 1200),
    "1\u2019200": (1200, 1200, 1200),
    "1_000": (1000, 1000, 1000),
    "1 2345": (NO, NO, NO),
    "1,234 567": (NO, NO, NO),
    "12,34,567": (NO, NO, NO),
    "2.000M": (NO, NO, NO),
    "1e3": (NO, 1000, NO),
    "1.5E+02": (NO, 150, NO),
    "1e-05": (NO, "0.00001", NO),
    "-0e0": (NO, 0, NO),
    "1e40": (NO, NO, NO),
    "1e999999": (NO, NO, NO),
    "1,200e3": (NO, NO, NO),
    ".": (NO, NO, NO),
    "\u0663": (NO, NO, NO),
    "\uff11\uff12": (NO, NO, NO),
    "\u00b2": (NO, NO, NO),
    "0x10": (NO, NO, NO),
    "+5": (5, 5, 5),
    " 5 ": (5, 5, 5),
    "-0": (0, 0, 0),
    "007": (7, 7, 7),
    "NaN": (NO, NO, NO),
    "inf": (NO, NO, NO),
    "1.": (NO, NO, NO),
    ".5": (NO, "0.5", "0.5"),
    "1,": (NO, NO, NO),
    "+": (NO, NO, NO),
    "1" * 400: (NO, NO, NO),
    "0." + "1" * 400: (NO, NO, NO),
}
WHOLE, DECIMAL, IN_TABLE = range(3)


def _known(found: object, kind: type | tuple[type, ...] = (int, Decimal)) -> object:
    return found if isinstance(found, kind) and not isinstance(found, bool) else None


def _field(kind: Any, text: str) -> object:  # noqa: ANN401 - a kind of field
    values, errors = read_fields([FormField("n", "N", kind, text)])
    return None if errors else values["n"]


def _option(read: Callable[[str], object], text: str) -> object:
    try:
        return read(text)
    except argparse.ArgumentTypeError:
        return None


class Asked(Question):
    """A question with both kinds of numbers."""

    rate: Annotated[Decimal | Absent, Number(), Label("Rate")] = None
    count: Annotated[int | Absent, Whole(), Label("Count")] = None


class SizeAsked(Question):
    """A question with a size."""

    size: Annotated[int | Absent, Size(), Label("Size")] = None


def _question_field(name: str, text: str) -> object:
    question = read_question_form(Asked, {name: text}, question_fields(Asked)).question
    return getattr(question, name, None)


def _question_option(name: str, text: str) -> object:
    given = {"rate": None, "count": None, name: text}
    try:
        return getattr(read_question(argparse.Namespace(question=Asked, **given)), name)
    except PlannerError:
        return None


def _cell(read: str, text: str) -> object:
    row = RowReader({"n": text})
    found = row.whole("n", 0, 10**12) if read == "whole" else row.number("n", 10**12)
    return None if row.problems else found


def _pasted(column: str, text: str) -> object:
    row = {"name": "A", "size": "1", "backlog": "1", "rate": "1", "outage": "1"}
    row = {**row, column: text}
    pasted = "\n".join("\t".join(cells) for cells in (row.keys(), row.values()))
    key = {"rate": "put_rate_per_s", "size": "message_bytes"}.get(column, column)
    found = next((queue[key] for queue in read_queues(pasted).queues), None)
    # The document refuses decimals of a backlog.
    return found if column == "rate" or isinstance(found, int) else None


def _pasted_rates(text: str) -> object:
    found = read_queues(f"name\tsize\tbacklog\tqueue_manager_rates\nA\t1\t1\tQM01:{text.strip()}/0\n").queues
    rates: Any = found[0]["queue_manager_rates"] if found else {}
    return rates["QM01"]["put_rate_per_s"] if "QM01" in rates else None


def _setting(name: str, text: str) -> object:
    try:
        return Decimal(repr(getattr(read_settings(**{name: text}), name)))
    except SettingsInvalid:
        return None


PLACES: Mapping[str, tuple[int, Callable[[str], object]]] = {
    "rule, whole": (WHOLE, whole),
    "rule, decimal": (DECIMAL, decimal),
    "rule, in a table": (IN_TABLE, partial(decimal, in_table=True)),
    "editor, whole": (WHOLE, lambda text: _known(value_of("whole", text))),
    "editor, decimal": (DECIMAL, lambda text: _known(value_of("decimal", text))),
    "calculator, whole": (WHOLE, partial(_field, "whole")),
    "calculator, decimal": (DECIMAL, partial(_field, "decimal")),
    "what-if, decimal": (DECIMAL, partial(_question_field, "rate")),
    "what-if, whole": (WHOLE, partial(_question_field, "count")),
    "option, decimal": (DECIMAL, partial(_question_option, "rate")),
    "option of a question, whole": (WHOLE, partial(_question_option, "count")),
    "option, whole": (WHOLE, partial(_option, whole_number(0, 10**12))),
    "import option, whole": (WHOLE, lambda text: _known(import_option(text, is_whole=True))),
    "import option, decimal": (
        DECIMAL,
        lambda text: _known(import_option(text, is_whole=False), (int, float)),
    ),
    "CSV, whole": (WHOLE, partial(_cell, "whole")),
    "CSV, decimal": (IN_TABLE, partial(_cell, "number")),
    "paste, backlog": (WHOLE, partial(_pasted, "backlog")),
    "paste, rate": (IN_TABLE, partial(_pasted, "rate")),
    "setting, whole": (WHOLE, partial(_setting, "in_process_below_bytes")),
    "setting, decimal": (DECIMAL, partial(_setting, "oversize_percent")),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_place_reads_numbers_by_one_rule(place: str) -> None:
    column, read = PLACES[place]
    wrong = {}
    for text, row in NUMBERS.items():
        expected, found = row[column], read(text)
        wanted = None if expected is None else Fraction(str(expected))
        actual = None if found is None else Fraction(str(found))
        if wanted != actual:
            wrong[text] = found
    assert wrong == {}


# text: bytes without a unit in K, bytes of a message size
SIZES: Mapping[str, tuple[int | None, int | None]] = {
    "1200": (1200 * KIB, 1200),
    "1,200": (1200 * KIB, 1200),
    "1 200": (1200 * KIB, 1200),
    "1.200": (NO, NO),
    "4.000": (NO, NO),
    "1.5M": (MIB * 3 // 2, MIB * 3 // 2),
    "1.5000M": (MIB * 3 // 2, MIB * 3 // 2),
    "1,5M": (NO, NO),
    "1.500M": (NO, NO),
    "1,500K": (NO, NO),
    "2.000 MB": (NO, NO),
    "2.000b": (NO, NO),
    "2 000K": (2000 * KIB, 2000 * KIB),
    "12,345,344B": (12_345_344, 12_345_344),
    "1e3K": (NO, NO),
    "\u0663K": (NO, NO),
    "1.M": (NO, NO),
    "-1M": (NO, NO),
    "1" * 400: (NO, NO),
}


def _size_of(kind: Any, text: object) -> object:  # noqa: ANN401 - an annotated type
    try:
        return TypeAdapter(kind).validate_python(text, strict=True)
    except ValidationError:
        return None


def _cell_size(text: str) -> object:
    row = RowReader({"n": text})
    found = row.size("n")
    return None if row.problems else found


SIZE_PLACES: Mapping[str, tuple[int, Callable[[str], object]]] = {
    "editor, size": (0, lambda text: _size_of(StructureSize, value_of("size", text))),
    "option, size": (0, partial(_option, size_option)),
    "CSV, size": (0, _cell_size),
    "calculator, message size": (1, partial(_field, "bytes")),
    "editor, mean message size": (1, lambda text: _size_of(MeanBytes, value_of("bytes", text))),
    "option, message size": (1, partial(_option, message_size())),
    "paste, message size": (1, partial(_pasted, "size")),
}


@pytest.mark.parametrize("text", ["1/2", "1/2/3/4", "1 000/2/3/4", "/" * 9])
def test_text_with_another_number_of_sizes_than_one_or_three_stays_as_it_is(text: str) -> None:
    assert value_of("bytes", text) == text
    assert _size_of(MeanBytes, value_of("bytes", text)) is None


def test_fields_with_a_million_blanks_are_answered() -> None:
    blanks = " " * 10**6
    assert value_of("ratio", f"1{blanks}:{blanks}6") == [1, 6]
    assert value_of("rules", f"70{blanks}over{blanks}32K") == [{"usage_over": 70, "size_over": "32K"}]
    for text in (f"1{blanks}x", f"70{blanks}x"):
        assert value_of("ratio", text) == value_of("rules", text) == text


def test_size_of_a_what_if_question_is_refused_with_both_readings() -> None:
    assert SizeAsked.check({"size": ["2,000M"]}, is_typed=True)[1] == {
        "size": "may have a thousands separator: write 2000M or 2M"
    }
    assert SizeAsked.read({"size": ["2 000M"]}, is_typed=True).size == 2000 * MIB


@pytest.mark.parametrize("place", SIZE_PLACES)
def test_every_place_reads_sizes_by_one_rule(place: str) -> None:
    column, read = SIZE_PLACES[place]
    assert {text: read(text) for text in SIZES} == {text: row[column] for text, row in SIZES.items()}


def test_pasted_rate_of_a_queue_manager_follows_the_rule() -> None:
    assert _pasted_rates("1.5") == Decimal("1.5")
    assert _pasted_rates("1.200") is None
    assert _pasted_rates("1,200") is None


def test_error_of_a_pasted_number_names_the_column_and_both_readings() -> None:
    (problem,) = read_queues("name\tsize\trate\toutage\nA\t1\t1,200\t5\n").problems
    assert problem.message == "A: '1,200' (put_rate_per_s) may have a thousands separator: write 1200 or 1.2."


def test_mean_of_a_pasted_distribution_may_be_two_numbers() -> None:
    text = "name\tsize\tp95\tmax\tbacklog\nA\t{}\t2K\t4,096\t1\n"
    assert read_queues(text.format("1,024")).queues == ()
    (queue,) = read_queues(text.format("1024.5")).queues
    assert queue["message_bytes"] == {"mean": Decimal("1024.5"), "p95": 2048, "max": 4096}


def test_parameter_of_rest_has_a_point_before_decimals() -> None:
    read = {"1.200": Decimal("1.2"), "1e3": Decimal(1000)}
    assert {text: Asked.read({"rate": [text]}).rate for text in read} == read


@pytest.mark.parametrize("text", ["1,200", "1 200", "\u0663"])
def test_parameter_of_rest_has_no_separators(text: str) -> None:
    assert Asked.check({"rate": [text]})[1] == {"rate": "must be a number"}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1200 " * 24, 24),
        (", ".join(["1200"] * 24), 24),
        (",".join(["120"] * 48), 48),
        ("1,200 " * 24, None),
        ("1,200, " * 24, None),
        ("1.200 " * 24, None),
        ("1.2000 " * 24, 24),
    ],
)
def test_puts_of_a_day_with_thousands_separators_are_refused(text: str, count: int | None) -> None:
    question, errors = SurvivalQuestion.check({"day": [text]}, is_typed=True)
    assert (question and question.days and len(question.days[0])) == count
    assert bool(errors) is (count is None)


@pytest.mark.parametrize("text", ["30.0", " 30.0\n", "+30.0"])
def test_whole_setting_may_have_a_zero_after_its_point(text: str) -> None:
    assert read_settings(deleted_days=text).deleted_days == 30


@pytest.mark.parametrize("text", [".0", "30.5", "30.00.0", "1.200.0", "30.000"])
def test_setting_that_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(SettingsInvalid, match="CFPLAN_DELETED_DAYS"):
        read_settings(deleted_days=text)


def test_setting_that_may_be_two_numbers_is_refused_with_its_name() -> None:
    with pytest.raises(
        SettingsInvalid, match=r"CFPLAN_DELETED_DAYS: may have a thousands separator: write 30000"
    ):
        read_settings(deleted_days="30.000")


# ---- round trips -----------------------------------------------------------------------------------------------------

# As a plan stores them: at most 15 digits, and no exponent below -15.
STORED = st.builds(
    lambda digits, exponent, sign: sign * Decimal(digits).scaleb(exponent),
    st.integers(0, 10**15 - 1),
    st.integers(-15, 0),
    st.sampled_from([1, -1]),
)
THREE_DECIMALS = st.decimals(-999, 999, places=3)


@given(st.one_of(STORED, THREE_DECIMALS))
def test_every_number_is_read_back_from_its_field_option_and_setting(number: Decimal) -> None:
    text = text_of("decimal", number)
    assert value_of("decimal", text) == number
    assert decimal(text, in_table=True) == number
    assert text_of("decimal", value_of("decimal", text)) == text


@given(st.integers(-(10**15), 10**15))
def test_every_whole_number_is_read_back_from_its_field_and_with_groups(number: int) -> None:
    assert value_of("whole", text_of("whole", number)) == number
    for mark in (",", " ", "'", "\u202f"):
        assert whole(f"{number:,}".replace(",", mark)) == number


@given(st.one_of(STORED, THREE_DECIMALS).map(abs).filter(lambda number: number <= 10**9))
def test_every_rate_is_read_back_from_a_csv_file(number: Decimal) -> None:
    stored = float(number)
    text = csv_text((("name", "message_bytes", "put_rate_per_s", "outage_minutes"), [("A", 1, stored, 1)]))
    (queue,) = read_queues(text).queues
    assert float(str(queue["put_rate_per_s"])) == stored


@given(st.floats(1e-12, 10**9).map(lambda number: float(f"{number:.15g}")))
@example(0.0)
@example(1.234)
@example(0.00001)
def test_every_number_of_a_workbook_is_read_back(number: float) -> None:
    workbook = Workbook()
    sheet = workbook.create_sheet("n", 0)
    sheet.append(["n"])
    sheet.append([number])
    file = io.BytesIO()
    workbook.save(file)
    rows = list(csv.reader(io.StringIO(table_text(file.getvalue(), "a.xlsx"))))
    assert float(str(decimal(rows[1][0], in_table=True))) == number


@given(st.integers(1, 64 * 2**30))
def test_every_size_is_read_back_from_its_field(size_kib: int) -> None:
    text = format_size(size_kib * KIB)
    assert size_text(text) == text
    assert parse_size(size_text(text)) == size_kib * KIB


@given(st.integers(1, 8 * 64 * 2**20))
def test_size_of_a_json_answer_is_accepted_by_its_option(eighths: int) -> None:
    # Sizes in 128K steps, whose MiB have three decimals.
    assert mib_option(repr(eighths / 8)) == Fraction(eighths, 8)


def test_option_of_a_size_in_mib_needs_a_digit() -> None:
    for text in (".", "+.", "", "0."):
        with pytest.raises(argparse.ArgumentTypeError, match="is not a number"):
            mib_option(text)
    assert mib_option("1.5e2") == 150


def test_option_of_a_size_in_mib_has_no_separators_that_may_be_decimals() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"write 4096 or 4\.0960"):
        mib_option("4,096")


def test_settings_are_read_back_from_the_environment_of_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(oversize_percent=1.125, ratio_percent=0.00001)
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)
    found = read_settings()
    assert (found.oversize_percent, found.ratio_percent) == (1.125, 0.00001)


@given(st.decimals(-999, 999, places=3))
def test_both_readings_of_an_error_are_read(number: Decimal) -> None:
    problem = ambiguity(f"{number:f}")
    if problem:
        thousands, _, decimals = problem.removeprefix("may have a thousands separator: write ").partition(
            " or "
        )
        assert decimal(decimals) == number
        assert decimal(thousands) == number * 1000
    else:
        assert decimal(f"{number:f}") == number
    assert decimal(unambiguous(number)) == number
