"""The command line: sizing questions, plan documents, and the server.

Exit codes: 0 for an answer; 1 for an answer with error-level findings (or warnings, with --fail-on warning); 2 for bad
usage or an unreadable document. Tracebacks are never shown.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib import import_module

from app.actor import acting_as, command_actor
from app.command_line import EXIT_OK, EXIT_USAGE, LazyParser, UsageError, commands_of

_SHOWN_BELOW = 20
SERVE = "serve"
COMMANDS = {
    "structure": (
        "Calculate the size of an application structure for a backlog, or the backlog for a size.",
        "app.sizing.cli",
    ),
    "admin": ("Calculate the size of the administrative structure CSQ_ADMIN.", "app.sizing.cli"),
    "offload": ("Calculate the capacity of a structure with offload rules.", "app.sizing.cli"),
    "plan": ("Evaluate a plan document (JSON or YAML).", "app.sizing.plan_cli"),
    "schema": ("Print the JSON Schema of the plan document.", "app.sizing.plan_cli"),
    "example": ("Print an example plan document (YAML).", "app.sizing.plan_cli"),
    "migrate": ("Migrate the tables of the database to this version of cfplan.", "app.backup.cli"),
    "backup": ("Write everything that the service stores to one archive, while it runs.", "app.backup.cli"),
    "restore": ("Restore an archive of cfplan backup.", "app.backup.cli"),
    "plans": (
        "Stored plans: list, show, put, acknowledge, delete, restore, export, import.",
        "app.plans.cli",
    ),
    "collect-kit": (
        "Write the settings, jobs and commands that collect the records that cfplan reads.",
        "app.collecting.cli",
    ),
    "ingest": ("Read usage data into the usage history.", "app.uploads.ingest_cli"),
    "uploads": ("Uploads and their files: check, register, remove.", "app.uploads.cli"),
    "history": ("Usage history: export rows, rebuild the hourly roll-ups.", "app.usage.history_cli"),
    "nightly": (
        "Fit curves, forecast usage and report findings from the whole usage history.",
        "app.nightly.cli",
    ),
    "curves": ("Fitted curves: list, fit-points, advise.", "app.nightly.cli"),
    "forecasts": (
        "List the latest forecasts: full structures first, then those that run out soonest.",
        "app.nightly.cli",
    ),
    "smf": ("SMF dumps: print the rows of a section.", "app.uploads.smf_cli"),
    "simulate": (
        "Write SMF dumps and allocation data of a fictitious site, labelled as simulated.",
        "app.uploads.simulate_cli",
    ),
    "events": ("Queue depth events: simulate, read, advise.", "app.events.simulate_cli"),
    "cluster": (
        "Clusters: destinations of messages, load on structures, waiting messages.",
        "app.clusters.cli",
    ),
    "whatif": (
        "Questions about a plan: a lost coupling facility, an upgrade, an outage, thresholds.",
        "app.whatif.cli",
    ),
    "lint": ("Check a CFRM policy, MQSC or displays without a plan.", "app.running.cli"),
    "merge": ("Merge the structures of a plan into a complete CFRM policy.", "app.running.cli"),
    "diff": (
        "Compare the running system with a plan, and list the commands that apply the plan.",
        "app.running.cli",
    ),
    "from-running": ("Create a plan document from the running system.", "app.running.cli"),
    "other-structures": (
        "Add structures of Db2 and others to a plan, from a policy or displays.",
        "app.running.cli",
    ),
    "zosmf": (
        "CFRM policies on z/OSMF: pull, plan, apply, drift.",
        "app.zosmf.cli",
    ),
    "dds": ("RMF live: poll the data server for CFACT reports.", "app.dds.cli"),
    "gatherer": ("Records of SMF data sets on z/OS, from the Data Gatherer: fetch.", "app.gatherer.cli"),
    "connections": ("Connections to other systems: list, check.", "app.connections.cli"),
    "import": (
        "Size tables of structures entered as in CFSizer, and create plans from tables of structures or queues.",
        "app.importing.cli",
    ),
    "scenarios": (
        "Scenarios of stored plans: list, save, show, compare, report, delete.",
        "app.scenarios.cli",
    ),
    "notices": ("Notices: list, send those that are due, test the channels.", "app.notices.cli"),
    "audit": ("The audit trail: export entries, verify that none was changed.", "app.audit.cli"),
    "users": (
        "Users of the service: add, list, disable, enable, role, password.",
        "app.accounts.cli",
    ),
    "tokens": ("API tokens: create, list, revoke.", "app.accounts.cli"),
    "mcp": (
        "Answer assistants: read-only tools over standard input and output (Model Context Protocol).",
        "app.assistants.cli",
    ),
    SERVE: ("Serve the web application.", "app.serve_cli"),
}
"""The description of each command, and the module whose function `add_NAME` adds its options.

Modules are named by strings, so that a command imports only its own.
"""


def main_entry() -> None:
    """Run the console script."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, print its answer on stdout and problems on stderr, and return the exit code."""
    given = sys.argv[1:] if argv is None else argv
    try:
        arguments = _parser(given).parse_args(given)
        run: Callable[[argparse.Namespace], int] = arguments.run
        # The service acts for its users, not for the one who started it.
        with nullcontext() if arguments.command == SERVE else acting_as(command_actor()):
            return run(arguments)
    # argparse exits by itself after printing help.
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else EXIT_OK
    except UsageError as error:
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
        for line in _refusal(error):
            _say(line)
        return EXIT_USAGE


def _refusal(error: Exception) -> list[str]:
    """Return the lines that report an error of the core, or an unexpected one."""
    from planner_core.errors import SHOWN_PROBLEMS, DocumentInvalid, InputInvalid, PlannerError

    if not isinstance(error, PlannerError):
        return [f"cfplan: internal error, please report it: {type(error).__name__}: {error}"]
    problems = error.problems if isinstance(error, DocumentInvalid | InputInvalid) else ()
    more = problems[SHOWN_PROBLEMS:_SHOWN_BELOW]
    return [str(error), *(f"  {problem}" for problem in more)]


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a command line, with the parser of the command that it names."""
    parser = LazyParser(
        prog="cfplan",
        description="Capacity planner for IBM MQ for z/OS coupling facility structures.",
        allow_abbrev=False,
    )
    command = commands_of(parser, "command")
    # Help and errors list all commands.
    for name in argv[:1] if argv and argv[0] in COMMANDS else COMMANDS:
        about, module = COMMANDS[name]
        command(name, about, _options(name, module))
    return parser


def _options(name: str, module: str) -> Callable[[argparse.ArgumentParser], None]:
    def add(parser: argparse.ArgumentParser) -> None:
        getattr(import_module(module), f"add_{name.replace('-', '_')}")(parser)

    return add


if __name__ == "__main__":
    main_entry()
