"""`python -m tests.nets write FOLDER`, `python -m tests.nets compare A B`, `python -m tests.nets data FOLDER`."""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.nets import surroundings

SHOWN_LINES = 40


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="python -m tests.nets", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", help="write a snapshot of this checkout")
    write.add_argument("folder", type=Path, help="new or empty")
    write.add_argument("--data", type=Path, help="use a copy of this data folder")
    write.add_argument("--with-nightly", action="store_true", help="without --data: make nightly runs, too")
    write.add_argument(
        "--only", default="rest,cli,pages", help="some parts only, separated by commas: rest, cli, pages"
    )
    build = commands.add_parser("data", help="build a data folder")
    build.add_argument("folder", type=Path, help="new or empty")
    build.add_argument("--without-nightly", action="store_true", help="leave the two nightly runs out")
    compare = commands.add_parser("compare", help="compare two snapshots; exit code 1 if they differ")
    compare.add_argument("first", type=Path)
    compare.add_argument("second", type=Path)
    compare.add_argument("--lines", type=int, default=SHOWN_LINES, help="most lines shown for each text")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        return compared(arguments.first, arguments.second, arguments.lines)
    if any(arguments.folder.glob("*")):
        parser.error(f"{arguments.folder} is not empty.")
    if not surroundings.is_set():
        with tempfile.TemporaryDirectory(prefix="cfplan-nets-") as work:
            return surroundings.run_again_inside(Path(work), [*sys.argv[1:]])
    return run(arguments)


def run(arguments: argparse.Namespace) -> int:
    """Build or write, with the clock set."""
    from tests.nets import command_lines, data, pages, rest
    from tests.nets.application import Application
    from tests.nets.texts import Texts

    with tempfile.TemporaryDirectory(prefix="cfplan-nets-") as folder:
        work = Path(folder)
        if arguments.command == "data":
            data.build(arguments.folder.absolute(), work, with_nightly=not arguments.without_nightly)
            return 0
        source = arguments.data
        began = time.monotonic()
        if source is None:
            source = work / "built"
            data.build(source, work, with_nightly=arguments.with_nightly)
        folders = {folder: "/FOLDER", str(surroundings.ROOT): "/CHECKOUT", sys.prefix: "/PYTHON"}
        texts = Texts(arguments.folder, folders)
        for part, written in {"rest": rest.write, "cli": command_lines.write, "pages": pages.write}.items():
            if part in arguments.only.split(","):
                copied = work / part / "data"
                shutil.copytree(source, copied)
                with Application(copied) as application:
                    written(application, texts, work / part)
                for failure in application.failed:
                    texts.remark(failure)
                print(f"{part}: {time.monotonic() - began:.0f} s", file=sys.stderr)
        print(texts.write_index())
    return 0


def compared(first: Path, second: Path, lines: int) -> int:
    """Print what differs."""
    differ = 0
    names = sorted({path.relative_to(folder) for folder in (first, second) for path in folder.rglob("*.txt")})
    for name in names:
        texts = [
            (folder / name).read_text("utf-8") if (folder / name).exists() else None
            for folder in (first, second)
        ]
        if texts[0] == texts[1]:
            continue
        differ += 1
        if None in texts:
            print(f"only in {second if texts[0] is None else first}: {name}")
            continue
        shown = list(difference(str(name), str(texts[0]), str(texts[1])))
        print(*shown[:lines], sep="\n")
        if len(shown) > lines:
            print(f"... {len(shown) - lines} more lines")
    print(f"{differ} of {len(names)} texts differ.")
    return int(differ > 0)


def difference(name: str, first: str, second: str) -> Iterator[str]:
    """The lines of a unified diff, or a remark where only the ends of lines differ."""
    found = list(
        difflib.unified_diff(first.splitlines(), second.splitlines(), f"a/{name}", f"b/{name}", "", "", 1, "")
    )
    return iter(found or [f"{name}: the ends of lines differ"])


if __name__ == "__main__":
    sys.exit(main())
