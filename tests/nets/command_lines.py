"""The command line: help texts, the examples of the documentation, and many commands more, good and bad."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.docs.ready import ready, script
from tests.nets.application import Application
from tests.nets.data import example_bodies
from tests.nets.surroundings import ROOT
from tests.nets.texts import Texts

SUBCOMMAND = re.compile(r"^    ([a-z][a-z-]*)(?:  |$)", re.MULTILINE)
OUTPUTS = ("json", "policy", "job", "mqsc", "setxcf", "runbook")
PATIENCE_S = 120
SHELL = set("|;<>$&`\n*()")
"""Characters that only a shell understands."""


class Terminal:
    """A folder in which commands are typed.

    Lines for the shell find a `cfplan` that is ready at once. A line with one command and nothing else runs in this
    process, which takes a fraction of the time.
    """

    def __init__(self, folder: Path, asked: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        tools = folder.parent / f"{folder.name}-tools"
        tools.mkdir(parents=True)
        folder.mkdir(parents=True)
        (tools / "cfplan").write_text(script(asked, "app.cli"))
        (tools / "cfplan").chmod(0o755)
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        self._environment = {**environment, "PATH": path}

    def run(self, line: str) -> str:
        """What a line prints, and its exit code."""
        if line.startswith("cfplan ") and not set(line) & SHELL:
            code, out, errors = self._here(shlex.split(line)[1:])
        else:
            code, out, errors = self._by_shell(line)
        return (
            f"$ {line}\n-- exit code {code}\n-- stdout\n{out.decode('utf-8', 'replace')}"
            f"-- stderr\n{errors.decode('utf-8', 'replace')}"
        )

    def _by_shell(self, line: str) -> tuple[int, bytes, bytes]:
        ran = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return ran.returncode, ran.stdout, ran.stderr

    def _here(self, words: list[str]) -> tuple[int, bytes, bytes]:
        run = importlib.import_module("app.cli").main
        folder, environment = Path.cwd(), dict(os.environ)
        kept = [os.dup(number) for number in range(3)]
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as errors,
            Path(os.devnull).open() as nothing,
        ):
            _flush()
            for number, file in enumerate((nothing, out, errors)):
                os.dup2(file.fileno(), number)
            os.chdir(self.folder)
            _set_environment(self._environment)
            try:
                code = run(words)
            finally:
                _flush()
                os.chdir(folder)
                _set_environment(environment)
                for number, file_number in enumerate(kept):
                    os.dup2(file_number, number)
                    os.close(file_number)
            out.seek(0)
            errors.seek(0)
            return code, out.read(), errors.read()


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def _set_environment(values: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(values)


def write(application: Application, texts: Texts, work: Path) -> None:
    """Write all of it."""
    environment = {key: value for key, value in os.environ.items() if key != "CFPLAN_DATA_DIR"}
    with ready(environment) as asked:
        helps(texts, Terminal(work / "help", asked, environment))
        documented = json.loads(Path(__file__).with_name("documented.json").read_text("utf-8"))
        for page, lines in documented.items():
            terminal = Terminal(work / f"doc-{page.replace('/', '-')}", asked, environment)
            follow(texts, terminal, f"documented {page}", lines)
        terminal = Terminal(work / "texts", asked, environment)
        names = put_files(application, terminal.folder)
        follow(texts, terminal, "texts", stateless(names))
        follow(texts, terminal, "errors", errors())
        terminal = Terminal(work / "stored", asked, {**environment, "CFPLAN_DATA_DIR": str(work / "data")})
        put_files(application, terminal.folder)
        follow(texts, terminal, "stored", stored(application))


def follow(texts: Texts, terminal: Terminal, session: str, lines: Iterator[str] | list[str]) -> None:
    """Type lines one after the other; each is a text."""
    count = Counter[str]()
    for line in lines:
        count[line] += 1
        label = f"{line} {count[line] if count[line] > 1 else ''}".strip()
        texts.add(f"cli/{session}", label, terminal.run(line))


def helps(texts: Texts, terminal: Terminal) -> None:
    """The help of every command and of every command below it."""
    waiting = ["cfplan"]
    while waiting:
        command = waiting.pop()
        text = terminal.run(f"{command} --help")
        texts.add("help", command, text)
        if "COMMAND" in text or " ACTION" in text or "positional arguments" in text:
            for name in SUBCOMMAND.findall(text):
                below = f"{command} {name}"
                if f"usage: {below} " in terminal.run(f"{below} --help"):
                    waiting.append(below)
    for command in (
        "cfplan",
        "cfplan nonsense",
        "cfplan plans",
        "cfplan whatif nonsense",
        "cfplan --version",
    ):
        texts.add("help", f"{command} without more", terminal.run(command))


def put_files(application: Application, folder: Path) -> dict[str, list[str]]:
    """Put all example files into a folder, those of the API's description too; their names by use."""
    names: dict[str, list[str]] = {"plans": [], "events": [], "cluster": []}
    for file in sorted(ROOT.glob("app/**/examples/**/*")):
        if file.is_file():
            shutil.copyfile(file, folder / file.name)
    description = application.json("/openapi.json")
    for use, path in {
        "plans": "/api/v1/size",
        "events": "/api/v1/events/simulate",
        "cluster": "/api/v1/cluster/decide",
        "read": "/api/v1/events/read",
        "rates": "/api/v1/events/rates",
        "explain": "/api/v1/cluster/explain",
        "lint": "/api/v1/lint",
        "merge": "/api/v1/merge",
        "diff": "/api/v1/diff",
    }.items():
        for name, body in example_bodies(description, path).items():
            file = folder / f"{use}-{name}.json"
            file.write_text(json.dumps(body, indent=1), "utf-8")
            names.setdefault(use, []).append(file.name)
    names["plans"] += ["inventory.yaml"]
    return names


def stateless(names: dict[str, list[str]]) -> Iterator[str]:
    """Commands that read files only."""
    for size in (
        "--messages 200000",
        "--messages 0",
        "--messages 1000000000",
        "--size-mib 256",
        "--size-mib 0.5",
    ):
        for message, cfcc in (("1024", 14), ("2K", 25), ("63K", 24), ("100M", 30)):
            yield f"cfplan structure {size} --message-bytes {message} --cfcc {cfcc}"
    yield "cfplan structure --messages 200000 --message-bytes 1024 --json --explain"
    yield "cfplan structure --size-mib 256 --message-bytes 1024 --explain"
    for count in (1, 5, 8, 16, 32, 33):
        for cfcc in (14, 21, 25):
            yield f"cfplan admin --queue-managers {count} --cfcc {cfcc} --entsmax 4097 --elements-total 10000"
    yield "cfplan admin --queue-managers 5 --json --explain"
    for more in (
        "",
        "--auto-alter",
        "--hold 1000000",
        "--rule 92:0K",
        "--rule 70:32K --rule 80:4K --explain",
        "--json",
    ):
        yield f"cfplan offload --size-mib 10240 --message-bytes 2048 {more}".strip()
        yield f"cfplan offload --size-mib 512 --message-bytes 64K --cfcc 14 {more}".strip()
    yield from ("cfplan example", "cfplan schema")
    for plan in names["plans"]:
        for output in OUTPUTS:
            yield f"cfplan plan {plan} --output {output}"
        for more in ("--explain", "--depths", "--fail-on warning", "--output policy --fail-on warning"):
            yield f"cfplan plan {plan} {more}"
        for more in ("", "--at size", "--json", "--with inventory.yaml"):
            yield f"cfplan whatif cf-loss {plan} {more}".strip()
        for more in (
            "",
            "--json",
            "--cfcc 25 --queue-managers 3",
            "--growth 20 --years 1 --years 5",
            "--fragment cfcc-25",
        ):
            yield f"cfplan whatif upgrade {plan} {more}".strip()
        for structure in ("", "--structure MYDATA", "--structure APPLICATION1"):
            for more in (
                "",
                "--json",
                "--at size",
                "--outage-minutes 30 --rate-percent 250",
                "--rule 60:16K --data-set-size 1G",
            ):
                yield f"cfplan whatif filling {plan} {structure} {more}".strip()
            for more in (
                "",
                "--json --explain",
                "--typical 5000",
                "--hold 100000 --margin-percent 20",
                "--cheap-over 16K",
            ):
                yield f"cfplan whatif thresholds {plan} {structure} {more}".strip()
        for more in (
            "",
            "--json --explain",
            "--recovery-minutes 15 --interval-minutes 30",
            "--fill-percent 50",
        ):
            yield f"cfplan whatif recovery {plan} {more}".strip()
        for more in ("", "--for size", "--for backlog --json"):
            yield f"cfplan whatif smds-job {plan} {more}".strip()
        for more in ("", "--json"):
            yield f"cfplan events advise {plan} {more}".strip()
            yield f"cfplan cluster load {plan} {more}".strip()
            yield f"cfplan merge {plan} --policy policy.txt {more}".strip()
            yield f"cfplan diff {plan} --current displays.txt policy.txt definitions.txt {more and '--output json'}".strip()
        yield f"cfplan merge {plan} --policy policy.txt --difference --unstated plan"
        yield f"cfplan diff {plan} --current displays.txt --unstated plan --fail-on warning"
    for file in ("policy.txt", "definitions.txt", "displays.txt", "policy.txt definitions.txt"):
        for more in ("", "--json", "--cfcc 25 --queue-managers 5", "--fail-on warning"):
            yield f"cfplan lint {file} {more}".strip()
        yield f"cfplan from-running {file}"
        yield f"cfplan from-running {file} --queue-managers 5 --message-bytes 2K --json"
    for file in (*names["events"], "three-members.yaml", "ibm-example-1.yaml", "ibm-example-2.yaml"):
        yield f"cfplan events simulate {file}"
        yield f"cfplan events simulate {file} --json --fail-on warning"
    for more in ("", "--json", "--members QM1,QM2,QM3,QM4", "--perfmev QM1=ENABLED,QM2=DISABLED", "--window 60",
                 "--depth-before SQ1=10", "--queue 'QUEUE(SQ1) MAXDEPTH(1000) QDEPTHHI(80) QDEPTHLO(20)'"):  # fmt: skip
        yield f"cfplan events read three-members.json {more}".strip()
    yield "cfplan events read three-members.json --json > sets.json"
    yield "cfplan events rates sq03.yaml --sets sets.json"
    yield "cfplan events rates sq03.yaml --sets sets.json --using all --json"
    for file in (*names["cluster"], "retrying.yaml"):
        for more in ("", "--json", "--mode ibm", "--mode seed --fail-on warning"):
            yield f"cfplan cluster decide {file} {more}".strip()
    for more in (
        "",
        "--json",
        "--mode ibm",
        "--queue INVENTQ --at 2026-03-02T09:00 --failed-at 2026-03-02T08:00",
    ):
        yield f"cfplan cluster explain displays.txt --messages browse.txt {more}".strip()
        yield f"cfplan cluster explain displays-zos.txt --messages browse-zos.csv {more}".strip()
    simulate = "cfplan simulate --structures 2 --queue-managers 2 --interval-minutes 60 --seed 3"
    yield f"{simulate} --days 1 --out small"
    yield f"{simulate} --days 1 --out small"
    yield f"{simulate} --days 2 --out small --force --last-day 2026-02-20"
    yield "cksum small/*"
    decode = "cfplan smf decode small/simulated-2026-02-19.smf --section"
    for section in ("qest", "qesd", "qqst", "wq", "r744"):
        yield f"{decode} {section} > {section}.csv; head -40 {section}.csv; cksum {section}.csv"
    yield f"{decode} qest --output jsonl | head -40"
    yield "cfplan smf decode sq03.yaml --section qest"


def errors() -> Iterator[str]:
    """Commands that are refused."""
    yield "printf 'qsg: SQ03\\nqueue_managers: 5\\nnonsense: 1\\n' > unknown.yaml"
    yield "sed 's/cfcc_level: .*/cfcc_level: many/; s/MYDATA/1BAD/' sq03.yaml > bad.yaml"
    yield "printf 'a: [' > half.yaml; printf '' > empty.yaml; printf '\\377\\376' > binary.yaml; printf '{\"qsg\": 1' > half.json"
    for file in (
        "unknown.yaml",
        "bad.yaml",
        "half.yaml",
        "empty.yaml",
        "binary.yaml",
        "half.json",
        "nowhere.yaml",
        ".",
        "policy.txt",
    ):
        for command in (
            "plan", "plan --output policy", "whatif cf-loss", "whatif upgrade", "whatif filling", "whatif recovery",
            "whatif thresholds", "whatif smds-job", "events advise", "events simulate", "events read", "cluster decide",
            "cluster load", "lint", "from-running", "merge --policy policy.txt", "diff --current displays.txt",
            "plans put SQ03", "scenarios save SQ03 s", "smf decode --section qest", "events rates --sets sets.json",
            "cluster explain --messages browse.txt",
        ):  # fmt: skip
            first, _, rest = command.partition(" --")
            yield f"cfplan {first} {file} {rest and '--' + rest}".strip()
    yield from (
        "cfplan structure --messages many --message-bytes 1024",
        "cfplan structure --messages 1 --message-bytes 1X",
        "cfplan structure --messages 1",
        "cfplan structure --messages 1 --size-mib 2 --message-bytes 1K",
        "cfplan structure --size-mib 1e3 --message-bytes 1K",
        "cfplan structure --size-mib -1 --message-bytes 1K",
        "cfplan structure --messages 1 --message-bytes 1K --cfcc 0",
        "cfplan structure --messages 1 --message-bytes 1K --fail-on nothing",
        "cfplan admin --queue-managers 0",
        "cfplan admin --queue-managers 1000",
        "cfplan offload --size-mib 512 --message-bytes 2K --rule 70",
        "cfplan offload --size-mib 512 --message-bytes 2K --rule 101:2K",
        "cfplan offload --size-mib 512 --message-bytes 2K --rule 1:1K --rule 2:1K --rule 3:1K --rule 4:1K",
        "cfplan plan sq03.yaml --output nothing",
        "cfplan plan",
        "cfplan whatif cf-loss sq03.yaml --at nothing",
        "cfplan whatif cf-loss sq03.yaml --with nowhere.yaml",
        "cfplan whatif cf-loss sq03.yaml --with sq03.yaml",
        "cfplan whatif upgrade sq03.yaml --cfcc 0",
        "cfplan whatif upgrade sq03.yaml --cfcc x --years one",
        "cfplan whatif upgrade sq03.yaml --growth -200",
        "cfplan whatif upgrade sq03.yaml --fragment nothing",
        "cfplan whatif filling sq03.yaml",
        "cfplan whatif filling sq03.yaml --structure NONE",
        "cfplan whatif filling sq03.yaml --structure MYDATA --rate-percent -1",
        "cfplan whatif filling sq03.yaml --structure MYDATA --outage-minutes soon",
        "cfplan whatif filling sq03.yaml --structure MYDATA --rule 200:1K",
        "cfplan whatif filling sq03.yaml --structure MYDATA --data-set-size 1Q",
        "cfplan whatif thresholds sq03.yaml --structure MYDATA --hold x",
        "cfplan whatif thresholds sq03.yaml --structure MYDATA --typical -5",
        "cfplan whatif thresholds sq03.yaml --structure MYDATA --margin-percent 101",
        "cfplan whatif thresholds sq03.yaml --structure MYDATA --cheap-over 1K --costly-up-to 2K",
        "cfplan whatif recovery sq03.yaml --recovery-minutes 0",
        "cfplan whatif recovery sq03.yaml --fill-percent 101",
        "cfplan whatif recovery sq03.yaml --log-read-mb-per-s x",
        "cfplan whatif smds-job sq03.yaml --for nothing",
        "cfplan merge sq03.yaml --policy nowhere.txt",
        "cfplan merge sq03.yaml --policy displays.txt",
        "cfplan merge sq03.yaml --policy policy.txt --policy-name NONE",
        "cfplan diff sq03.yaml --current nowhere.txt",
        "cfplan diff sq03.yaml",
        "cfplan lint",
        "cfplan lint sq03.yaml --cfcc x",
        "cfplan from-running policy.txt --queue-managers 99",
        "cfplan events read three-members.json --perfmev QM1",
        "cfplan events read three-members.json --depth-before SQ1",
        "cfplan events read three-members.json --window x",
        "cfplan cluster decide retrying.yaml --mode nothing",
        "cfplan cluster explain displays.txt --messages browse.txt --at soon",
        "cfplan simulate --days 0 --structures 1 --queue-managers 1 --interval-minutes 60 --seed 1 --out x",
        "cfplan simulate --days 1 --structures 1 --queue-managers 1 --interval-minutes 7 --seed 1 --out x",
        "cfplan simulate --days 1",
        "cfplan ingest nowhere.smf",
        "cfplan ingest sq03.yaml",
        "cfplan ingest sq03.yaml --zone Nowhere",
        "cfplan ingest displays.txt",
        "cfplan ingest displays.txt --observed-at yesterday --zone UTC",
        "cfplan history export --table nothing",
        "cfplan history export",
        "cfplan serve --port 0",
        "CFPLAN_PORT=x cfplan serve",
        "CFPLAN_DATABASE_URL=nonsense cfplan plans list",
    )  # fmt: skip


def stored(application: Application) -> Iterator[str]:
    """Commands on the data folder; those that change it come last."""
    plans = [plan["name"] for plan in application.json("/api/v1/plans")["plans"]]
    yield from (
        "cfplan plans list",
        "cfplan plans list --json",
        "cfplan plans list --search sq",
        "cfplan plans list --deleted",
    )
    for name in (*plans, "NONE"):
        for output in (*OUTPUTS, "document", "versions"):
            yield f"cfplan plans show {name} --output {output}"
        yield f"cfplan plans show {name} --version 1 --output policy"
        yield f"cfplan plans show {name} --version 9"
        yield f"cfplan scenarios list {name}"
    yield "cfplan scenarios list SQ03 --json"
    scenarios = application.json("/api/v1/plans/SQ03/scenarios")["scenarios"]
    for scenario in (*(each["name"] for each in scenarios), "none"):
        for command in ("show", "compare", "report"):
            yield f"cfplan scenarios {command} SQ03 {scenario}"
            yield f"cfplan scenarios {command} SQ03 {scenario} --json"
    for command in ("curves list", "curves list --current", "forecasts list"):
        yield f"cfplan {command}"
        yield f"cfplan {command} --json"
    for table in ("structure_usage", "allocation"):
        yield f"cfplan history export --table {table} --output csv > {table}.csv; head -20 {table}.csv; cksum {table}.csv"
    yield "cfplan history export --table structure_usage --from soon"
    yield "cfplan migrate"
    yield "printf 'qsg,structure,interval_start,interval_end,entries_in_use\\nSQ03,NEW1,2026-02-01T11:00Z,2026-02-01T12:00Z,1200\\n' > m.csv"
    yield "cfplan ingest m.csv displays.txt"
    yield "cfplan ingest displays.txt --observed-at 2026-02-20T09:30 --zone Europe/Berlin"
    yield "cfplan plans put NEW sq03.yaml --comment 'First draft'"
    yield "cfplan plans put NEW inventory.yaml"
    yield "cfplan plans put NEW inventory.yaml --if-match x"
    yield "cfplan plans put NEW inventory.yaml --create"
    yield "cfplan plans put NEW inventory.yaml --replace"
    yield "cfplan plans put 'bad name' inventory.yaml"
    yield "cfplan plans acknowledge NEW NOTHING --reason x"
    yield "cfplan plans acknowledge SQ03 USAGE_MEASURE_ASSUMED --reason 'As agreed'"
    yield "cfplan plans acknowledge SQ03 USAGE_MEASURE_ASSUMED --structure MYDATA --reason 'As agreed'"
    yield "printf 'note: Two more.\\nchanges: {queue_managers: 7}\\n' > two.yaml; printf 'changes: {nonsense: 7}\\n' > bad-changes.yaml"
    yield "cfplan scenarios save SQ03 two two.yaml"
    yield "cfplan scenarios save SQ03 two two.yaml --create"
    yield "cfplan scenarios save SQ03 two two.yaml --note 'Another note' --replace"
    yield "cfplan scenarios save SQ03 three bad-changes.yaml"
    yield "cfplan scenarios compare SQ03 two one three"
    yield "cfplan scenarios delete SQ03 two"
    yield "cfplan scenarios delete SQ03 two"
    yield "cfplan plans export --all --to exported"
    yield "cksum exported/*"
    yield "cfplan plans import exported/*"
    yield "cfplan plans delete NEW --if-match x"
    yield "cfplan plans delete NEW"
    yield "cfplan plans delete NEW"
    yield "cfplan plans restore NEW --as OTHER"
    yield "cfplan plans restore NEW"
    yield "cfplan plans list --deleted --json"
