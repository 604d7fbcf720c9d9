"""Print rows of an SMF dump to stdout and a summary of unread bytes to stderr, or generate a dump of simulated work.

`python -m spark_jobs.smf decode FILE --section SECTION`, `python -m spark_jobs.smf generate FILE --bytes N`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from planner_core.contracts.smf import OUTPUTS, SECTIONS
from planner_core.errors import PlannerError
from planner_core.inputs import PREVIEW_BYTES, KindUnknown, detect
from spark_jobs.leaving import leave
from spark_jobs.readers.gatherer import converted
from spark_jobs.readers.result import NotReadable
from spark_jobs.smf.decode import decode_file
from spark_jobs.smf.errors import LayoutError, NotAnSmfDump
from spark_jobs.smf.framing import check_regular, detect_file
from spark_jobs.smf.generate import generate_dump
from spark_jobs.smf.results import Accounting, LayoutCheck, RangeResult
from spark_jobs.smf.structures import joined_schema, structures_joined
from spark_jobs.smf.tables import schema

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_NOT_READABLE = 0, 1, 2, 3
SHOWN_STRETCHES = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except (NotAnSmfDump, NotReadable) as error:
        _say(str(error))
        return EXIT_NOT_READABLE
    except PlannerError as error:
        _say(str(error))
        return EXIT_FAILED
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # Python flushes standard output once more when it ends, which would fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return EXIT_OK
        _say(f"{options.file} cannot be read: {error.strerror}")
        return EXIT_NOT_READABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_jobs.smf", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    decode = commands.add_parser("decode", help="print the rows of one section", allow_abbrev=False)
    decode.add_argument(
        "file",
        metavar="FILE",
        help="an SMF dump, transferred in binary with RDWs, or 74-4 records in the JSON of the z/OS Data Gatherer; may be "
        "compressed with gzip",
    )
    decode.add_argument("--section", choices=SECTIONS, required=True)
    decode.add_argument("--output", choices=OUTPUTS, default="csv")
    decode.set_defaults(run=_decode)
    generate = commands.add_parser("generate", help="write a dump of fictitious work", allow_abbrev=False)
    generate.add_argument("file", metavar="FILE")
    generate.add_argument(
        "--bytes", type=int, required=True, metavar="N", help="approximate length of the dump"
    )
    generate.add_argument(
        "--seed", type=int, default=1, metavar="S", help="the same seed produces the same dump"
    )
    generate.set_defaults(run=_generate)
    return parser


def _generate(options: argparse.Namespace) -> int:
    generate_dump(options.file, options.bytes, options.seed)
    return EXIT_OK


def _decode(options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        return _print_rows(_dump_of(options.file, stack), options)


def _dump_of(file: str, stack: ExitStack) -> str:
    """Return the path of a dump; of a temporary one for records in JSON."""
    path = Path(file)
    check_regular(path)
    with path.open("rb") as content:
        first = content.read(PREVIEW_BYTES)
    # The reader of dumps explains why anything else is refused.
    with suppress(KindUnknown):
        if detect(first, path.name).kind == "gatherer_json":
            return str(stack.enter_context(converted(path)).path)
    return file


def _print_rows(dump: str, options: argparse.Namespace) -> int:
    section, output = options.section, options.output
    results = decode_file(dump, sections=[section], framing=detect_file(dump), name=options.file)
    account = Accounting()
    rows = _checked(results, account) if section == "r744" else _streamed(results, section, account)
    columns = joined_schema() if section == "r744" else schema(section)
    write = _csv_writer(columns) if output == "csv" else _write_lines
    for batch in rows:
        write(_as_text(batch))
    sys.stdout.flush()
    _report(account, sys.stderr)
    return EXIT_OK


def _streamed(results: Iterable[RangeResult], section: str, account: Accounting) -> Iterable[pa.RecordBatch]:
    for result in results:
        account.add(result.accounting)
        yield from result.batches[section]


def _checked(results: Iterable[RangeResult], account: Accounting) -> list[pa.RecordBatch]:
    """Return the rows of 74-4 after all of them have passed the self-checks."""
    check = LayoutCheck()
    found: list[pa.RecordBatch] = []
    for result in results:
        account.add(result.accounting)
        check += result.checks.get("r744", LayoutCheck())
        found.extend(structures_joined(result))
    if check.is_layout_wrong:
        message = (
            f"{check.failed} of {check.rows} rows of R744SREQ fail the self-checks: the 74-4 records of this dump do not "
            "have the known layout, so none of them is printed."
        )
        raise LayoutError(message)
    if not found:
        return found
    whole = pa.Table.from_batches(found).combine_chunks()
    batches: list[pa.RecordBatch] = whole.sort_by(
        [("record", "ascending"), ("section", "ascending")]
    ).to_batches()
    return batches


def _as_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return times as ISO 8601 text; UTC is marked by Z."""
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_timestamp(field.type):
            naive = column.cast(pa.timestamp("us"))
            column = pc.strftime(naive, format="%Y-%m-%dT%H:%M:%S" + ("Z" if field.type.tz else ""))
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _csv_writer(columns: pa.Schema) -> Callable[[pa.RecordBatch], None]:
    """Write the header line and return a writer of batches."""
    sys.stdout.write(",".join(columns.names) + "\n")
    sys.stdout.flush()
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")

    def write(batch: pa.RecordBatch) -> None:
        pyarrow.csv.write_csv(batch, sys.stdout.buffer, options)

    return write


def _write_lines(batch: pa.RecordBatch) -> None:
    sys.stdout.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist()))


def _report(account: Accounting, out: TextIO) -> None:
    """Print a summary of the bytes that were not decoded, with the reasons."""
    out.write(f"decoded: {account.decoded_bytes} bytes\n")
    for kind, (records, size) in sorted(account.skipped.items()):
        out.write(f"skipped: {kind}: {records} records, {size} bytes\n")
    for stretch in account.quarantined[:SHOWN_STRETCHES]:
        out.write(f"quarantined: offset {stretch.offset}, {stretch.length} bytes: {stretch.reason}\n")
    more = len(account.quarantined) - SHOWN_STRETCHES
    if more > 0:
        out.write(f"quarantined: {more} more, {account.quarantined_bytes} bytes in all\n")
    if account.lost_bytes:
        out.write(f"lost: {account.lost_bytes} bytes of a record whose end is missing\n")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    leave(main())
