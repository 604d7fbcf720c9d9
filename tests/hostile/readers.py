"""Every function that reads pasted or uploaded text, as a function of that text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from app.clusters import explaining
from app.clusters import service as cluster_service
from app.events import reading as event_reading
from app.events import service as event_service
from app.fits.kept import no_curves
from app.plans.editor import form as plan_form
from app.plans.editor.pages import read_body
from app.running import api as running_api
from app.running import service as running_service
from app.running.texts import running_example
from app.scenarios.answers import read_request as read_scenario
from app.sizing.calculator.form import read_form
from app.texts.documents import example_text, parse_yaml, read_text
from app.uploads.qsg_map import checked as checked_mapping
from app.web.security.hosts import host_name
from planner_core import names
from planner_core.clusters.displays import read_displays
from planner_core.clusters.explain import WaitingQuestion
from planner_core.clusters.messages import read_messages
from planner_core.depth_events.readers import read_events
from planner_core.document.reading import parse_json, read_json
from planner_core.errors import PlannerError
from planner_core.inputs import detect as detect_input
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.running.lint import lint
from planner_core.running.policy import policies
from planner_core.running.state import read_running
from planner_core.sizing import offload
from planner_core.texts import console
from planner_core.texts.cfrm.text import read_policy_text
from planner_core.texts.mqsc.commands import read_commands, without_commands
from planner_core.texts.mqsc.displays import read_mq
from planner_core.texts.mqsc.records import read_records
from planner_core.texts.queue_paste import read_queues
from planner_core.texts.xcf.displays import read_xcf
from planner_core.texts.xcf.facilities import read_facilities
from planner_core.units import parse_size

Reader = Callable[[str], object]


@cache
def example_result() -> PlanResult:
    """Return the result of the example plan."""
    return evaluate(read_text(example_text().encode()))


def _structure_form(key: str) -> Reader:
    typed = {
        "/qsg": "SQ03",
        "/queue_managers": "2",
        "/structures/0/name": "A",
        "/structures/0/initsize": "1G",
    }

    def read(text: str) -> object:
        return plan_form.check(plan_form.read_typed([*typed.items(), (key, text)]))

    return read


def _pasted_into_form(text: str) -> object:
    typed = {"/qsg": "SQ03", "/structures/0/name": "A", "/structures/0/paste": text}
    return plan_form.take_pastes(plan_form.read_typed(typed.items()))


def _form_body(text: str) -> object:
    asked = read_body(text.encode("utf-8", "replace"))
    return plan_form.check(asked.typed)


READERS: Final[Mapping[str, Reader]] = {
    "sizes": parse_size,
    "names of queues": names.queue,
    "names of structures": names.structure,
    "reasons": names.reason,
    "offload rules": offload.parse_rule,
    "host names": host_name,
    "console text": lambda text: console.blocks(console.lines(text)),
    "JSON": parse_json,
    "YAML": lambda text: parse_yaml(text.encode("utf-8", "replace")),
    "plan documents in JSON": read_json,
    "plan documents": lambda text: read_text(text.encode("utf-8", "replace")),
    "pasted queues": lambda text: read_queues(text, parse=lambda plan: parse_yaml(plan.encode("utf-8", "replace"))),
    "tables of queues": lambda text: read_queues(text, kind="table"),
    "displays of queues": lambda text: read_queues(text, kind="display"),
    "paste box of a structure": _pasted_into_form,
    "box for queues": _structure_form("/structures/0/queues"),
    "box for PREFLIST": _structure_form("/structures/0/preflist"),
    "box for sizes": _structure_form("/structures/0/size"),
    "box for queue managers": _structure_form("/queue_managers"),
    "box for clusters": _structure_form("/clusters"),
    "body of the plan form": _form_body,
    "boxes of the calculator": lambda text: read_form({"queues": text, "coupling_facilities": text, "message_bytes": text}),
    "policy text": read_policy_text,
    "structures of a policy": lambda text: policies(read_policy_text(text)),
    "records of MQ": read_records,
    "displays of MQ": read_mq,
    "commands of MQ": read_commands,
    "text without commands": without_commands,
    "displays of XCF": read_xcf,
    "displays of coupling facilities": read_facilities,
    "lint": lint,
    "merge": lambda text: running_service.merged(example_result(), text, unstated="plan", policy_name=None),
    "what runs": lambda text: read_running([text]),
    "plan and what runs": lambda text: running_service.compared(example_result(), [text]),
    "plan from what runs": lambda text: running_service.made([text], qsg="SQ03", queue_managers=2, message_bytes=500),
    "policy among displays": lambda text: read_running([running_example().current, text]),
    "displays of a cluster": lambda text: read_displays([("displays", text)]),
    "browsed messages": read_messages,
    "why messages wait": lambda text: explaining.answer(WaitingQuestion(), displays=[("displays", text)], messages=text),
    "input of a decision": lambda text: cluster_service.decide_text(text.encode("utf-8", "replace"), mode="seed"),
    "depth events": lambda text: read_events(text.encode("utf-8", "replace"), name="events"),
    "timelines of depth events": lambda text: event_service.read_yaml_or_json(text.encode("utf-8", "replace")),
    "what is known of depth events": lambda text: event_reading.known_from_texts(
        members=text, perfmev=text, displays=[text], depths_before=text.split("\n")
    ),
    "requests to read events": lambda text: event_reading.read_body(text.encode("utf-8", "replace")),
    "scenarios": lambda text: read_scenario(text.encode("utf-8", "replace"), named=True),
    "questions about what runs": lambda text: running_api.diff(text.encode("utf-8", "replace"), no_curves),
    "maps of queue managers to groups": lambda text: checked_mapping(text, text, text),
    "kinds of uploads": lambda text: detect_input(text.encode("utf-8", "replace"), "file.txt"),
}  # fmt: skip


def read(name: str, text: str) -> bool:
    """Let a reader read a text and return whether it accepted it; any error other than a refusal with a message is raised."""
    try:
        READERS[name](text)
    except PlannerError:
        return False
    return True
