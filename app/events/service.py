"""Depth event files: examples, readers, and simulations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from app.texts.documents import parse_request, parse_text
from app.texts.example_files import ExampleFile
from planner_core import names
from planner_core.depth_events.course import Simulation
from planner_core.depth_events.file import MOST_MAXDEPTH, WHAT, DepthEventFile, read_object
from planner_core.depth_events.simulate import simulate
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid, NameSyntax

LARGEST_FILE_BYTES = 4 * 2**20


EXAMPLES = (
    ExampleFile(
        "depth-events",
        "three-members",
        "Three queue managers, one shared queue",
        "The depth rises past QDEPTHHI, falls to QDEPTHLO and fills: three sets of messages with one CorrelId each.",
    ),
    ExampleFile(
        "depth-events",
        "perfmev-differs",
        "PERFMEV differs in the group",
        "IBM's own case: QM1 has PERFMEV(DISABLED). The shared queue switches, the nonshared one does not.",
    ),
    ExampleFile(
        "depth-events",
        "ibm-example-1",
        "IBM's example 1",
        "A queue that rises and falls once: one High and one Low event.",
    ),
    ExampleFile(
        "depth-events",
        "ibm-example-2",
        "IBM's example 2",
        "Two rises, a full queue, and the switches after each event.",
    ),
)


def read_yaml_or_json(text: bytes) -> DepthEventFile:
    """Read a file in YAML or JSON.

    Raises:
        InputInvalid: The text is not a depth event file; every problem is listed with its location.
    """
    if len(text) > LARGEST_FILE_BYTES:
        raise InputInvalid(WHAT, (FieldProblem("", f"must not be larger than {LARGEST_FILE_BYTES} bytes"),))
    if not text.strip():
        raise InputInvalid(WHAT, (FieldProblem("", "must not be empty"),))
    try:
        return read_object(parse_text(text))
    except DocumentInvalid as error:
        raise InputInvalid(WHAT, error.problems) from None


def read_file(path: Path) -> DepthEventFile:
    """Read the file that a command names."""
    try:
        # One byte more than allowed shows that a file is too large without reading all of it.
        with path.open("rb") as file:
            return read_yaml_or_json(file.read(LARGEST_FILE_BYTES + 1))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"the file {str(path)!r} cannot be read: {reason}"
        raise InputInvalid(WHAT, (FieldProblem("", message),)) from None


def with_readings(text: bytes, readings: Mapping[str, str]) -> DepthEventFile:
    """Read a file and replace its readings with the given ones."""
    file = read_yaml_or_json(text)
    if not readings:
        return file
    return file.model_copy(update={"readings": file.readings.model_copy(update=dict(readings))})


STARTED = """\
# {queue} rises past QDEPTHHI, falls to QDEPTHLO and fills. Change the values that differ at your site.
title: {queue}
queue_managers:
{members}
queues:
  - {{name: {queue}, qsgdisp: SHARED, maxdepth: {maxdepth}, qdepthhi: {qdepthhi}, qdepthlo: {qdepthlo},
     qdphiev: ENABLED, qdploev: DISABLED, qdpmaxev: DISABLED}}
timeline:
  - {{at: 0, action: put, queue_manager: {first}, queue: {queue}, messages: {part}, times: 9, every_s: 60}}
  - {{at: 600, action: get, queue_manager: {last}, queue: {queue}, messages: {part}, times: 9, every_s: 60}}
  - {{at: 1200, action: put, queue_manager: {first}, queue: {queue}, messages: {part}, times: 11, every_s: 60}}
"""
_TENTHS, _MOST_MEMBERS = 10, 32


def starter_text(parameters: Mapping[str, str]) -> str:
    """Return a timeline to edit, from `queue`, `maxdepth`, `qdepthhi`, `qdepthlo`, `members` (a number or names).

    A missing or unreadable number is replaced with a round value, which the user can change in the text.
    """

    def number(name: str, usual: int, most: int) -> int:
        text = parameters.get(name, "").replace("\N{NARROW NO-BREAK SPACE}", "")
        return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < _TENTHS else usual

    maxdepth = number("maxdepth", 1000, MOST_MAXDEPTH)
    queue = parameters.get("queue", "")
    named = [each for each in parameters.get("members", "").split(",") if _is_name(each)]
    count = number("members", 2, _MOST_MEMBERS) or 1
    members = (named or [f"QM{nth:02}" for nth in range(1, count + 1)])[:_MOST_MEMBERS]
    return STARTED.format(
        # Other names could be read as another type or end the flow mapping, so they are quoted.
        queue=json.dumps(queue) if not re.fullmatch(PLAIN_NAME, queue) else queue,
        members="\n".join(f"  - {{name: {each}, perfmev: ENABLED}}" for each in members),
        maxdepth=maxdepth,
        qdepthhi=number("qdepthhi", 80, 100),
        qdepthlo=number("qdepthlo", 20, 100),
        first=members[0],
        last=members[-1],
        part=max(1, maxdepth // _TENTHS),
    )


PLAIN_NAME = r"[A-Za-z][A-Za-z0-9._]{0,47}"


def _is_name(text: str) -> bool:
    try:
        return bool(names.queue_manager(text))
    except NameSyntax:
        return False


def simulate_text(text: bytes) -> Simulation:
    """Simulate a file in YAML or JSON."""
    return simulate(read_yaml_or_json(text))


def simulate_body(body: bytes) -> Simulation:
    """Simulate the body of a request.

    Raises:
        InputInvalid: The body is not JSON, or not a depth event file.
    """
    document = parse_request(body, WHAT)
    return simulate(read_object(document))
