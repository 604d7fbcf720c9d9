"""The commands `cfplan structure`, `cfplan admin` and `cfplan offload`: one structure, without a plan.

The core is imported when a command runs, so that help and usage errors appear without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.command_line import (
    UsageError,
    add_fail_on,
    add_json,
    exit_code,
    message_size,
    whole_number,
    write,
    write_json,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from planner_core.findings import Finding

_MOST = 10**12
_LARGEST_MIB = 64 * 2**20


def add_structure(structure: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan structure`."""
    structure.set_defaults(run=_structure)
    question = structure.add_mutually_exclusive_group(required=True)
    question.add_argument(
        "--messages",
        type=whole_number(0, _MOST),
        metavar="N",
        help="backlog in messages; calculates the size",
    )
    question.add_argument("--size-mib", type=_mib, metavar="S", help="size in MiB; calculates the backlog")
    _add_sized(structure)
    _add_answers(structure)


def add_admin(admin: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan admin`."""
    admin.set_defaults(run=_admin)
    admin.add_argument(
        "--queue-managers",
        type=whole_number(1, 999),
        required=True,
        metavar="N",
        help="queue managers DEFINED to the group",
    )
    admin.add_argument(
        "--cfcc", type=whole_number(1, 99), default=25, metavar="L", help="CF control code level"
    )
    admin.add_argument(
        "--entsmax", type=whole_number(0, _MOST), metavar="E", help="ENTSMAX from DISPLAY CFSTATUS(CSQ_ADMIN)"
    )
    admin.add_argument(
        "--elements-total",
        type=whole_number(0, _MOST),
        metavar="T",
        help="total elements of CSQ_ADMIN, from D XCF,STR or IXC585E",
    )
    _add_answers(admin)


def add_offload(offload: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan offload`."""
    offload.set_defaults(run=_offload)
    offload.add_argument("--size-mib", type=_mib, required=True, metavar="S", help="size of the structure")
    _add_sized(offload)
    offload.add_argument(
        "--auto-alter",
        action="store_true",
        help="assume that the entry-to-element ratio always follows the demand",
    )
    offload.add_argument(
        "--rule",
        action="append",
        metavar="TH:SZ",
        help="a rule, such as 70:32K; up to three (default: the three default rules of MQ)",
    )
    offload.add_argument(
        "--hold",
        type=whole_number(1, _MOST),
        metavar="N",
        help="also calculate IBM's threshold that reserves space for N offloaded messages",
    )
    _add_answers(offload)


def _add_answers(made: argparse.ArgumentParser) -> None:
    add_json(made)
    made.add_argument("--explain", action="store_true", help="include an explanation of every figure")
    add_fail_on(made)


def _add_sized(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--message-bytes",
        type=message_size(),
        required=True,
        metavar="B",
        help="user data and MQ headers except the MQMD, in bytes or with a unit, such as 2K",
    )
    made.add_argument(
        "--cfcc",
        type=whole_number(1, 99),
        default=25,
        metavar="L",
        help="CF control code level (14 is the level of IBM's Tables 1 and 2)",
    )


def _mib(text: str) -> Fraction:
    from fractions import Fraction

    from planner_core.typed_numbers import ambiguity, decimal, separator_problem

    plain = text.strip()
    # Scripts send back sizes of JSON answers, which have a point before decimals: 391.125 is not 391125.
    value = decimal(f"{plain}0" if "." in plain and ambiguity(plain) else plain)
    if value is None:
        msg = f"{text!r} {separator_problem(text) or 'is not a number'}"
        raise argparse.ArgumentTypeError(msg)
    if not 0 <= value <= _LARGEST_MIB:
        msg = f"{text} is not between 0 and {_LARGEST_MIB} MiB"
        raise argparse.ArgumentTypeError(msg)
    return Fraction(value)


def _structure(arguments: argparse.Namespace) -> int:
    from planner_core.sizing import structure_size
    from planner_core.sizing.shared_findings import (
        above_maximum,
        always_offloaded,
        cfcc_level_too_low,
        size_below_base,
    )
    from planner_core.units import bytes_to_kib_ceil, ceil_fraction, mib_not_below, mib_to_bytes

    choice = structure_size.published_curve(cfcc_level=arguments.cfcc)
    curve = choice.curve
    findings = [
        *choice.findings,
        *cfcc_level_too_low(arguments.cfcc),
        *always_offloaded(arguments.message_bytes),
    ]
    per_message = structure_size.elements_held(arguments.message_bytes, header_bytes=curve.header_bytes)
    binding = structure_size.binding_pool(entries=1, elements=per_message, curve=curve)
    if arguments.messages is None:
        size = mib_to_bytes(arguments.size_mib)
        findings += size_below_base(size, curve=curve)
        messages = structure_size.messages_that_fit(size, message_bytes=arguments.message_bytes, curve=curve)
        explained = structure_size.explain_messages(
            "/messages", size_bytes=size, message_bytes=arguments.message_bytes, curve=curve
        )
        return _answer(arguments, {"messages": messages, "binding": binding}, findings, [explained])
    elements = arguments.messages * per_message
    exact = structure_size.exact_size_for(entries=arguments.messages, elements=elements, curve=curve)
    need = ceil_fraction(exact)
    findings += above_maximum(need)
    figures = {
        "size_mib": mib_not_below(exact),
        "size_kib": bytes_to_kib_ceil(structure_size.allocated_bytes(need, curve=curve)),
        "entries": arguments.messages,
        "elements": elements,
        "binding": binding,
    }
    return _answer(
        arguments,
        figures,
        findings,
        structure_size.explain_backlog(
            messages=arguments.messages, message_bytes=arguments.message_bytes, curve=curve
        ),
    )


def _admin(arguments: argparse.Namespace) -> int:
    from planner_core.errors import PlanRefused
    from planner_core.sizing import admin_structure
    from planner_core.sizing.shared_findings import cfcc_level_too_low
    from planner_core.units import bytes_to_kib_ceil

    try:
        need = admin_structure.admin_need(
            queue_managers=arguments.queue_managers,
            cfcc_level=arguments.cfcc,
            entsmax=arguments.entsmax,
            elements_total=arguments.elements_total,
        )
    except PlanRefused as refused:
        nothing = {"size_kib": None, "entries_required": None, "elements_required": None}
        return _answer(arguments, nothing, refused.findings)
    figures = {
        "size_kib": bytes_to_kib_ceil(need.published_bytes),
        "entries_required": need.entries_required,
        "elements_required": need.elements_required,
        "basis": need.basis.value,
        "table": need.table_id,
    }
    findings = [*need.findings, *cfcc_level_too_low(arguments.cfcc)]
    return _answer(arguments, figures, findings, admin_structure.explain_admin(need))


def _offload(arguments: argparse.Namespace) -> int:
    from planner_core.sizing import offload
    from planner_core.sizing.offload_question import offload_answer
    from planner_core.units import mib_to_bytes

    rules = (
        tuple(offload.parse_rule(text) for text in arguments.rule)
        if arguments.rule
        else offload.default_rules()
    )
    if len(rules) > len(offload.default_rules()):
        msg = "cfplan offload: a structure has at most three offload rules."
        raise UsageError(msg)
    answer = offload_answer(
        mib_to_bytes(arguments.size_mib),
        message_bytes=arguments.message_bytes,
        rules=rules,
        cfcc_level=arguments.cfcc,
        auto_alter=arguments.auto_alter,
        hold_messages=arguments.hold,
    )
    return _answer(arguments, answer.figures, answer.findings, answer.explanations)


def _answer(
    arguments: argparse.Namespace,
    figures: dict[str, Any],
    findings: Sequence[Finding],
    explanations: Sequence[Any] = (),
) -> int:
    """Print figures and findings, as JSON or as text."""
    from planner_core.findings import in_order
    from planner_core.provenance import plain_number

    ordered = in_order(list(findings))
    if arguments.json:
        found = {**figures, "findings": [finding.as_json() for finding in ordered]}
        if arguments.explain:
            found["explanations"] = {item.figure: item.as_json() for item in explanations}
        write_json(found)
    else:
        width = max(len(name) for name in figures) if figures else 0
        for name, value in figures.items():
            write(f"{name.replace('_', ' '):<{width}}  {_plain(value)}\n")
        for finding in ordered:
            write(f"{finding.severity}: {finding.code}: {finding.message}\n  {finding.source}\n")
        if arguments.explain:
            for item in explanations:
                write(
                    f"\n{item.figure} = {item.formula} = {plain_number(item.value)} {item.unit} ({item.basis.words})\n"
                )
                for step in item.steps:
                    write(f"  {step.name} = {step.formula} = {plain_number(step.value)}\n")
                for given in item.inputs:
                    origin = f"{given.basis.words}{f': {given.source}' if given.source else ''}"
                    write(
                        f"  {given.name} = {' '.join(filter(None, (str(plain_number(given.value)), given.unit)))} ({origin})\n"
                    )
    return exit_code(ordered, arguments.fail_on)


def _plain(value: Any) -> str:  # noqa: ANN401 - any JSON value
    if value is None:
        return "not known"
    if isinstance(value, list):
        return "; ".join(_plain(item) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {_plain(item)}" for key, item in value.items())
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
