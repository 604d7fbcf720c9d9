"""The command line: sizing questions, plan documents, and the server.

Exit codes: 0 for an answer; 1 for an answer with error-level findings (or warnings, with --fail-on warning); 2 for bad
usage or an unreadable document. Tracebacks are never shown.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NoReturn

from app.clusters.cli import add as add_cluster
from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    EXIT_USAGE,
    LazyParser,
    add_fail_on,
    add_json,
    exit_code,
    message_size,
    read_plan,
    write,
    write_json,
)
from app.events.simulate_cli import add as add_events
from app.nightly.cli import add as add_night
from app.plans.cli import add as add_plans
from app.running.cli import add as add_running
from app.scenarios.cli import add as add_scenarios
from app.uploads.ingest_cli import add as add_ingest
from app.uploads.simulate_cli import add as add_simulate
from app.uploads.smf_cli import add as add_smf
from app.usage.history_cli import add as add_history
from app.whatif.cli import add as add_whatif
from planner_core.errors import SHOWN_PROBLEMS, DocumentInvalid, OutputRefused, PlannerError, PlanRefused
from planner_core.findings import Finding, in_order
from planner_core.provenance import plain_number

_OUTPUTS = ("policy", "job", "mqsc", "setxcf", "runbook", "json")
_MOST = 10**12
_LARGEST_MIB = 64 * 2**20
_MOST_DIGITS = 60
_SHOWN_BELOW = 20
_MOST_VERSIONS = 2**31 - 1
SHUTDOWN_S = 10
"""Seconds that running requests are given to finish when the service stops; without a limit, a client that follows a
job would delay the shutdown.
"""


class _UsageError(Exception):
    """A usage error with the message to show."""


class _Parser(LazyParser):
    def error(self, message: str) -> NoReturn:
        msg = f"{self.prog}: {message}\n{self.format_usage().strip()}"
        raise _UsageError(msg)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise SystemExit(status if message is None else message)


def main_entry() -> None:
    """Run the console script."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, print its answer on stdout and problems on stderr, and return the exit code."""
    try:
        arguments = _parser().parse_args(argv)
        run: Callable[[argparse.Namespace], int] = arguments.run
        return run(arguments)
    # argparse exits by itself after printing help.
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else EXIT_OK
    except (_UsageError, DocumentInvalid) as error:
        _say(str(error))
        if isinstance(error, DocumentInvalid):
            for problem in error.problems[SHOWN_PROBLEMS:_SHOWN_BELOW]:
                _say(f"  {problem}")
        return EXIT_USAGE
    except PlannerError as error:
        _say(str(error))
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader, such as head, has closed the pipe; without this, Python would fail again when it flushes stdout at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT, as shells report it
    except Exception as error:  # noqa: BLE001 - a command prints a message, never a traceback
        _say(f"cfplan: internal error, please report it: {type(error).__name__}: {error}")
        return EXIT_USAGE


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _whole(lowest: int, highest: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        plain = text.strip()
        # Python takes quadratic time to read very long numbers.
        if not plain.lstrip("+-").isdigit() or not plain.isascii() or len(plain) > _MOST_DIGITS:
            msg = f"{text!r} is not a whole number"
            raise argparse.ArgumentTypeError(msg)
        if not lowest <= int(plain) <= highest:
            msg = f"{text} is not between {lowest} and {highest}"
            raise argparse.ArgumentTypeError(msg)
        return int(plain)

    return read


def _mib(text: str) -> Fraction:
    try:
        # Decimal also reads underscores and digits of other scripts.
        value = Decimal(text if text.isascii() and "_" not in text else "not a number")
    except InvalidOperation:
        msg = f"{text!r} is not a number"
        raise argparse.ArgumentTypeError(msg) from None
    if not value.is_finite() or not 0 <= value <= _LARGEST_MIB or len(text) > _MOST_DIGITS:
        msg = f"{text} is not between 0 and {_LARGEST_MIB} MiB"
        raise argparse.ArgumentTypeError(msg)
    return Fraction(value)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="cfplan",
        description="Capacity planner for IBM MQ for z/OS coupling facility structures.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    def command(name: str, about: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about, allow_abbrev=False)
        made.set_defaults(run=run)
        return made

    def answers(made: argparse.ArgumentParser) -> None:
        add_json(made)
        made.add_argument("--explain", action="store_true", help="include an explanation of every figure")
        add_fail_on(made)

    def sized(made: argparse.ArgumentParser) -> None:
        made.add_argument(
            "--message-bytes",
            type=message_size(_whole),
            required=True,
            metavar="B",
            help="user data and MQ headers except the MQMD, in bytes or with a unit, such as 2K",
        )
        made.add_argument(
            "--cfcc",
            type=_whole(1, 99),
            default=25,
            metavar="L",
            help="CF control code level (14 is the level of IBM's Tables 1 and 2)",
        )

    structure = command(
        "structure",
        "Calculate the size of an application structure for a backlog, or the backlog for a size.",
        _structure,
    )
    question = structure.add_mutually_exclusive_group(required=True)
    question.add_argument(
        "--messages", type=_whole(0, _MOST), metavar="N", help="backlog in messages; calculates the size"
    )
    question.add_argument("--size-mib", type=_mib, metavar="S", help="size in MiB; calculates the backlog")
    sized(structure)
    answers(structure)

    admin = command("admin", "Calculate the size of the administrative structure CSQ_ADMIN.", _admin)
    admin.add_argument(
        "--queue-managers",
        type=_whole(1, 999),
        required=True,
        metavar="N",
        help="queue managers DEFINED to the group",
    )
    admin.add_argument("--cfcc", type=_whole(1, 99), default=25, metavar="L", help="CF control code level")
    admin.add_argument(
        "--entsmax", type=_whole(0, _MOST), metavar="E", help="ENTSMAX from DISPLAY CFSTATUS(CSQ_ADMIN)"
    )
    admin.add_argument(
        "--elements-total",
        type=_whole(0, _MOST),
        metavar="T",
        help="total elements of CSQ_ADMIN, from D XCF,STR or IXC585E",
    )
    answers(admin)

    offload = command("offload", "Calculate the capacity of a structure with offload rules.", _offload)
    offload.add_argument("--size-mib", type=_mib, required=True, metavar="S", help="size of the structure")
    sized(offload)
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
        type=_whole(1, _MOST),
        metavar="N",
        help="also calculate IBM's threshold that reserves space for N offloaded messages",
    )
    answers(offload)

    plan = command("plan", "Evaluate a plan document (JSON or YAML).", _plan)
    plan.add_argument("file", metavar="FILE", help="the document; - for standard input")
    plan.add_argument("--output", choices=_OUTPUTS, default="json")
    plan.add_argument(
        "--explain", action="store_true", help="with --json: include an explanation of every figure"
    )
    plan.add_argument(
        "--depths", action="store_true", help="with --json: include advice on the depths of every queue"
    )
    add_fail_on(plan)

    command("schema", "Print the JSON Schema of the plan document.", _schema)
    command("example", "Print an example plan document (YAML).", _example)

    add_plans(command, _whole(1, _MOST_VERSIONS), _Parser)
    add_ingest(command)
    add_history(command, _Parser)
    add_night(command, _Parser)
    add_smf(command, _Parser)
    add_simulate(command)
    add_events(command, _Parser)
    add_cluster(command, _Parser)
    add_whatif(command, _Parser)
    add_running(command, _whole)
    add_scenarios(command, _Parser)

    serve = command("serve", "Serve the web application.", _serve)
    serve.add_argument("--host", help="address to listen on (default: from the settings, 127.0.0.1)")
    serve.add_argument(
        "--port", type=_whole(1, 65535), help="port to listen on (default: from the settings, 8000)"
    )
    serve.add_argument(
        "--migrate",
        action="store_true",
        help="first migrate the tables of a database server to this version",
    )
    return parser


def _answer(
    arguments: argparse.Namespace,
    figures: dict[str, Any],
    findings: Sequence[Finding],
    explanations: Sequence[Any] = (),
) -> int:
    """Print figures and findings, as JSON or as text."""
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
        raise _UsageError(msg)
    answer = offload_answer(
        mib_to_bytes(arguments.size_mib),
        message_bytes=arguments.message_bytes,
        rules=rules,
        cfcc_level=arguments.cfcc,
        auto_alter=arguments.auto_alter,
        hold_messages=arguments.hold,
    )
    return _answer(arguments, answer.figures, answer.findings, answer.explanations)


def _plan(arguments: argparse.Namespace) -> int:
    from app.fits.from_settings import curves_of_settings
    from app.fits.resolve import evaluate
    from planner_core.plan.explain import plan_answer
    from planner_core.texts.outputs import render_output

    document = read_plan(arguments.file)
    try:
        result = evaluate(document, curves_of_settings, compares=arguments.output == "json")
        if arguments.output == "json":
            write_json(plan_answer(result, explain=arguments.explain, depths=arguments.depths).as_json())
        else:
            text = render_output(arguments.output, result).text
            _report(result.findings)
            write(text)
    except (PlanRefused, OutputRefused) as refused:
        if arguments.output == "json":
            write_json({"findings": [finding.as_json() for finding in refused.findings]})
        _say(str(refused))
        return EXIT_FINDINGS
    return exit_code(result.findings, arguments.fail_on)


def _report(findings: Sequence[Finding]) -> None:
    """Print the findings of a text output on stderr, so that stdout contains only the text to submit."""
    for finding in findings:
        if finding.severity != "info" and not finding.acknowledged:
            _say(f"{finding.severity}: {finding.code}: {finding.message}")


def _schema(arguments: argparse.Namespace) -> int:
    from planner_core.document.schema import json_schema

    del arguments
    write_json(json_schema())
    return EXIT_OK


def _example(arguments: argparse.Namespace) -> int:
    from app.texts.documents import example_text

    del arguments
    write(example_text())
    return EXIT_OK


def _serve(arguments: argparse.Namespace) -> int:
    import uvicorn

    from app.database.engine import open_database
    from app.main import create_app, keep_what_is_loaded
    from app.settings import read_settings

    given = {
        key: value for key, value in (("host", arguments.host), ("port", arguments.port)) if value is not None
    }
    settings = read_settings(**given)
    # A wrong database or an old schema is reported before the port is opened.
    with open_database(settings) as (database, _):
        if arguments.migrate:
            database.upgrade()
        database.prepare()
    application = create_app(settings)
    keep_what_is_loaded()
    _say(f"cfplan serves http://{settings.host}:{settings.port}")
    uvicorn.run(
        application,
        host=settings.host,
        port=settings.port,
        server_header=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    return EXIT_OK


if __name__ == "__main__":
    main_entry()
