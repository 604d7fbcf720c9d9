"""The commands `cfplan curves fit-points` and `cfplan curves advise`: curves from sizing answers.

Neither needs a service. Only `--save`, and `advise` without a file, use the database.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from app.command_line import (
    EXIT_OK,
    UsageError,
    add_fail_on,
    add_json,
    table_lines,
    whole_number,
    write,
    write_answer,
    write_json,
)

if TYPE_CHECKING:
    from app.fits.points import FitOfPoints
    from planner_core.contracts.fits import Estimate
    from planner_core.sizing.sizing_points import Kind, SizingPoint
    from planner_core.texts.sizing_answers import DisplayDetails

FIT_POINTS = "Fit base, entry cost, element cost and the cost of SIZE to sizing answers or displays of empty structures."
ADVISE = "Print the sizings to run next, so that the intervals of a fit become as narrow as possible."


def add_fit_points(made: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan curves fit-points`."""
    made.set_defaults(run=_fit_points)
    made.add_argument(
        "file", metavar="FILE", help="a CSV file of sizing answers, or displays; - for standard input"
    )
    _add_group(made)
    made.add_argument(
        "--save", action="store_true", help="store the points, and the fit of all stored points as a curve"
    )
    shown = made.add_argument_group("values that displays do not show")
    shown.add_argument(
        "--ratio", type=_ratio, metavar="1:N", help="ratio of entries to elements, for DISPLAY CFSTATUS"
    )
    shown.add_argument(
        "--size",
        type=_size,
        metavar="SIZE",
        help="SIZE in the policy, for DISPLAY CFSTATUS; K without a unit",
    )
    shown.add_argument("--release", default="", metavar="TEXT", help="release of z/OS")
    shown.add_argument("--measured-by", default="", metavar="NAME", help="who displayed the structures")
    shown.add_argument("--measured-on", type=_day, metavar="DATE", help="the day, as YYYY-MM-DD")
    add_json(made)
    add_fail_on(made)


def add_advise(made: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan curves advise`."""
    made.set_defaults(run=_advise)
    made.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="a CSV file of the answers that are known already; without it, the stored points",
    )
    _add_group(made)
    add_json(made)


def _add_group(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--cfcc-level",
        type=whole_number(1, 99),
        metavar="L",
        help="the CFCC level to fit, if FILE has several; for displays, the level of their coupling facilities",
    )
    made.add_argument(
        "--type",
        choices=("application", "admin"),
        help="application structures or CSQ_ADMIN, if FILE has both",
    )


# ---- fit-points ------------------------------------------------------------------------------------------------------


def _fit_points(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.fits import points
    from app.running.texts import read_text
    from planner_core.sizing.sizing_points import grouped

    text = read_text(arguments.file)
    if arguments.save:
        with open_database() as (database, _), database.session(writes=True) as session:
            read, left_out = points.read_text(session, text, _details(arguments))
            level, kind = _group(arguments, [each.point for each in read])
            added = points.add(session, read)
            found = replace(points.fit_and_save(session, level, kind), added=added.added, known=added.known)
    else:
        read, left_out = points.read_text(None, text, _details(arguments))
        level, kind = _group(arguments, [each.point for each in read])
        found = points.fit_of(grouped(each.point for each in read)[level, kind])
    found = replace(found, left_out=left_out)
    return write_answer(arguments, found, found.findings, _lines(found))


def _details(arguments: argparse.Namespace) -> DisplayDetails:
    from planner_core.texts.sizing_answers import DisplayDetails

    return DisplayDetails(
        cfcc_level=arguments.cfcc_level,
        ratio=arguments.ratio,
        size_bytes=arguments.size,
        release=arguments.release,
        measured_by=arguments.measured_by,
        measured_on=arguments.measured_on,
    )


def _group(arguments: argparse.Namespace, found: Sequence[SizingPoint]) -> tuple[int, Kind]:
    """Return the CFCC level and kind of structure to fit: those of the options, or the only ones of the points."""
    from planner_core.sizing.sizing_points import grouped

    groups = grouped(found)
    chosen = [
        (level, kind)
        for level, kind in groups
        if arguments.cfcc_level in (None, level) and arguments.type in (None, kind)
    ]
    if len(chosen) == 1:
        return chosen[0]
    has = ", ".join(
        f"{len(of)} at CFCC level {level} of {_kind_words(kind)}" for (level, kind), of in groups.items()
    )
    if not chosen:
        message = f"No point has the requested CFCC level and type. The points are: {has}."
        raise UsageError(message)
    message = f"Points of several CFCC levels or types are fitted separately: choose with --cfcc-level and --type. The points are: {has}."
    raise UsageError(message)


def _kind_words(kind: str) -> str:
    return "CSQ_ADMIN" if kind == "admin" else "application structures"


def _lines(found: FitOfPoints) -> Iterator[str]:
    if found.added is not None:
        known = f"; {found.known} stored before or repeated" if found.known else ""
        yield f"Points added: {found.added}{known}."
    yield (
        f"Fit of {found.points_used} of {found.points} points, CFCC level {found.cfcc_level}, {_kind_words(found.kind)}: "
        f"{found.state.replace('_', ' ')}"
    )
    rows = [("Figure", "Value", "Lowest", "Highest"), *_figures(found)]
    if len(rows) > 1:
        yield from table_lines(rows, right=(1, 2, 3))
        yield (
            "The intervals hold every line that the rounding of sizes allows."
            if found.method == "rounding"
            else f"The intervals contain the true figures with a confidence of {100 * found.confidence:g} %."
        )
    for source in found.sources:
        yield f"From {source}"
    for each in found.left_out:
        yield f"Left out: line {each.line}: {each.reason}"
    if found.version is not None:
        yield f"Stored as curve {found.version}. To use it in a plan: curve: {{fitted: {found.version}}}"


def _figures(found: FitOfPoints) -> Iterator[tuple[str, str, str, str]]:
    ratio = ":".join(map(str, found.ratio))
    for name, estimate, digits, unit in (
        ("Base", found.base_bytes, ",.0f", "bytes"),
        ("Entry", found.entry_cost_bytes, ".2f", "bytes"),
        ("Element", found.element_cost_bytes, ".2f", "bytes"),
        (f"Entry with its elements at {ratio}", found.bundle_bytes, ".2f", "bytes"),
        ("Control storage for each byte of SIZE", found.size_cost, ".6f", "bytes"),
    ):
        if estimate is not None:
            yield (f"{name} [{unit}]", *_texts(estimate, digits))


def _texts(estimate: Estimate, digits: str) -> tuple[str, str, str]:
    return format(estimate.value, digits), format(estimate.low, digits), format(estimate.high, digits)


# ---- advise ----------------------------------------------------------------------------------------------------------


def _advise(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.fits import points
    from app.running.texts import read_text
    from planner_core.sizing.sizing_advice import advise

    kind: Kind = arguments.type or "application"
    if arguments.file is None:
        if arguments.cfcc_level is None:
            message = "State the CFCC level to size for with --cfcc-level."
            raise UsageError(message)
        # A command that stores nothing must not create or migrate the database of a service.
        with open_database(migrates=False) as (database, _):
            if database.is_missing:
                found = advise((), cfcc_level=arguments.cfcc_level, kind=kind)
            else:
                with database.session(writes=False) as session:
                    found = points.advice(session, arguments.cfcc_level, kind)
    else:
        read, _ = points.read_text(None, read_text(arguments.file), _without_details(arguments))
        level, kind = _group(arguments, [each.point for each in read])
        found = advise([each.point for each in read], cfcc_level=level, kind=kind)
    if arguments.json:
        write_json(found.as_json())
    else:
        write(found.text if found.text.endswith("\n") else f"{found.text}\n")
    return EXIT_OK


def _without_details(arguments: argparse.Namespace) -> DisplayDetails:
    from planner_core.texts.sizing_answers import DisplayDetails

    return DisplayDetails(cfcc_level=arguments.cfcc_level)


# ---- options ---------------------------------------------------------------------------------------------------------


def _ratio(text: str) -> tuple[int, int]:
    from planner_core.errors import InputInvalid
    from planner_core.texts.sizing_answers import ratio_of

    try:
        return ratio_of(text)
    except InputInvalid as error:
        raise argparse.ArgumentTypeError(error.problems[0].message) from None


def _size(text: str) -> int:
    from planner_core.errors import SizeSyntax
    from planner_core.typed_numbers import size_text, typed_size

    try:
        return typed_size(size_text(text))
    except SizeSyntax as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is not a day such as 2026-11-03"
        raise argparse.ArgumentTypeError(message) from None
