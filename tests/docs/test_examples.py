"""Every example of the documentation gives the output that the page shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks, commands, name_of, shows
from tests.prepared import prepared, script

pytestmark = pytest.mark.long

ADDRESS = "http://127.0.0.1:8000"
LANGUAGES = {"", "console", "csv", "sh", "toml", "python", "jinja", "json", "yaml", "dockerfile"}
SHELL = {"console", "sh"}
RUN_ELSEWHERE = {
    ROOT / "docs" / f"{name}.md"
    for name in (
        "how-to/ansible", "how-to/connections", "how-to/provisioning", "how-to/smf-from-the-data-gatherer", "how-to/zosmf-policies",
        "how-to/zowe",
        "reference/command-line/connections", "reference/command-line/dds", "reference/command-line/gatherer",
        "reference/command-line/notices",
        "reference/command-line/zosmf",
    )
}  # fmt: skip
"""Pages whose commands need another system. The tests in tests/deployment, tests/app/plans/test_provisioning.py,
tests/app/zosmf, tests/app/dds, tests/app/gatherer and tests/app/notices run such commands with stand-ins."""
WITH_EXAMPLES = [
    page
    for page in PAGES
    if page not in RUN_ELSEWHERE and any(block.language in SHELL for block in blocks(page))
]
WITH_CURL = [
    page
    for page in WITH_EXAMPLES
    if any(block.language in SHELL and re.search(r"\bcurl ", block.text) for block in blocks(page))
]
PREPARED = (
    "app.cli", "app.main", "app.scenarios.service", "uvicorn", "tests.docs.curl", "tests.docs.migrated",
)  # fmt: skip
PATIENCE_S = 120


def has_curl() -> bool:
    """Return whether curl of this machine has --json, which 7.82 introduced."""
    curl = shutil.which("curl")
    told = (
        subprocess.run([curl, "--version"], capture_output=True, text=True, check=False).stdout
        if curl
        else ""
    )
    version = re.match(r"curl (\d+)\.(\d+)", told)
    return version is not None and (int(version[1]), int(version[2])) >= (7, 82)


def surroundings() -> dict[str, str]:
    """Return the environment of the commands."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CFPLAN_")}
    night = {"CFPLAN_NIGHT_HOUR": "off"}  # no page is about what begins by itself
    return {**kept, "LC_ALL": "C", "NO_PROXY": "127.0.0.1", **night}


class Terminal:
    """A folder in which the commands of one page run, with the commands of the project in .venv.

    `cfplan` starts at once (tests/prepared.py); `.venv/bin/cfplan`, as in the README, and the service start normally.
    """

    def __init__(self, folder: Path, *, port: int, real_curl: bool, ready_commands: Path) -> None:
        self.folder, self.port = folder, port
        (folder / ".venv").symlink_to(sys.prefix)
        tools = folder / ".tools"
        tools.mkdir()
        (tools / "python3").symlink_to(sys.executable)
        stand_ins = {"cfplan": "app.cli"} | ({} if real_curl else {"curl": "tests.docs.curl"})
        for name, module in stand_ins.items():
            (tools / name).write_text(script(ready_commands, module))
            (tools / name).chmod(0o755)
        path = os.pathsep.join([str(tools), str(folder / ".venv/bin"), os.environ.get("PATH", os.defpath)])
        self.environment = {**surroundings(), "PATH": path}

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run shell text with the address on the pages replaced by that of the running service."""
        return subprocess.run(
            ["/bin/sh", "-c", script.replace(ADDRESS, f"http://127.0.0.1:{self.port}")],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def follow(self, block: Block) -> None:
        """Run the commands of a block."""
        if block.language == "console":
            self._type(block.text)
        elif block.language == "sh":
            for line in filter(None, block.text.splitlines()):
                self._do(line)

    def _type(self, console: str) -> None:
        code = 0
        for command in commands(console):
            if command.text == "echo $?":
                assert f"{code}\n" == command.output, f"exit code {code}"
                code = 0
                continue
            assert code == 0, f"exit code {code}, which the page does not show"
            ran = self.run(command.text)
            code = ran.returncode
            assert shows(command.output, ran.stdout), f"$ {command.text}\n{ran.stdout}"
        assert code == 0, f"exit code {code}, which the page does not show"

    def _do(self, line: str) -> None:
        words = shlex.split(line, comments=True)
        program = Path(words[0]).name
        if program == "make":
            told = subprocess.run(
                ["make", "--dry-run", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
            )
            assert told.returncode == 0, told.stderr
        elif program == "cfplan" and words[1] == "serve":
            self._serve(words)
        else:
            ran = self.run(line)
            assert ran.returncode == 0, ran.stdout

    def _serve(self, words: list[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            free = listener.getsockname()[1]
        words = [
            str(self.folder / ".venv/bin/cfplan"),
            *(str(free) if word == "8123" else word for word in words[1:]),
        ]
        server = subprocess.Popen(words, cwd=self.folder, env=self.environment, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + PATIENCE_S
            while True:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{free}/healthz") as answer:
                        assert answer.status == 200
                        return
                except OSError:
                    assert server.poll() is None, "the server ended"
                    assert time.monotonic() < deadline, "the server does not answer"
                    time.sleep(0.1)
        finally:
            server.terminate()
            server.wait(timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def ready_commands() -> Iterator[Path]:
    """Yield the folder of the process that runs commands at once."""
    with prepared(surroundings(), *PREPARED) as found:
        yield found.folder


@pytest.fixture
def terminal(tmp_path: Path, port: int, ready_commands: Path) -> Terminal:
    return Terminal(tmp_path, port=port, real_curl=has_curl(), ready_commands=ready_commands)


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_of_a_page_give_the_output_that_it_shows(page: Path, terminal: Terminal) -> None:
    for block in blocks(page):
        terminal.follow(block)


@pytest.mark.skipif(not has_curl(), reason="without a curl, the test of all examples uses the stand-in")
@pytest.mark.parametrize("page", WITH_CURL, ids=name_of)
def test_curl_examples_give_the_same_output_with_the_curl_stand_in(
    page: Path, tmp_path: Path, port: int, ready_commands: Path
) -> None:
    terminal = Terminal(tmp_path, port=port, real_curl=False, ready_commands=ready_commands)
    for block in blocks(page):
        terminal.follow(block)


def test_readme_and_pages_of_both_interfaces_have_examples() -> None:
    assert {
        "README.md",
        "docs/reference/command-line.md",
        "docs/reference/rest-api.md",
        "docs/tutorial/end-to-end.md",
    } <= {name_of(page) for page in WITH_EXAMPLES}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_blocks_have_a_known_language_and_prompts_only_in_console_blocks(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, block
        assert block.language == "console" or not re.search(r"^\$ ", block.text, re.MULTILINE), block


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nb", True),
        ("", "", True),
        ("", "a\n", False),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nb\n...\n", "a\nb\nc\n", True),
        ("...\nx\n...\n", "a\nb\nc\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_outputs_are_compared_except_for_omitted_lines(expected: str, actual: str, same: bool) -> None:
    assert shows(expected, actual) is same


def test_commands_are_read_with_continuations_and_here_documents() -> None:
    found = commands("$ cat > a <<'END'\nx\nEND\n$ sed -e 1 \\\n   a\nout\n...\n")
    assert [(command.text, command.output) for command in found] == [
        ("cat > a <<'END'\nx\nEND", ""),
        ("sed -e 1 \\\n   a", "out\n...\n"),
    ]


def test_preloaded_command_gives_the_output_of_the_installed_one(terminal: Terminal) -> None:
    for command in (
        "cfplan example | cfplan plan - --output policy",
        "cfplan structure --messages many",
        "CFPLAN_DATA_DIR=here cfplan plans list; ls here/cfplan.db",
        "cfplan schema | head -n 1",
    ):
        quick, real = (
            terminal.run(command.replace("cfplan ", path)) for path in ("cfplan ", ".venv/bin/cfplan ")
        )
        assert (quick.returncode, quick.stdout) == (real.returncode, real.stdout)


def test_wrong_output_and_hidden_failure_are_detected(terminal: Terminal) -> None:
    for text in ("$ echo a\nb\n", "$ false\n", "$ false\n$ echo $?\n0\n", "$ false\n$ true\n"):
        with pytest.raises(AssertionError):
            terminal.follow(Block("console", text))
    terminal.follow(Block("console", "$ false\n$ echo $?\n1\n"))
