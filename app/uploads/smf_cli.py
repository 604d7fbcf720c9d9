"""The command `cfplan smf decode`: it starts a process that decodes an SMF dump to rows."""

from __future__ import annotations

import argparse
import subprocess
import sys

from app.command_line import EXIT_USAGE, commands_of

DECODER = "spark_jobs.smf"


def add_smf(smf: argparse.ArgumentParser) -> None:
    """Add the verb of `cfplan smf`."""
    commands_of(smf, "verb")(
        "decode",
        "Print the rows of one section of an SMF dump; exit with 3 if the file is not an SMF dump.",
        _add_decode,
    )


def _add_decode(decode: argparse.ArgumentParser) -> None:
    from planner_core.contracts.smf import OUTPUTS, SECTIONS

    decode.set_defaults(run=_decode)
    decode.add_argument(
        "file",
        metavar="FILE",
        help="an SMF dump, transferred in binary with RDWs, or 74-4 records in the JSON of the z/OS Data Gatherer; may be "
        "compressed with gzip",
    )
    decode.add_argument(
        "--section", choices=SECTIONS, required=True, help="the section whose rows are printed"
    )
    decode.add_argument("--output", choices=OUTPUTS, default="csv", help="default: csv")


def _decode(arguments: argparse.Namespace) -> int:
    from app.jobs.processes import PYTHON, WHAT_TO_DO_AT_THE_TERMINAL, missing_packages

    if missing_packages():
        sys.stderr.write(WHAT_TO_DO_AT_THE_TERMINAL + "\n")
        return EXIT_USAGE
    command = [
        *PYTHON, DECODER, "decode", "--section", arguments.section, "--output", arguments.output, "--", arguments.file,
    ]  # fmt: skip
    sys.stdout.flush()
    return subprocess.run(command, check=False).returncode
