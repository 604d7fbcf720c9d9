"""The commands `cfplan scenarios ...`, which use the database of the service without the service.

The database modules are imported when a command runs, so that other commands start quickly.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    add_json,
    commands_of,
    finding_lines,
    table_lines,
    write,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from planner_core.wire import JsonObject

_NUMERIC = "+-0123456789"


def add_scenarios(scenarios: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan scenarios`."""
    verb = commands_of(scenarios, "verb")
    verb("list", "List the scenarios of a plan.", _add_list)
    verb("save", "Calculate the result of changes to a plan, and save it under a name.", _add_save)
    verb("show", "Show a saved scenario.", _add_show)
    verb("compare", "Compare up to four scenarios with their plan.", _add_compare)
    verb(
        "report",
        "Show a report for a change board: changes, figures, losses, commands, sources.",
        _add_report,
    )
    verb("delete", "Delete a scenario permanently.", _add_delete)


def _add_plan(made: argparse.ArgumentParser) -> None:
    made.add_argument("plan", metavar="PLAN", help="name of the stored plan")


def _add_scenario(made: argparse.ArgumentParser) -> None:
    _add_plan(made)
    made.add_argument("name", metavar="NAME", help="name of the scenario")


def _add_list(listed: argparse.ArgumentParser) -> None:
    listed.set_defaults(run=_list)
    _add_plan(listed)
    add_json(listed)


def _add_save(saved: argparse.ArgumentParser) -> None:
    saved.set_defaults(run=_save)
    _add_scenario(saved)
    saved.add_argument(
        "file",
        metavar="FILE",
        help="JSON or YAML with changes, and optionally note and version; - for standard input",
    )
    saved.add_argument("--note", metavar="TEXT", help="the reason for the changes; replaces the file's note")
    how = saved.add_mutually_exclusive_group()
    how.add_argument("--if-match", metavar="ETAG", help="ETag of the scenario on which a change is based")
    how.add_argument("--replace", action="store_true", help="change the scenario, whatever its current state")
    how.add_argument("--create", action="store_true", help="do not change an existing scenario")


def _add_show(shown: argparse.ArgumentParser) -> None:
    shown.set_defaults(run=_show)
    _add_scenario(shown)
    add_json(shown)


def _add_compare(compared: argparse.ArgumentParser) -> None:
    compared.set_defaults(run=_compare)
    _add_plan(compared)
    compared.add_argument("names", metavar="NAME", nargs="+", help="names of the scenarios")
    add_json(compared)


def _add_report(reported: argparse.ArgumentParser) -> None:
    reported.set_defaults(run=_report)
    _add_scenario(reported)
    add_json(reported)


def _add_delete(deleted: argparse.ArgumentParser) -> None:
    deleted.set_defaults(run=_delete)
    _add_scenario(deleted)
    deleted.add_argument("--if-match", metavar="ETAG", help="only if the scenario still has this ETag")


def _list(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.scenarios import service
    from app.scenarios.answers import ScenariosAnswer

    with open_database() as (database, _), database.session(writes=False) as session:
        found = service.list_scenarios(session, arguments.plan)
    if arguments.json:
        write_json(ScenariosAnswer(arguments.plan, found).as_json())
        return EXIT_OK
    if not found:
        write(f"The plan {arguments.plan} has no scenarios.\n")
        return EXIT_OK
    rows = [("name", "version", "INITSIZE K", "after", "errors", "warnings", "changes")]
    rows += [
        (
            each.name,
            str(each.version) if each.is_of_latest else f"{each.version} (old)",
            str(each.initsize_kib_before),
            str(each.initsize_kib_after),
            str(each.errors),
            str(each.warnings),
            "; ".join(each.what_changes),
        )
        for each in found
    ]
    write_lines(_table(rows))
    return EXIT_OK


def _save(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.errors import PreconditionRequired
    from app.scenarios import service
    from planner_core.errors import PlannerError

    wanted = _wanted(arguments)
    service.check_name(arguments.name)
    with open_database() as (database, _):
        worked = service.work_out(database, arguments.plan, wanted)
        with database.session(writes=True) as session:
            try:
                outcome = service.save(
                    session,
                    arguments.plan,
                    arguments.name,
                    worked,
                    # `*` matches any state, but is refused for a scenario that does not exist, and --replace may also create one.
                    if_match="*" if arguments.replace and _exists(session, arguments) else arguments.if_match,
                    create_only=arguments.create,
                )
            except PreconditionRequired as refused:
                tag = shlex.quote(refused.current.etag)
                message = (
                    f"The scenario {arguments.name} exists and this request would change it, so nothing was saved. Use --if-match {tag} "
                    "if the change is based on it, or --replace to change the scenario whatever its state."
                )
                raise PlannerError(message) from None
    found = outcome.scenario
    write(f"{found.name}: {outcome.status}, version {found.version} of {found.plan}, ETag {found.etag}\n")
    errors = [each for each in found.result["findings"] if each["severity"] == "error"]
    return EXIT_FINDINGS if errors else EXIT_OK


def _exists(session: Any, arguments: argparse.Namespace) -> bool:  # noqa: ANN401 - imported when a command runs
    from app.scenarios import service

    return any(each.name == arguments.name for each in service.list_scenarios(session, arguments.plan))


def _wanted(arguments: argparse.Namespace) -> Any:  # noqa: ANN401 - imported when a command runs
    from app.running.texts import read_bytes
    from app.scenarios.answers import read_object
    from app.texts.documents import parse_text
    from planner_core.errors import DocumentInvalid, InputInvalid
    from planner_core.whatif.changes import WHAT

    try:
        given = parse_text(read_bytes(arguments.file))
    except DocumentInvalid as error:
        raise InputInvalid(WHAT, error.problems) from None
    if arguments.note is not None and isinstance(given, dict):
        given = {**given, "note": arguments.note}
    return read_object(given, named=False)[1]


def _show(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.scenarios import service
    from app.scenarios.answers import scenario_json

    with open_database() as (database, _), database.session(writes=False) as session:
        found = service.get_scenario(session, arguments.plan, arguments.name)
        latest = service.latest_version(session, arguments.plan)
    if arguments.json:
        write_json(json.loads(scenario_json(found)))
        return EXIT_OK
    write(
        f"{found.name}: version {found.version} of {found.plan}{_old(found.version, latest)}, ETag {found.etag}\n"
    )
    if found.note:
        write(found.note + "\n")
    write_lines(_changes(found.result["what_changes"]))
    write_lines(_totals(found.result["before"]["totals"], found.result["after"]["totals"]))
    return EXIT_OK


def _compare(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.scenarios import service
    from app.scenarios.answers import ScenarioComparisonAnswer
    from planner_core.wire import copied

    with open_database() as (database, _), database.session(writes=False) as session:
        found = service.compare(session, arguments.plan, arguments.names)
    if arguments.json:
        write_json(copied(ScenarioComparisonAnswer, found, plan=arguments.plan).as_json())
        return EXIT_OK
    rows = [("", "", "the plan", *(each.name for each in found.columns))]
    for row in (*found.settings, *found.totals, *found.figures, *found.losses, *found.commands):
        if any(row.differs):
            values = [
                f"{_said(value)}{' *' if differs else ''}"
                for value, differs in zip(row.values, row.differs, strict=True)
            ]
            unit = f" [{row.unit}]" if row.unit else ""
            rows.append((row.structure or "", row.label + unit, *values))
    write_lines(_table(rows, left=2))
    write("* differs from the plan; rows without differences are hidden\n")
    for each in found.findings:
        write_lines(finding_lines(each))
    return EXIT_OK


def _report(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.scenarios import service
    from app.scenarios.answers import report_answer

    with open_database() as (database, _), database.session(writes=False) as session:
        found, shown = service.report_of(session, arguments.plan, arguments.name)
        latest = service.latest_version(session, arguments.plan)
    answer = report_answer(found, shown).as_json()
    if arguments.json:
        write_json(answer)
    else:
        write_lines(_report_lines(answer, latest))
    return EXIT_OK


def _delete(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.scenarios import service

    with open_database() as (database, _), database.session(writes=True) as session:
        service.delete(session, arguments.plan, arguments.name, if_match=arguments.if_match)
    write(f"{arguments.name}: deleted\n")
    return EXIT_OK


# ---- as text ---------------------------------------------------------------------------------------------------------


def _old(version: int, latest: int) -> str:
    return "" if version == latest else f" (the latest is {latest})"


def _report_lines(answer: JsonObject, latest: int) -> Iterator[str]:
    version = answer["version"]
    yield f"Scenario {answer['scenario']} of the plan {answer['plan']}, version {version}{_old(version, latest)}"
    yield f"Group {answer['qsg']}; computed by cfplan {answer['core_version']}, {answer['updated_at'][:16]} UTC"
    if answer["revision"] > 1:
        yield f"State {answer['revision']}; first saved {answer['created_at'][:16]} UTC"
    if answer["note"]:
        yield from ("", "Reason", *answer["note"].splitlines())
    yield from ("", "Changes", *_changes(answer["what_changes"]))
    replaced = [each["structure"] for each in answer["structures"] if each["given_size_replaced"]]
    if replaced:
        yield f"Sizes given in the plan are smaller than the need, so calculated sizes are used instead: {', '.join(replaced)}"
    yield from ("", "Figures, each with the number of its note")
    rows = [("structure", "figure", "before", "", "after", "", "difference")]
    rows += [
        (
            item["structure"],
            f"{figure['label']} [{figure['unit']}]",
            _said(figure["before"]),
            _note(figure["note_before"]),
            _said(figure["after"]),
            _note(figure["note_after"]),
            "" if figure["difference"] is None else f"{figure['difference']:+}",
        )
        for item in (*answer["structures"], {"structure": "total", "figures": answer["totals"]})
        for figure in item["figures"]
    ]
    yield from _table(rows, left=2)
    for loss in answer["losses"]["after"]:
        what = loss["lost"] if loss["kind"] == "coupling_facility" else f"{loss['kind']} {loss['lost']}"
        yield ""
        yield (
            f"Without {what}: white space {loss['white_space_mib']:.0f} MiB {_note(loss['note_white_space'])}, "
            f"{loss['messages_gone']} messages lost {_note(loss['note_messages_gone'])}"
        )
        for move in loss["moves"]:
            to = " ".join(filter(None, (move["coupling_facility"], move["second_copy"]))) or "no place"
            yield f"  {move['structure']} {' '.join(move['before'])} -> {to} ({move['rule'] or move['action']})"
    # The answer lists all rules; the text shows only those that decided a move.
    used = {move["rule"] for loss in answer["losses"]["after"] for move in loss["moves"]}
    if used:
        yield from ("", "Deciding rules")
    for rule in answer["rules"]:
        if rule["rule"] in used:
            yield f"{rule['rule']}: {rule['words']} ({rule['basis']})"
            yield f"   {rule['source']}"
    yield from ("", "Commands")
    for command in answer["commands"]:
        yield f"{command['number']}. {command['command']}"
        yield f"   {command['takes_effect']}: {command['why']}"
        yield f"   {command['source']}"
    if not answer["commands"]:
        yield answer["commands_refused"] or "None."
    for title, key in (
        ("New findings", "findings_new"),
        ("Resolved findings", "findings_gone"),
    ):
        yield from ("", title)
        for each in answer[key]:
            yield f"{each['severity']}: {each['code']}: {each['message']}"
            yield f"  {each['source']}"
        if not answer[key]:
            yield "None."
    yield from ("", "Notes")
    for note in answer["notes"]:
        documents = ", ".join(f"[{number}]" for number in note["documents"]) or "the figures above"
        yield f"({note['number']}) {note['figure']}: {note['basis']}; {documents}"
        if note["formula"]:
            yield f"    {note['formula']}"
    yield from ("", "Documents", *(f"[{each['number']}] {each['document']}" for each in answer["documents"]))
    yield from ("", "Assumed", *(f"- {each}" for each in answer["assumptions"]))


def _note(number: int | None) -> str:
    return "" if number is None else f"({number})"


def _changes(changes: Sequence[JsonObject]) -> Iterator[str]:
    for each in changes:
        of = f" of {each['structure']}" if each["structure"] else ""
        yield f"{each['what']}{of}: {each['before']} -> {each['after']}"


def _totals(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for key, word in (("initsize_kib", "INITSIZE"), ("size_kib", "SIZE")):
        yield f"Total {word}: {before[key]}K -> {after[key]}K ({after[key] - before[key]:+}K)"


def _said(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(rows: Sequence[Sequence[str]], *, left: int = 1) -> Iterator[str]:
    """Yield the lines of a table with right-aligned numbers, except in the first `left` columns."""
    right = [
        at for at in range(left, len(rows[0])) if all(row[at][:1] in _NUMERIC for row in rows[1:] if row[at])
    ]
    return table_lines(rows, right=right)
