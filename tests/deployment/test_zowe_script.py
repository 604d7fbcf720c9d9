"""deploy/zowe/define-policy.sh against a real cfplan service; a program that records its arguments replaces Zowe CLI."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.main import create_app
from app.settings import Settings
from tests.deployment.test_ansible_role import ACTIVE, document
from tests.packaging.pins import ROOT
from tests.planner_core.running.policies import read_structures
from tests.serving import served

SCRIPT = ROOT / "deploy" / "zowe" / "define-policy.sh"
MISSING = [program for program in ("bash", "curl", "jq") if shutil.which(program) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")
POLICY = f"   DEFINE POLICY NAME(PROD01) REPLACE(YES)\n{ACTIVE}".replace(
    " PLANT(02) SEQUENCE", "\n      PLANT(02) SEQUENCE"
).replace(" INITSIZE(262144)", "\n      INITSIZE(262144)").replace(" INITSIZE(131072)", "\n      INITSIZE(131072)")  # fmt: skip
ZOWE = """#!/bin/sh
echo "$*" >> "$RECORD/arguments"
case "$2" in
  submit)
    cp "$4" "$RECORD/job.jcl"
    [ "$RETCODE" != none ] || { echo '{"success": false, "message": "z/OSMF refused the job"}'; exit 1; }
    printf '{"success": true, "data": {"jobid": "JOB00042", "jobname": "CFRMPOL", "retcode": "%s"}}' "$RETCODE" ;;
  view) echo "SPOOL OF $4" ;;
esac
"""


class Desk:
    """A folder with the files that the script needs, and the environment with the stand-in."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        (folder / "zowe").write_text(ZOWE, encoding="utf-8")
        (folder / "zowe").chmod(0o755)
        (folder / "plan.json").write_text(json.dumps(document()), encoding="utf-8")
        (folder / "policy.txt").write_text(POLICY, encoding="utf-8")
        (folder / "card.jcl").write_text(
            "//CFRMPOL  JOB (ACCT),'CFRM',CLASS=A,\n//             MSGCLASS=H\n", encoding="utf-8"
        )
        self.environment = {
            "PATH": os.pathsep.join([str(folder), os.environ["PATH"]]), "CFPLAN": url, "RECORD": str(folder),
            "RETCODE": "CC 0000", "no_proxy": "*", "LC_ALL": "C.UTF-8", "HOME": str(folder),
        }  # fmt: skip

    def run(self, name: str = "PROD02", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(SCRIPT), "plan.json", "policy.txt", name, "card.jcl"],
            cwd=self.folder, env={**self.environment, **environment}, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip

    def read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    folder = tmp_path / "work"
    folder.mkdir()
    with served(create_app(Settings(data_dir=tmp_path / "data"))) as url:
        yield Desk(folder, url)


def test_merged_policy_is_submitted_under_the_new_name_and_its_output_printed(desk: Desk) -> None:
    ran = desk.run("P$#@_2")
    assert ran.returncode == 0, ran.stderr
    assert "SPOOL OF JOB00042" in ran.stdout
    assert "Job JOB00042 defined policy P$#@_2. It is not active." in ran.stdout
    submit, view = desk.read("arguments").splitlines()
    assert submit.startswith("zos-jobs submit local-file ")
    assert submit.endswith("job.jcl --wait-for-output --response-format-json")
    assert view == "zos-jobs view all-spool-content JOB00042"
    job = desk.read("job.jcl")
    lines = job.splitlines()
    assert lines[0].startswith("//CFRMPOL  JOB ")
    assert lines[-1] == "/*"
    assert max(map(len, lines)) <= 71
    assert job.count("DEFINE POLICY") == 1
    assert "DEFINE POLICY NAME(P$#@_2) REPLACE(NO)" in job
    names = {statement.one("NAME") for statement in read_structures(job)}
    assert {"DSNDB0P_LOCK1", "SQ03APPLICATION1", "SQ03MYDATA", "SQ03CSQ_ADMIN"} <= names

    # The policy that the job defined has every value: nothing is submitted for it.
    start = job.index(" DATA TYPE(CFRM)")
    (desk.folder / "policy.txt").write_text(job[start : job.rindex("/*")], encoding="utf-8")
    again = desk.run("PROD03")
    assert again.returncode == 0, again.stderr
    assert "nothing was submitted" in again.stdout
    assert len(desk.read("arguments").splitlines()) == 2


@pytest.mark.parametrize(
    ("retcode", "message"),
    [
        ("CC 0012", "ended with CC 0012: the policy was not defined"),
        ("none", "did not submit the job: z/OSMF refused the job"),
    ],
)
def test_failed_job_fails_the_script(desk: Desk, retcode: str, message: str) -> None:
    ran = desk.run(RETCODE=retcode)
    assert ran.returncode == 1
    assert message in ran.stderr
    assert "defined policy" not in ran.stdout


def refused_plan() -> dict[str, Any]:
    made = document()
    return {**made, "structures": [{**made["structures"][0], "recover": False}]}


@pytest.mark.parametrize(
    ("file", "text", "name", "message"),
    [
        ("plan.json", json.dumps(refused_plan()), "PROD02", "cfplan refused the merge (422)"),
        (
            "policy.txt",
            POLICY.replace("SIZE(262144)", "SIZE(262144", 1),
            "PROD02",
            "cfplan refused the merge (422)",
        ),
        ("policy.txt", "//JOB\n" + POLICY, "PROD02", "contains JCL"),
        ("policy.txt", ACTIVE, "PROD02", "must have one statement DEFINE POLICY"),
        ("policy.txt", POLICY, "PROD01", "PROD01 is the name of the current policy"),
        ("policy.txt", POLICY, "prod2", "is not the name of a policy"),
        (
            "policy.txt",
            POLICY.replace("   STRUCTURE", " " * 56 + "STRUCTURE", 1),
            "PROD02",
            "more than 71 columns",
        ),
        (
            "policy.txt",
            POLICY.replace(" REPLACE(", "\n     REPLACE("),
            "PROD02",
            "must have REPLACE directly after",
        ),
        (
            "policy.txt",
            POLICY.replace(" REPLACE(", " /* OLD */ replace("),
            "PROD02",
            "must have REPLACE directly after",
        ),
        ("policy.txt", POLICY + " DELETE POLICY NAME(PROD00)\n", "PROD02", "such as DELETE POLICY"),
        (
            "policy.txt",
            POLICY.replace("   STRUCTURE", "/* DB2 */\n   STRUCTURE", 1),
            "PROD02",
            "/* in column 1",
        ),
        ("card.jcl", "//* NO CARD\n", "PROD02", "has no JOB statement"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_submitted(
    desk: Desk, file: str, text: str, name: str, message: str
) -> None:
    (desk.folder / file).write_text(text, encoding="utf-8")
    ran = desk.run(name)
    assert ran.returncode == 1, ran.stdout
    assert message in ran.stderr
    assert desk.read("arguments") == ""


def test_wrong_number_of_arguments_shows_the_usage() -> None:
    ran = subprocess.run(["bash", str(SCRIPT)], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 2
    assert "usage: define-policy.sh" in ran.stderr
