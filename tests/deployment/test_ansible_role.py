"""The role cfplan_structures against a real cfplan service; a JSON file and stand-ins of IBM's modules replace the sysplex.

The stand-ins accept the parameters and return the values that the documentation of ibm.ibm_zos_core 2.0.0 lists. Nothing here
has been run on a z/OS system.
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
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from app.main import create_app
from app.settings import Settings
from app.sizing.examples import examples
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.running.merge import merge
from tests.deployment.ansible_filters import ROLE, load_filters
from tests.packaging.pins import ROOT
from tests.prepared import prepared, script
from tests.serving import served

HERE = Path(__file__).parent / "ansible"
PLAYBOOK = shutil.which("ansible-playbook", path=str(Path(sys.executable).parent))
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(PLAYBOOK is None, reason="ansible-core is not installed"),
]
SECRET = "cfplan_not-for-any-log"
IMPORTED = ("tests.deployment.ansible_module", "ansible.module_utils.basic", "ansible.module_utils.urls")
"""Imported once by the process from which modules are forked."""
ACTIVE = """\
   CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(0000000A1B2C) PARTITION(0F) CPCID(00)
   CF NAME(CF02) TYPE(003931) MFG(IBM) PLANT(02) SEQUENCE(0000000D3E4F) PARTITION(0F) CPCID(00)
   STRUCTURE NAME(DSNDB0P_LOCK1) SIZE(262144) INITSIZE(131072) PREFLIST(CF02,CF01)
   STRUCTURE NAME(SQ03APPLICATION1) SIZE(524288) INITSIZE(262144) FULLTHRESHOLD(85) PREFLIST(CF01,CF02)
"""


def playbook_of(page: str) -> str:
    """Return the playbook of a page in docs/how-to."""
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    (found,) = re.findall(
        r"^```yaml\n(# (?:define|provision)\.yml\n.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    return str(found)


def document(**changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a plan with all warnings acknowledged."""
    made = {**examples()["complete"].document, "policy": {}, **changes}
    known = [
        {"code": each.code, "structure": each.structure, "reason": "known"}
        for each in evaluate(read_object(made)).findings
        if each.severity == "warning"
    ]
    return {**made, "acknowledged": known}


@dataclass
class Site:
    """A folder with the plan, and the file that is the sysplex."""

    folder: Path

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "sysplex.json").read_text(encoding="utf-8"))
        return found

    def set(self, **changes: Any) -> None:  # noqa: ANN401
        (self.folder / "sysplex.json").write_text(json.dumps({**self.state, **changes}), encoding="utf-8")

    def plan(self, made: dict[str, Any]) -> None:
        (self.folder / "plan.json").write_text(json.dumps(made), encoding="utf-8")

    def variables(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the variables of the role."""
        return {
            "cfplan_structures_token": SECRET,
            "cfplan_structures_document": str(self.folder / "plan.json"),
            "cfplan_structures_plan": "",
            "cfplan_structures_backup_file": "",
            "cfplan_structures_backup_data_set": "",
            "cfplan_structures_policy": NEW,
            "cfplan_structures_replace": False,
            "cfplan_structures_activate": "",
            "cfplan_structures_reallocate": False,
            "cfplan_structures_accept_unknown_times": False,
            "cfplan_structures_job_card": ["//CFRMPOL  JOB (ACCT),'CFRM POLICY',CLASS=A,MSGCLASS=H,", "//             NOTIFY=&SYSUID"],
            "cfplan_structures_rebuild_check_seconds": 0,
            "cfplan_structures_accepted_findings": ["POLICY_REMARK_SWALLOWS"],
            **changes,
        }  # fmt: skip


def make_site(folder: Path) -> Site:
    folder.mkdir()
    structures = {
        "SQ03APPLICATION1": {"SIZE": "524288", "INITSIZE": "262144"},
        "DSNDB0P_LOCK1": {"SIZE": "262144", "INITSIZE": "131072"},
    }
    state = {
        "active": "PROD01", "started": "11/02/2026 10:00:00", "updated": "11/02/2026 09:15:02",
        "policies": {"OLD": ACTIVE, "PROD01": ACTIVE}, "structures": structures, "jobs": [], "commands": [], "defined": [],
        "data_sets": {}, "exceptions": [], "fails": False, "altered": {},
        "pending_text": " POLICY CHANGE PENDING - CHANGE", "status_text": " STATUS: ALLOCATED",
    }  # fmt: skip
    (folder / "sysplex.json").write_text(json.dumps(state), encoding="utf-8")
    made = Site(folder)
    made.plan(document())
    return made


@dataclass
class Played:
    """The result of a playbook on one host."""

    site: Site
    out: str
    results: list[dict[str, Any]]

    @property
    def failed(self) -> bool:
        return any(each["failed"] for each in self.results)

    @property
    def changed(self) -> int:
        return sum(each["changed"] for each in self.results)

    @property
    def text(self) -> str:
        return " ".join(" ".join(each["text"] for each in self.results).split())

    @property
    def state(self) -> dict[str, Any]:
        return self.site.state


class Service(NamedTuple):
    """The service that the role asks, a folder for the modules that Ansible has packed, and the Python that runs them."""

    url: str
    packed: Path
    interpreter: Path


def play(
    folder: Path, service: Service, cases: dict[str, tuple[Site, dict[str, Any]]], *arguments: str
) -> dict[str, Played]:
    """Play the documented playbook once, with a host for each case; return the result of each.

    One run of Ansible for all costs less than one for each case. A variable that wins over those in the playbook takes
    the value of the host.
    """
    folder.mkdir(exist_ok=True)
    given = {name: site.variables(**changes) for name, (site, changes) in cases.items()}
    names = dict.fromkeys(name for each in given.values() for name in each)
    local = {"ansible_connection": "local", "ansible_python_interpreter": str(service.interpreter)}
    hosts = {
        name: {
            **local,
            "case": each,
            "cfplan_test_sysplex": str(cases[name][0].folder / "sysplex.json"),
        }
        for name, each in given.items()
    }
    extra = {"cfplan_structures_url": service.url, **{name: f"{{{{ case.{name} }}}}" for name in names}}
    (folder / "play.yml").write_text(playbook_of("ansible.md"), encoding="utf-8")
    (folder / "variables.json").write_text(json.dumps(extra), encoding="utf-8")
    # Modules run on localhost; otherwise Ansible would start them with its own Python.
    inventory = {"all": {"hosts": {"localhost": local}, "children": {"zos": {"hosts": hosts}}}}
    (folder / "hosts.json").write_text(json.dumps(inventory), encoding="utf-8")
    # By default, Ansible checks a thousand times a second whether a task has ended.
    (folder / "ansible.cfg").write_text("[defaults]\ninternal_poll_interval = 0.02\n", encoding="utf-8")
    (folder / "results.jsonl").write_text("", encoding="utf-8")
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(folder), "LC_ALL": "C.UTF-8", "no_proxy": "*", "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_ROLES_PATH": str(ROLE.parent), "ANSIBLE_COLLECTIONS_PATH": str(HERE / "collections"),
        "ANSIBLE_PIPELINING": "1", "ANSIBLE_FORKS": "2", "ANSIBLE_HOME": str(folder / "ansible"),
        "ANSIBLE_REMOTE_TMP": str(folder / "remote"), "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml",
        "ANSIBLE_INVENTORY_ENABLED": "yaml", "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callbacks"),
        "ANSIBLE_CALLBACKS_ENABLED": "cfplan_results", "CFPLAN_TEST_RESULTS": str(folder / "results.jsonl"),
        "CFPLAN_TEST_PACKED_MODULES": str(service.packed),
    }  # fmt: skip
    assert PLAYBOOK is not None
    ran = subprocess.run(
        [PLAYBOOK, "-i", "hosts.json", "-e", "@variables.json", *arguments, "play.yml"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    out = ran.stdout + ran.stderr
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {each["host"] for each in lines} == set(cases), out
    assert SECRET not in out + json.dumps(lines)
    found = {
        name: Played(site, out, [each for each in lines if each["host"] == name])
        for name, (site, _) in cases.items()
    }
    assert (ran.returncode != 0) == any(each.failed for each in found.values()), out
    return found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Serve cfplan for all tests: only the main test stores a plan."""
    interpreter = tmp_path_factory.mktemp("interpreter") / "python"
    with (
        prepared(os.environ, *IMPORTED) as modules,
        served(create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))) as url,
    ):
        interpreter.write_text(script(modules.folder, IMPORTED[0]), encoding="utf-8")
        interpreter.chmod(0o700)
        yield Service(url, tmp_path_factory.mktemp("packed"), interpreter)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path / "work")


NEW = "P$#@_2"
ALL = {"cfplan_structures_activate": NEW, "cfplan_structures_reallocate": True}
STORED = {**ALL, "cfplan_structures_plan": "SQ03"}


STATE = ("policies", "active", "structures", "defined", "data_sets")
"""The parts of the state that only a change alters."""


def setxcf(state: dict[str, Any]) -> list[str]:
    return [command for command in state["commands"] if command.startswith("SETXCF")]


def test_second_run_changes_nothing(site: Site, service: Service, tmp_path: Path) -> None:
    """One role, three runs: define, then activate and reallocate, then nothing."""

    def run(*arguments: str, **variables: Any) -> Played:  # noqa: ANN401
        played = play(tmp_path / "play", service, {"SYSA": (site, variables)}, *arguments)["SYSA"]
        assert not played.failed, played.out
        return played

    run(
        "-vvv",
        cfplan_structures_backup_file=str(site.folder / "before.txt"),
        cfplan_structures_backup_data_set="SYS1.CFRM.BACKUP",
    )
    state = site.state
    # By default the policy is defined, and neither activated nor reallocated.
    assert (state["active"], state["defined"], setxcf(state)) == ("PROD01", [NEW], [])
    for each in evaluate(read_object(document())).structures:
        assert f"NAME({each.cfrm_name})" in state["policies"][NEW]
        assert str(each.sizes.size_bytes // 1024) in state["policies"][NEW]
    assert "DSNDB0P_LOCK1" in state["policies"][NEW]
    assert state["policies"]["PROD01"] == ACTIVE, "the policy that was active can be started again"
    report = (site.folder / "before.txt").read_text(encoding="utf-8")
    assert "POLICY NAME(PROD01" in report
    assert NEW not in report
    assert state["data_sets"] == {"SYS1.CFRM.BACKUP": report}
    assert len(state["jobs"]) == 3  # the list, the definition, and the list with the new policy

    second = run(**STORED)
    assert second.changed == 3  # the stored plan, the activation, the reallocation
    state = site.state
    assert (state["active"], state["defined"]) == (NEW, [NEW])
    commands = state["commands"]
    assert setxcf(state) == [f"SETXCF START,POLICY,TYPE=CFRM,POLNAME={NEW}", "SETXCF START,REALLOCATE"]
    assert commands.index("D XCF,REALLOCATE,TEST") == commands.index("SETXCF START,REALLOCATE") - 1

    third = run(**STORED)
    assert third.changed == 0
    after = site.state
    assert {key: after[key] for key in STATE} == {key: state[key] for key in STATE}
    assert setxcf(after) == setxcf(state)


def test_check_mode_changes_nothing_and_predicts_the_change(
    site: Site, service: Service, tmp_path: Path
) -> None:
    before = site.state
    variables = {**STORED, "cfplan_structures_backup_file": str(site.folder / "before.txt")}
    played = play(tmp_path / "play", service, {"SYSA": (site, variables)}, "--check")["SYSA"]
    assert not played.failed, played.out
    assert played.changed == 2
    assert f"{NEW} would be defined" in played.text
    assert f"{NEW} would be activated instead of PROD01" in played.text
    assert re.search(
        r"\+ +(?:STRUCTURE NAME\(SQ03APPLICATION1\) )?SIZE\(838656\)|\+.*SIZE\(838656\)", played.out
    )
    after = site.state
    assert {key: after[key] for key in STATE} == {key: before[key] for key in STATE}
    assert setxcf(after) == []
    assert not (site.folder / "before.txt").exists()


# ---- cases that stop -------------------------------------------------------------------------------------------------


def refused_plan() -> dict[str, Any]:
    made = document()
    return {**made, "acknowledged": [], "structures": [{**made["structures"][0], "recover": False}]}


def changed_since() -> dict[str, str]:
    """Return the policies after an earlier run, with a value in the new one that the plan does not state."""
    earlier = merge(
        f" DEFINE POLICY NAME(PROD01)\n{ACTIVE}", evaluate(read_object(document()))
    ).policy.partition("\n")[2]
    own = "STRUCTURE NAME(SQ03APPLICATION1)"
    assert earlier.count(own) == 1
    return {"OLD": ACTIVE, "PROD01": ACTIVE, NEW: earlier.replace(own, f"{own} REBUILDPERCENT(9)")}


OTHER_POLICIES = {"OLD": ACTIVE, "PROD01": ACTIVE, NEW: ACTIVE}
UNKNOWN_WORDING = " NEW SIZES WAIT FOR A REBUILD"
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another_policy_of_the_name": ({"policies": OTHER_POLICIES}, ALL),
    "policy_that_was_changed": ({"policies": changed_since()}, ALL),
    "policy_that_is_replaced": (
        {"policies": changed_since(), "pending_text": UNKNOWN_WORDING},
        {**ALL, "cfplan_structures_replace": True, "cfplan_structures_backup_data_set": "SYS1.CFRM.BACKUP"},
    ),
    "refused_plan": ({}, ALL),
    "error_in_the_active_policy": ({"policies": {"PROD01": ACTIVE.replace("INITSIZE(131072)", "INITSIZE(999999)")}}, ALL),
    "failed_job": ({"fails": True}, ALL),
    "unknown_wording": ({"pending_text": UNKNOWN_WORDING}, ALL),
    "unknown_display": ({"status_text": " IN USE", "updated": "yesterday"}, {**ALL, "cfplan_structures_accept_unknown_times": True}),
    "unreadable_times": ({"updated": "yesterday"}, ALL),
    "exceptions": ({"exceptions": ["SQ03APPLICATION1"]}, ALL),
    "other_name_to_activate": ({}, {"cfplan_structures_activate": "PROD03"}),
    "active_name": ({}, {"cfplan_structures_policy": "PROD01"}),
    "name_of_national_characters": ({}, {"cfplan_structures_policy": "$PROD"}),
    "altered_size": ({"altered": {"SIZE(838656)": "SIZE(838912)"}}, ALL),
    "lost_keyword_of_another_product": ({"altered": {"INITSIZE(131072)": ""}}, ALL),
}  # fmt: skip


@pytest.fixture(scope="module")
def stopped(service: Service, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    """Return the results of all cases, from one run."""
    folder = tmp_path_factory.mktemp("cases")
    sites = {name: make_site(folder / name) for name in CASES}
    for name, (changes, _) in CASES.items():
        sites[name].set(**changes)
    sites["refused_plan"].plan(refused_plan())
    found = play(folder / "play", service, {name: (sites[name], CASES[name][1]) for name in CASES})
    assert [name for name, each in found.items() if not each.failed] == []
    return found


def test_policy_of_the_new_name_with_other_statements_is_kept(stopped: dict[str, Played]) -> None:
    case = stopped["another_policy_of_the_name"]
    assert f"There is a policy {NEW} with other statements" in case.text
    assert (case.state["defined"], setxcf(case.state)) == ([], [])


def test_changed_value_of_a_defined_policy_is_named_and_replaced_only_on_request(
    stopped: dict[str, Played],
) -> None:
    case = stopped["policy_that_was_changed"]
    assert f"There is a policy {NEW} with other statements: STRUCTURE SQ03APPLICATION1 has REBUILDPERCENT(9) instead of nothing." in case.text  # fmt: skip
    assert (case.state["defined"], setxcf(case.state)) == ([], [])
    replaced = stopped["policy_that_is_replaced"].state
    assert (replaced["active"], replaced["defined"]) == (NEW, [NEW])
    assert "REBUILDPERCENT" not in replaced["policies"][NEW]
    assert "REBUILDPERCENT(9)" in replaced["data_sets"]["SYS1.CFRM.BACKUP"]


def test_refused_plan_stops_before_anything_is_sent_to_zos(stopped: dict[str, Played]) -> None:
    case = stopped["refused_plan"]
    assert "PERSISTENT_NEEDS_RECOVER" in case.text
    assert (case.state["commands"], case.state["jobs"]) == ([], [])


def test_error_in_the_active_policy_stops_before_the_merge(stopped: dict[str, Played]) -> None:
    case = stopped["error_in_the_active_policy"]
    assert "Policy PROD01 has errors" in case.text
    assert "DSNDB0P_LOCK1" in case.text
    assert case.state["defined"] == []


def test_failed_job_stops_before_the_activation(stopped: dict[str, Played]) -> None:
    case = stopped["failed_job"]
    assert "did not end with return code 0: CC 0012" in case.text
    assert "THE COUPLE DATA SET IS NOT AVAILABLE" in case.text
    assert setxcf(case.state) == []


@pytest.mark.parametrize(
    ("name", "difference"),
    [
        ("altered_size", "STRUCTURE SQ03APPLICATION1 has SIZE(838912K) instead of SIZE(838656K)"),
        ("lost_keyword_of_another_product", "STRUCTURE DSNDB0P_LOCK1 has nothing instead of INITSIZE(131072K)"),
    ],
)  # fmt: skip
def test_policy_that_is_read_back_with_another_value_is_not_activated(
    stopped: dict[str, Played], name: str, difference: str
) -> None:
    case = stopped[name]
    assert (
        f"Policy {NEW} was read back, and is not as it was defined: {difference}. It was not activated."
        in case.text
    )
    assert (case.state["defined"], setxcf(case.state)) == ([NEW], [])


def test_unknown_wording_of_a_pending_change_stops_before_reallocate(stopped: dict[str, Played]) -> None:
    case = stopped["unknown_wording"]
    assert "It is not known whether a policy change is pending for SQ03APPLICATION1" in case.text
    assert f"Policy {NEW} is active. REALLOCATE was not issued." in case.text
    assert setxcf(case.state) == [f"SETXCF START,POLICY,TYPE=CFRM,POLNAME={NEW}"]


def test_display_of_unknown_form_stops_before_the_activation(stopped: dict[str, Played]) -> None:
    """The variable accepts unknown times, and nothing else."""
    case = stopped["unknown_display"]
    assert "does not know the form of D XCF,STR for SQ03APPLICATION1" in case.text
    assert "The policy was not activated." in case.text
    assert (case.state["defined"], setxcf(case.state)) == ([NEW], [])


def test_unreadable_times_of_the_active_policy_stop_before_the_job(stopped: dict[str, Played]) -> None:
    case = stopped["unreadable_times"]
    assert "has no STARTED and LAST UPDATED that the role can read" in case.text
    assert (case.state["jobs"], setxcf(case.state)) == ([], [])


def test_exceptions_of_the_test_stop_before_reallocate(stopped: dict[str, Played]) -> None:
    case = stopped["exceptions"]
    assert "D XCF,REALLOCATE,TEST reports errors or exceptions for SQ03APPLICATION1" in case.text
    assert setxcf(case.state) == [f"SETXCF START,POLICY,TYPE=CFRM,POLNAME={NEW}"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other_name_to_activate", "cfplan_structures_activate must be empty or repeat it"),
        ("name_of_national_characters", "1 to 8 characters A-Z 0-9 $ # @ _, starting with a letter"),
    ],
)
def test_unusable_names_are_refused_before_anything_is_sent(
    stopped: dict[str, Played], name: str, message: str
) -> None:
    assert message in stopped[name].text
    assert stopped[name].state["commands"] == []


def test_active_policy_is_never_redefined(stopped: dict[str, Played]) -> None:
    case = stopped["active_name"]
    assert "PROD01 is the active policy" in case.text
    assert case.state["defined"] == []


# ---- variables and filters -----------------------------------------------------------------------------------------


def test_every_variable_is_described_and_has_the_described_default() -> None:
    yaml = YAML(typ="safe")
    options = yaml.load((ROLE / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"][
        "options"
    ]
    defaults = yaml.load((ROLE / "defaults" / "main.yml").read_text())
    assert {name: each["default"] for name, each in options.items() if "default" in each} == defaults
    assert all(each["description"] for each in options.values())
    assert [name for name, each in options.items() if each.get("no_log")] == ["cfplan_structures_token"]
    used = set(
        re.findall(
            r"\bcfplan_structures_[a-z]\w*", "".join(path.read_text() for path in (ROLE / "tasks").iterdir())
        )
    )
    assert used == set(options)
    page = (ROOT / "docs" / "how-to" / "ansible.md").read_text(encoding="utf-8")
    table = set(re.findall(r"^\| `(cfplan_structures_\w+)`", page, re.MULTILINE))
    assert table == set(options)


@pytest.fixture
def filters() -> ModuleType:
    return load_filters()


def test_documented_playbooks_set_only_variables_of_the_role() -> None:
    yaml = YAML(typ="safe")
    options = yaml.load((ROLE / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"][
        "options"
    ]
    required = {name for name, each in options.items() if each.get("required")}
    for page in ("ansible.md", "provisioning.md"):
        (play,) = yaml.load(playbook_of(page))
        (role,) = play["roles"]
        assert role["role"] == ROLE.name
        assert required <= set(role["vars"]) <= set(options)
        # The defaults are safe, and the examples keep them.
        assert not {"cfplan_structures_activate", "cfplan_structures_reallocate"} & set(role["vars"])


def test_report_is_divided_into_policies_without_comments(filters: ModuleType) -> None:
    long = "/* " + "x" * 100
    report = [
        "1ADMINISTRATIVE DATA UTILITY", "+____", " DATA TYPE(CFRM) REPORT(YES)", f"0DEFINE POLICY NAME(A       ) {long}", " y */",
        "   CF NAME(CF01) TYPE(003931)", "1ADMINISTRATIVE DATA UTILITY", "-STRUCTURE NAME(S1) SIZE(1)", " DEFINE POLICY NAME(B$#@)",
        "   STRUCTURE NAME(S2) SIZE(2)", " IXC292I DONE",
    ]  # fmt: skip
    found = filters.policies(report)
    assert list(found) == ["A", "B$#@"]
    assert found["A"].splitlines()[1:] == ["   CF NAME(CF01) TYPE(003931)", " STRUCTURE NAME(S1) SIZE(1)"]
    assert filters.renamed(found["B$#@"], "C", True) == (
        " DEFINE POLICY NAME(C) REPLACE(YES)\n   STRUCTURE NAME(S2) SIZE(2)\n"
    )
    with pytest.raises(ValueError, match="twice"):
        filters.policies([*report, *report])


def test_new_policy_has_no_line_that_ixcmiapu_would_cut(filters: ModuleType) -> None:
    with pytest.raises(ValueError, match="Line 2 of the policy has 8"):
        filters.renamed(f" DEFINE POLICY NAME(A)\n{' ' * 70}SIZE(123456)\n", "B", False)
    with pytest.raises(ValueError, match="0 statements DEFINE POLICY"):
        filters.renamed(" STRUCTURE NAME(S)\n", "B", False)
    with pytest.raises(ValueError, match="statement about another policy"):
        filters.renamed(" DEFINE POLICY NAME(A)\n CF NAME(C1)\n DELETE POLICY NAME(C)\n", "B", False)


def test_values_are_compared_in_one_notation(filters: ModuleType) -> None:
    defined = " CF NAME(C1) PARTITION(0F)\n STRUCTURE NAME(A) SIZE(1G) INITSIZE(512M)\n  PREFLIST(C1,\n C2) DUPLEX(ENABLED)\n"
    same = " STRUCTURE NAME( A ) INITSIZE(524288)\n SIZE(1048576) PREFLIST(C1,C2) DUPLEX(ENABLED) /* x */ FULLTHRESHOLD(080)\n CF NAME(C1) PARTITION(F)\n"
    assert filters.policy_differences(defined, same) == []
    assert filters.policy_differences(defined, same.replace("ENABLED", "ALLOWED").replace("080", "85")) == [
        "STRUCTURE A has DUPLEX(ALLOWED) instead of DUPLEX(ENABLED)",
        "STRUCTURE A has FULLTHRESHOLD(85) instead of nothing",
    ]
    assert filters.policy_differences(
        defined, " CF NAME(C1) PARTITION(0F)\n STRUCTURE NAME(B) SIZE(1)\n"
    ) == [
        "STRUCTURE A is missing",
        "STRUCTURE B was not defined",
    ]
    # Names in a list have commas or blanks between them.
    assert (
        filters.policy_differences(
            " STRUCTURE NAME(A) PREFLIST(C1 C2)\n", " STRUCTURE NAME(A) PREFLIST(C1, C2) REBUILDPERCENT(1)\n"
        )
        == []
    )
    # A report may state INITSIZE where the input did not.
    assert (
        filters.policy_differences(
            " STRUCTURE NAME(A) SIZE(1M)\n", " STRUCTURE NAME(A) SIZE(1024) INITSIZE(1024)\n"
        )
        == []
    )
    with pytest.raises(ValueError, match="has STRUCTURE A twice"):
        filters.policy_differences(defined, same + same)


def test_active_policy_that_changed_after_its_start_is_reported(filters: ModuleType) -> None:
    lines = ["POLNAME:  PROD01", "STARTED:  11/02/2026 10:00:00", "LAST UPDATED: 11/02/2026 09:15:02"]
    assert filters.active_policy(lines) == {"name": "PROD01", "changed_after_start": False}
    lines[2] = "LAST UPDATED: 11/03/2026 08:00:00"
    assert filters.active_policy(lines)["changed_after_start"] is True
    lines[2] = "LAST UPDATED: 2026-11-03 08.00"
    assert filters.active_policy(lines)["changed_after_start"] is None
    assert filters.active_policy(lines[:1])["changed_after_start"] is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("STRNAME: A\n STATUS: ALLOCATED\n", "no"),
        ("STRNAME: A\n STATUS: NOT ALLOCATED\n", "no"),
        ("STRNAME: A\n STATUS: ALLOCATED\n POLICY CHANGE PENDING - CHANGE\n", "yes"),
        ("STRNAME: A\n PENDING POLICY INFORMATION:\n", "yes"),
        ("STRNAME: A\n STATUS: ALLOCATED\n CHANGE IS PENDING\n", "unknown"),
        ("STRNAME: A\n IN USE\n", "unknown"),
        ("STRNAME: B\n STATUS: ALLOCATED\n", "unknown"),
        ("", "unknown"),
    ],
)
def test_pending_change_in_a_display_without_known_lines_is_unknown(
    filters: ModuleType, text: str, answer: str
) -> None:
    assert filters.pending_change(text, "A") == answer


def test_resized_structure_without_a_pending_change_is_unknown(filters: ModuleType) -> None:
    displays = [
        {"item": "A", "stdout": "STRNAME: A STATUS: ALLOCATED"},
        {"item": "B", "stdout": "STRNAME: B STATUS: NOT ALLOCATED"},
        {"item": "C", "stdout": "STRNAME: C STATUS: ALLOCATED POLICY CHANGE PENDING"},
    ]
    assert filters.pending_changes(displays) == {"yes": ["C"], "no": ["A", "B"], "unknown": []}
    assert filters.pending_changes(displays, ["A", "B", "C"]) == {"yes": ["C"], "no": ["B"], "unknown": ["A"]}


def test_active_policy_that_is_not_named_is_an_error(filters: ModuleType) -> None:
    with pytest.raises(ValueError, match="names no active policy: IXC364I"):
        filters.active_policy(["IXC364I 10.18.07 DISPLAY XCF", "NO POLICY"])


def test_dollar_signs_in_commands_are_escaped(filters: ModuleType) -> None:
    assert filters.operator_command("SETXCF START,POLICY,POLNAME=A$B") == "SETXCF START,POLICY,POLNAME=A\\$B"


def test_exceptions_of_the_test_are_found_by_number_and_by_name(filters: ModuleType) -> None:
    head = [
        "REALLOCATE TEST RESULTED IN THE FOLLOWING:",
        "  2 STRUCTURE(S) WITH AN ERROR/EXCEPTION CONDITION",
    ]
    named = [*head, "STRNAME: A", "STRNAME: B", "1 STRUCTURE(S) WITH A WARNING CONDITION", "STRNAME: C"]
    assert filters.reallocate_test(named) == {"is_report": True, "exceptions": ["A", "B"]}
    assert filters.reallocate_test(head)["exceptions"] == ["2 structures that the report does not name"]
    assert filters.reallocate_test(head[:1])["is_report"] is False
    # Without a number and without names, nothing shows that there are no exceptions.
    unnumbered = [each.replace("2 STRUCTURE(S)", "STRUCTURE(S)") for each in head]
    assert filters.reallocate_test(unnumbered)["is_report"] is False
