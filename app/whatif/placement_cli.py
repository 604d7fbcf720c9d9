"""`cfplan whatif cf-loss` and `cfplan whatif upgrade`.

What computes the answers is imported when a command runs, so that all other commands start without it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    Command,
    add_question,
    read_plan,
    read_question,
    write,
    write_answer,
    write_json,
)

if TYPE_CHECKING:
    from planner_core.questions import Question


def add(verb: Command) -> None:
    """Add both commands."""
    lost = verb(
        "cf-loss", "Lose each coupling facility and site: what moves where, what finds no place.", _lose
    )
    add_question(lost, _loss_question)
    upgraded = verb("upgrade", "Before and after: CFCC levels, one more queue manager, growth.", _upgrade)
    add_question(upgraded, _upgrade_question)
    upgraded.add_argument(
        "--fragment", metavar="STEP", help="print the CFRM statements of this step instead, such as cfcc-25"
    )


def _loss_question() -> type[Question]:
    from planner_core.whatif.loss import LossQuestion

    return LossQuestion


def _upgrade_question() -> type[Question]:
    from planner_core.whatif.growth import UpgradeQuestion

    return UpgradeQuestion


def _lose(arguments: argparse.Namespace) -> int:
    from app.fits.from_settings import CurvesOfSettings
    from app.whatif.losing import loss_answer
    from planner_core.errors import PlanRefused

    question = read_question(arguments)
    others = [(Path(name).stem or name, read_plan(name)) for name in question.others]
    try:
        answer = loss_answer(read_plan(arguments.file), others, CurvesOfSettings(), at=question.at).as_json()
    except PlanRefused as refused:
        return _refused(arguments, refused)
    return write_answer(arguments, answer, _loss_lines(answer))


def _upgrade(arguments: argparse.Namespace) -> int:
    from app.fits.from_settings import CurvesOfSettings
    from app.whatif.growing import upgrade_answer
    from planner_core.errors import OutputRefused, PlannerError, PlanRefused

    question = read_question(arguments)
    try:
        found = upgrade_answer(read_plan(arguments.file), question, CurvesOfSettings())
    except PlanRefused as refused:
        return _refused(arguments, refused)
    if arguments.fragment is not None:
        steps = {step.change.key: step for step in found.steps if step.after is not None}
        if arguments.fragment not in steps:
            message = f"There is no step {arguments.fragment!r}: ask for one of {', '.join(steps) or 'none'}."
            raise PlannerError(message)
        try:
            write(steps[arguments.fragment].statements())
        except OutputRefused as refused:
            return _refused(arguments, refused)
        return EXIT_OK
    answer = found.as_json()
    return write_answer(arguments, answer, _upgrade_lines(answer), notes=False)


def _refused(arguments: argparse.Namespace, refused: Any) -> int:  # noqa: ANN401 - the core is imported later
    if arguments.json:
        write_json({"findings": [each.as_json() for each in refused.findings]})
    sys.stderr.write(f"{refused}\n")
    return EXIT_FINDINGS


def _mib(value: float | None) -> str:
    return "not stated" if value is None else f"{value:,.0f}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns side by side; the first to the left, numbers to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if number and _is_number(cell) else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _is_number(cell: str) -> bool:
    return cell[:1] in "+-0123456789"


def _loss_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"Where structures are, counted with {answer['counted_at'].upper()} [MiB]"
    heads = [("structure", "size", "in", "second copy", "rule")]
    rows = [
        (
            each["structure"],
            _mib(each["size_mib"]),
            each["coupling_facility"],
            each["second_copy"] or "",
            each["rule"],
        )
        for each in answer["placements"]
    ]
    yield from _table([*heads, *rows, *_nowhere(answer["unplaced"], columns=5)])
    for loss in answer["losses"]:
        yield ""
        what = {"coupling_facility": "", "machine": "machine ", "site": "site "}[loss["kind"]]
        yield f"Without {what}{loss['lost']}: white space {_mib(loss['white_space_mib'])} MiB" + (
            f", {_mib(loss['missing_mib'])} MiB of it without a place" if loss["unplaced"] else ""
        )
        moved = [each for each in loss["placements"] if each["action"] != "stays"]
        rows = [
            (
                f"  {each['structure']}",
                _mib(each["size_mib"]),
                each["action"].replace("_", " "),
                " ".join(filter(None, (each["coupling_facility"], each["second_copy"]))),
                each["rule"] or "",
            )
            for each in moved
        ]
        rows += [
            (f"  {name}", size, "no place", "", "")
            for name, size, *_ in _nowhere(loss["unplaced"], columns=2)
        ]
        if rows:
            yield from _table(rows)
        gone = sum(each["messages_gone"] for each in loss["messages"])
        if gone:
            yield f"  {gone} messages of the planned backlog are gone."
        yield from (f"  {each['what_happens']}" for each in loss["queue_managers_end"])
        by_itself = [each["structure"] for each in loss["messages"] if each["recovers_by_itself"]]
        if by_itself:
            yield f"  Recover without an operator: {', '.join(by_itself)}."
        yield from (
            f"  {each['structure']}: {each['what_happens']}"
            for each in loss["messages"]
            if each["recovers_by_itself"] is None
        )
    yield ""
    yield "White space to keep [MiB]"
    yield from _table(
        [
            ("coupling facility", "keep", "free", "because of"),
            *(
                (
                    each["coupling_facility"],
                    _mib(each["white_space_mib"]),
                    _mib(each["free_mib"]),
                    each["because_of"] or "",
                )
                for each in answer["coupling_facilities"]
            ),
        ]
    )


def _nowhere(unplaced: Sequence[Mapping[str, Any]], *, columns: int) -> list[tuple[str, ...]]:
    rows = [(each["structure"], _mib(each["size_mib"]), "no place", "", "none") for each in unplaced]
    return [row[:columns] for row in rows]


def _upgrade_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    for step in answer["steps"]:
        yield f"{step['title']} ({step['step']})"
        if step["refused"]:
            yield f"  {step['refused']}"
            yield ""
            continue
        rows: list[tuple[str, ...]] = [("  structure", "INITSIZE K", "after", "", "SIZE K", "after", "")]
        rows += [
            _before_after(f"  {each['structure']}", each, is_replaced=each["given_size_replaced"])
            for each in step["structures"]
        ]
        rows.append(_before_after("  together", step["totals"], is_replaced=False))
        yield from _table(rows)
        for each in step["unplaced_after_loss"]:
            yield f"  Without {each['lost']} no place for {', '.join(each['structures'])}."
        if step["unplaced"]:
            yield f"  No place for {', '.join(step['unplaced'])}."
        yield ""


def _before_after(name: str, each: Mapping[str, Any], *, is_replaced: bool) -> tuple[str, ...]:
    before, after, difference = each["before"], each["after"], each["difference"]
    return (
        name + (" *" if is_replaced else ""),
        str(before["initsize_kib"]),
        str(after["initsize_kib"]),
        f"{difference['initsize_kib']:+}",
        str(before["size_kib"]),
        str(after["size_kib"]),
        f"{difference['size_kib']:+}",
    )
