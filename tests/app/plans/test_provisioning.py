"""The examples of docs/how-to/provisioning.md, run against a live service; z/OSMF and Zowe are stand-ins."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from app.main import create_app
from app.settings import Settings
from app.sizing.examples import examples
from app.texts.documents import example_text
from planner_core.document.reading import read_object
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.texts.outputs import OUTPUT_KINDS, render_output
from tests.app.plans.support import above_figures
from tests.packaging.pins import ROOT
from tests.serving import served

PAGE = (ROOT / "docs" / "how-to" / "provisioning.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
MISSING = [program for program in ("bash", "curl", "jq") if shutil.which(program) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")


def acknowledged(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with all warnings acknowledged."""
    open_findings = evaluate(read_object(document)).findings
    known = [
        {"code": finding.code, "structure": finding.structure, "reason": "known"}
        for finding in open_findings
        if finding.severity == "warning"
    ]
    return {**document, "acknowledged": known}


COMPLETE = acknowledged(
    examples()["complete"].document
)  # the job itself earns a warning: it replaces a policy


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)


@dataclass
class Zosmf:
    """Requests to the stand-in for z/OSMF."""

    requests: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def zosmf() -> Iterator[Zosmf]:
    found = Zosmf()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            sent = {name.lower(): value for name, value in self.headers.items()}
            found.requests.append((self.command, self.path, sent, text))
            body = json.dumps({"jobname": "CFRMPOL", "jobid": "JOB00042", "status": "INPUT"}).encode()
            self.send_response(201)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield found
        server.shutdown()
        thread.join(timeout=30)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """Yield the address of a service without plans."""
    with served(create_app(Settings(data_dir=tmp_path / "data"))) as address:
        yield address


@dataclass
class Shell:
    """A folder with the document, and a way to run the examples in it."""

    folder: Path
    environment: dict[str, str]

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip

    def write(self, name: str, document: object) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture
def shell(tmp_path: Path, service: str, zosmf: Zosmf) -> Shell:
    folder = tmp_path / "work"
    folder.mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    zowe = programs / "zowe"
    zowe.write_text('#!/bin/sh\necho "$@" > zowe.arguments\ncat > zowe.input\n', encoding="utf-8")
    zowe.chmod(0o755)
    environment = {
        "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(tmp_path), "CFPLAN": service, "ZOSMF": zosmf.url, "ZOSMF_USER": "ibmuser", "ZOSMF_PASSWORD": "geheim",
        "LC_ALL": "C.UTF-8", "ANSIBLE_LOCALHOST_WARNING": "False", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "False",
        "ANSIBLE_NOCOLOR": "1", "no_proxy": "*",
    }  # fmt: skip
    made = Shell(folder, environment)
    made.write("SQ03.json", COMPLETE)
    return made


def open_warnings(document: dict[str, Any]) -> list[Finding]:
    findings = evaluate(read_object(document)).findings
    return [f for f in findings if f.severity == "warning" and f.acknowledged is None]


def text_of(kind: str, document: dict[str, Any]) -> str:
    return render_output(kind, evaluate(read_object(document))).text


def test_documented_curl_lines_save_change_compare_and_fetch_a_plan(shell: Shell) -> None:
    first, change, _, fetch = blocks("curl", "sh")
    assert shell.run(first).stdout == "version 1: created\n"
    assert shell.run(first).stdout == "version 1: identical\n"
    changed = shell.run(change)
    assert changed.stdout == "version 2: changed\n", changed.stderr
    fetched = shell.run(fetch)
    assert fetched.returncode == 0, fetched.stderr
    assert "/structures/APPLICATION1/initsize_kib: " in fetched.stdout
    for kind in OUTPUT_KINDS:
        assert shell.read(f"SQ03-{kind}.txt") == text_of(kind, {**COMPLETE, "headroom_percent": 20})


def test_documented_curl_line_stores_a_yaml_file(shell: Shell) -> None:
    _, _, upload, _ = blocks("curl", "sh")
    (shell.folder / "SQ04.yaml").write_text(example_text().replace("SQ03", "SQ04"), encoding="utf-8")
    stored = shell.run(upload)
    assert stored.stdout == "version 1: created\n", stored.stderr
    assert shell.run(upload).stdout == "version 1: identical\n"


def test_documented_curl_lines_fail_after_a_concurrent_change(shell: Shell) -> None:
    first, change, *_ = blocks("curl", "sh")
    shell.run(first)
    read, rest = change.split("jq '.document", 1)
    assert shell.run(read).returncode == 0
    faster = (
        "jq '.headroom_percent = 5' SQ03.json | curl --fail-with-body --silent --header 'If-Match: *' "
        "--header 'Content-Type: application/json' --upload-file - $CFPLAN/api/v1/plans/SQ03"
    )
    assert shell.run(faster).returncode == 0
    refused = shell.run(f"jq '.document{rest}")
    assert refused.returncode != 0
    assert "412" in refused.stderr


@pytest.fixture
def playbook(shell: Shell) -> str:
    (text,) = blocks("Ansible", "yaml")
    name = text.splitlines()[0].removeprefix("# ")
    (shell.folder / name).write_text(text, encoding="utf-8")
    (command,) = blocks("Ansible", "sh")
    if shutil.which("ansible-playbook", path=shell.environment["PATH"]) is None:
        pytest.skip("ansible-core is not installed")
    return command


def test_playbook_submits_the_job_exactly_once(shell: Shell, playbook: str, zosmf: Zosmf) -> None:
    played = shell.run(playbook)
    assert played.returncode == 0, played.stdout + played.stderr
    assert "CFRMPOL JOB00042" in played.stdout
    ((method, path, headers, text),) = zosmf.requests
    assert (method, path) == ("PUT", "/zosmf/restjobs/jobs")
    assert headers["content-type"] == "text/plain"
    assert "x-csrf-zosmf-header" in headers
    assert base64.b64decode(headers["authorization"].removeprefix("Basic ")) == b"ibmuser:geheim"
    card, *lines = text.splitlines()
    assert card.startswith("//CFRMPOL  JOB ")
    assert max(map(len, text.splitlines())) <= 72
    assert lines == text_of("job", COMPLETE).splitlines()[1:]

    again = shell.run(playbook)
    assert again.returncode == 0, again.stdout
    assert len(zosmf.requests) == 1, "the document had not changed"

    shell.write("SQ03.json", {**COMPLETE, "headroom_percent": 20})
    assert shell.run(playbook).returncode == 0
    assert (
        zosmf.requests[1][3].splitlines()[1:]
        == text_of("job", {**COMPLETE, "headroom_percent": 20}).splitlines()[1:]
    )


def test_playbook_submits_nothing_while_a_warning_is_open(shell: Shell, playbook: str, zosmf: Zosmf) -> None:
    document = above_figures(COMPLETE)
    warnings = open_warnings(document)
    assert warnings
    shell.write("SQ03.json", document)
    stopped = shell.run(playbook)
    assert stopped.returncode != 0
    assert warnings[0].message[:40] in " ".join(stopped.stdout.split())
    assert zosmf.requests == []
    shell.write("SQ03.json", acknowledged(document))
    played = shell.run(playbook)
    assert played.returncode == 0, played.stdout
    assert len(zosmf.requests) == 1


def test_documented_zowe_line_submits_the_job(shell: Shell) -> None:
    (line,) = blocks("Zowe", "sh")
    assert shell.run(line).returncode != 0, "there is no plan yet"
    shell.run(blocks("curl", "sh")[0])
    assert shell.run(line).returncode == 0
    assert shell.read("zowe.arguments").split()[:3] == ["zos-jobs", "submit", "stdin"]
    assert shell.read("zowe.input") == text_of("job", COMPLETE)


def test_ci_job_fails_on_new_warnings_only(shell: Shell) -> None:
    (text,) = blocks("A CI job that fails on new warnings", "yaml")
    (job,) = YAML(typ="safe").load(text)["jobs"].values()
    (script,) = [step["run"] for step in job["steps"] if "run" in step]
    quiet, noisy = COMPLETE, above_figures(COMPLETE)
    shell.write("plans/SQ03.json", quiet)
    checked = shell.run(script)
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stderr

    shell.write("plans/SQ03.json", noisy)
    checked = shell.run(script)
    assert checked.returncode == 1
    found = open_warnings(noisy)
    assert [line.split(": ")[:3] for line in checked.stdout.splitlines()] == [
        ["SQ03", "warning", finding.code] for finding in found
    ]

    shell.write("plans/SQ03.json", acknowledged(noisy))
    assert shell.run(script).returncode == 0

    shell.write("SQ03.json", noisy)
    shell.write("plans/SQ03.json", noisy)
    shell.run(blocks("curl", "sh")[0])
    assert shell.run(script).returncode == 0, "the stored plan has the same warnings"

    shell.write("plans/SQ03.json", {**noisy, "qsg": "far too long"})
    assert shell.run(script).returncode != 0


def test_ci_job_fails_if_a_known_warning_changes(shell: Shell) -> None:
    (text,) = blocks("A CI job that fails on new warnings", "yaml")
    (job,) = YAML(typ="safe").load(text)["jobs"].values()
    (script,) = [step["run"] for step in job["steps"] if "run" in step]
    (accept,) = blocks("A CI job that fails on new warnings", "sh")
    big, small = {"name": "CF01", "size": "64G"}, {"name": "CF02", "size": "299M"}
    known = {
        "qsg": "SQ03", "queue_managers": 5, "coupling_facilities": [big, small],
        "structures": [{"name": "APP1", "initsize": "300M", "size": "400M", "offload": {"dsgroup": "MQ.*.APP1"}}],
    }  # fmt: skip
    shell.write("SQ03.json", known)
    shell.run(blocks("curl", "sh")[0])
    shell.write("plans/SQ03.json", known)
    assert shell.run(script).returncode == 0
    more = {**known, "coupling_facilities": [big, small, {"name": "CF03", "size": "299M"}]}
    shell.write("plans/SQ03.json", more)
    checked = shell.run(script)
    assert checked.returncode == 1
    assert "CF_TOO_SMALL" in checked.stdout
    entries = json.loads(shell.run(accept).stdout)
    shell.write("plans/SQ03.json", {**more, "acknowledged": entries})
    assert shell.run(script).returncode == 0


def test_documented_acknowledgment_is_valid() -> None:
    (text,) = blocks("A CI job that fails on new warnings", "json")
    assert read_object({**COMPLETE, **json.loads(text)}).acknowledged


def test_every_example_on_the_page_is_tested() -> None:
    counted = {
        section: len(re.findall(r"^```\w+$", text, re.MULTILINE)) for section, text in SECTIONS.items()
    }
    # The fragments about accounts, which add a header to the other examples, cannot run alone.
    assert counted == {
        "With accounts": 0, "curl": 4, "Ansible": 2, "Zowe": 1, "A CI job that fails on new warnings": 3,
    }  # fmt: skip
