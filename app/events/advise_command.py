"""`cfplan events advise` and `cfplan events rates`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner_core.document import PlanDocument

EXIT_OK, EXIT_FINDINGS = 0, 1
_STANDARD_INPUT = "-"
Verb = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]


def add_advise(verb: Verb) -> None:
    """Add the two commands."""
    advised = verb("advise", "MAXDEPTH, QDEPTHHI and QDEPTHLO for the queues of a plan.", _advise)
    advised.add_argument(
        "file", metavar="PLAN", help="the plan document (JSON or YAML); - for standard input"
    )
    advised.add_argument("--json", action="store_true", help="answer as JSON")
    advised.add_argument(
        "--fail-on", choices=("error", "warning"), default="error", help="exit 1 from this severity on"
    )
    rated = verb("rates", "A plan document with the rates that event messages tell.", _rates)
    rated.add_argument("file", metavar="PLAN", help="the plan document (JSON or YAML)")
    rated.add_argument(
        "--sets",
        required=True,
        metavar="FILE",
        help="what cfplan events read --json wrote; - for standard input",
    )
    rated.add_argument(
        "--using",
        choices=("filling", "all"),
        default="filling",
        help="the newest set in which a queue filled (default), or all sets",
    )
    rated.add_argument("--json", action="store_true", help="answer as JSON, with what was taken")


def _document(name: str) -> PlanDocument:
    from app.documents import read_file, read_text

    return read_text(sys.stdin.buffer.read()) if name == _STANDARD_INPUT else read_file(Path(name))


def _advise(arguments: argparse.Namespace) -> int:
    from app.curves.from_settings import CurvesOfSettings
    from app.events.advising import advice_of, advise

    found = advice_of(advise(_document(arguments.file), CurvesOfSettings()))
    if arguments.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(found)))
    serious = {"error", arguments.fail_on}
    is_open = [each for each in found["findings"] if each["severity"] in serious and not each["acknowledged"]]
    return EXIT_FINDINGS if is_open else EXIT_OK


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """The advice for people: a block for each structure."""
    for structure in found["structures"]:
        advice = structure["depth_events"]
        held = advice["action_messages"]
        room = "" if held is None else f": {held} messages of the planned mix"
        yield f"{structure['name']}: {advice['action']} at {advice['action_percent']} % of INITSIZE{room}"
        width = max((len(each["name"]) for each in advice["queues"]), default=0)
        for each in advice["queues"]:
            yield f"  {each['name']:<{width}}  {_values(each)}"
            if planned := each.get("planned"):
                yield f"  {'':<{width}}    in the plan: {_values(planned)}{_lead(planned)}"
        if lead := advice["lead"]:
            first = (
                "no event"
                if lead["first_high_s"] is None
                else f"{lead['first_queue']} after {lead['first_high_s']} s"
            )
            yield f"  all at their net rates, from empty: {first}, {advice['action_percent']} % after {lead['to_action_s']} s, full after {lead['to_full_s']} s"
    for finding in found["findings"]:
        yield f"{finding['severity']}: {finding['code']}: {finding['message']}"
        yield f"  {finding['source']}"


def _values(each: dict[str, Any]) -> str:
    values = [
        f"{key.upper()}({each[key]})" for key in ("maxdepth", "qdepthhi", "qdepthlo") if each[key] is not None
    ]
    return " ".join(values) or "no advice: no backlog is planned, or INITSIZE does not hold it"


def _lead(planned: dict[str, Any]) -> str:
    lead = planned["at_net_rate"]
    if lead is None:
        return ""
    return f"; from Queue Depth High at the net rate {lead['to_action_s']} s to the level, {lead['to_maxdepth_s']} s to MAXDEPTH"


def _rates(arguments: argparse.Namespace) -> int:
    from app.documents import parse_text
    from app.events.reading import checked, file_of
    from app.yaml_text import yaml_text
    from planner_core.depth_events.measured import with_rates
    from planner_core.depth_events.readers import LARGEST_FILE_BYTES

    plan = parse_text(file_of(Path(arguments.file))[1])
    if arguments.sets == _STANDARD_INPUT:
        text = checked(sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1), "standard input")
    else:
        text = file_of(Path(arguments.sets))[1]
    made = with_rates(plan, parse_text(text), using=arguments.using)
    if arguments.json:
        sys.stdout.write(json.dumps(made.as_json(), indent=2) + "\n")
        return EXIT_OK
    for taken in made.taken:
        rates = f"{float(taken.put_rate):g} puts and {float(taken.get_rate):g} gets a second"
        sys.stderr.write(f"{taken.queue}: {rates}\n")
    for passed in made.passed_over:
        sys.stderr.write(f"{passed.queue}: not taken over, {passed.reason}\n")
    for each in made.findings:
        sys.stderr.write(f"{each.severity}: {each.code}: {each.message}\n")
    sys.stdout.write(yaml_text(json.loads(json.dumps(made.document, default=float))))
    return EXIT_OK
