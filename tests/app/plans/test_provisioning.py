"""The examples of docs/how-to/provisioning.md, run against a live service; Zowe is a stand-in.

tests/deployment/test_ansible_role.py runs the playbook.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
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
def shell(tmp_path: Path, service: str) -> Shell:
    folder = tmp_path / "work"
    folder.mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    zowe = programs / "zowe"
    zowe.write_text('#!/bin/sh\necho "$@" > zowe.arguments\ncat > zowe.input\n', encoding="utf-8")
    zowe.chmod(0o755)
    environment = {
        "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(tmp_path), "CFPLAN": service, "LC_ALL": "C.UTF-8", "no_proxy": "*",
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
        "With accounts": 0, "curl": 4, "Ansible": 1, "Zowe": 1, "A CI job that fails on new warnings": 3,
    }  # fmt: skip
