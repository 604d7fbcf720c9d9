"""The commands `cfplan events advise` and `cfplan events rates`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.command_line import (
    EXIT_OK,
    STANDARD_INPUT,
    Command,
    add_fail_on,
    add_json,
    add_question,
    exit_code,
    finding_lines,
    read_plan,
    read_question,
    write,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from planner_core.depth_events.advice import PlanDepthAdvice
    from planner_core.sizing.depth_advice import DepthLead, Thresholds


def add_advise(verb: Command) -> None:
    """Add the two commands."""
    verb("advise", "Advise on MAXDEPTH, QDEPTHHI and QDEPTHLO for the queues of a plan.", _add_advise)
    verb("rates", "Add the rates measured in event messages to a plan document.", _add_rates)


def _add_advise(advised: argparse.ArgumentParser) -> None:
    advised.set_defaults(run=_advise)
    advised.add_argument(
        "file", metavar="PLAN", help="the plan document (JSON or YAML); - for standard input"
    )
    add_json(advised)
    add_fail_on(advised)


def _add_rates(rated: argparse.ArgumentParser) -> None:
    from planner_core.depth_events.measured import RatesQuestion

    rated.set_defaults(run=_rates)
    rated.add_argument("file", metavar="PLAN", help="the plan document (JSON or YAML)")
    rated.add_argument(
        "--sets",
        required=True,
        metavar="FILE",
        help="the output of cfplan events read --json; - for standard input",
    )
    add_json(rated, "print the answer as JSON, with the queues that received rates")
    add_question(rated, RatesQuestion)


def _advise(arguments: argparse.Namespace) -> int:
    from app.events.advising import advise
    from app.fits.from_settings import curves_of_settings

    found = advise(read_plan(arguments.file), curves_of_settings)
    if arguments.json:
        write_json(found.as_json())
    else:
        write_lines(_lines(found))
    return exit_code(found.findings, arguments.fail_on)


def _lines(found: PlanDepthAdvice) -> Iterator[str]:
    """Yield the advice for the terminal: a block for each structure."""
    from planner_core.units import floor_fraction

    for structure in found.structures:
        advice = structure.depth_events
        held = advice.action_messages
        room = "" if held is None else f": {held} messages of the planned mix"
        yield f"{structure.name}: {advice.action} at {advice.action_percent} % of INITSIZE{room}"
        width = max((len(each.name) for each in advice.queues), default=0)
        for each in advice.queues:
            yield f"  {each.name:<{width}}  {_values(each)}"
            if each.planned is not None:
                yield f"  {'':<{width}}    in the plan: {_values(each.planned)}{_lead(each.planned.at_net_rate)}"
        if (lead := advice.lead) is not None:
            first = (
                "no event"
                if lead.first_high is None
                else f"{lead.first_queue} after {floor_fraction(lead.first_high)} s"
            )
            yield f"  all queues at their net rates, starting empty: {first}, {advice.action_percent} % after {floor_fraction(lead.to_action)} s, full after {floor_fraction(lead.to_full)} s"
    for finding in found.findings:
        yield from finding_lines(finding)


def _values(each: Thresholds) -> str:
    values = [
        f"{name.upper()}({value})"
        for name in ("maxdepth", "qdepthhi", "qdepthlo")
        if (value := getattr(each, name)) is not None
    ]
    return " ".join(values) or "no advice: no backlog is planned, or INITSIZE cannot hold it"


def _lead(lead: DepthLead | None) -> str:
    if lead is None:
        return ""
    return f"; after Queue Depth High, at the net rate: {lead.to_action_s} s to the action level, {lead.to_maxdepth_s} s to MAXDEPTH"


def _rates(arguments: argparse.Namespace) -> int:
    from app.events.reading import checked, file_of
    from app.texts.documents import parse_text
    from app.texts.yaml_text import yaml_text
    from planner_core.depth_events.measured import with_rates
    from planner_core.depth_events.readers import LARGEST_FILE_BYTES

    plan = parse_text(file_of(Path(arguments.file))[1])
    if arguments.sets == STANDARD_INPUT:
        text = checked(sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1), "standard input")
    else:
        text = file_of(Path(arguments.sets))[1]
    made = with_rates(plan, parse_text(text), using=read_question(arguments).using)
    if arguments.json:
        write_json(made.as_json())
        return EXIT_OK
    for taken in made.taken:
        rates = f"{float(taken.put_rate_per_s):g} puts and {float(taken.get_rate_per_s):g} gets per second"
        # On standard error, because standard output contains the plan document.
        sys.stderr.write(f"{taken.queue}: {rates}\n")
    for passed in made.passed_over:
        sys.stderr.write(f"{passed.queue}: no rates, because {passed.reason}\n")
    for each in made.findings:
        sys.stderr.write(f"{each.severity}: {each.code}: {each.message}\n")
    # Decimals become floats, because the YAML writer would quote them as strings.
    write(yaml_text(json.loads(json.dumps(made.text, default=float))))
    return EXIT_OK
