"""The z/OSMF workflow: valid by the rules of the schema, in the order of the change, with nothing taken for a variable."""

from __future__ import annotations

import copy
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

import pytest
from hypothesis import given, settings

from planner_core.document.reading import read_object
from planner_core.errors import OutputRefused
from planner_core.plan.evaluate import evaluate
from planner_core.texts.outputs import render_output
from planner_core.texts.zosmf import workflow as module
from tests.planner_core.plans import job_plan, policy_documents, varied
from tests.planner_core.running.policies import keywords_of, read_structures
from tests.planner_core.texts.workflow_schema import MOST_PREREQUISITES, problems


def text_of(document: dict[str, Any], kind: str = "workflow") -> str:
    return render_output(kind, evaluate(read_object(document))).text


def parsed(text: str) -> Element:
    return fromstring(text)  # noqa: S314 - the text of this test


def tree(document: dict[str, Any]) -> Element:
    return parsed(text_of(document))


def steps(root: Element) -> list[Element]:
    """Return the steps that are performed, in order."""
    return [step for step in root.iter("step") if step.find("step") is None]


def complete() -> dict[str, Any]:
    return job_plan()


def words(step: Element) -> str:
    return "".join(step.itertext())


def test_steps_follow_the_order_of_a_change() -> None:
    root = tree(complete())
    assert problems(root) == []
    names = [step.attrib["name"] for step in steps(root)]
    structures = [each.cfrm_name for each in evaluate(read_object(complete())).structures]
    rebuilds = [f"rebuild-{number}" for number in range(1, len(structures) + 1)]
    assert names == ["backup", "define", "activate", "test-reallocate", *rebuilds, "verify", "reallocate"]
    requires = [[each.attrib["name"] for each in step.iter("prereqStep")] for step in steps(root)]
    assert requires == [[], *([name] for name in names[:-1])]
    assert [step.attrib["name"] for step in steps(root) if step.attrib["optional"] == "true"] == [
        "reallocate"
    ]
    assert [step.findtext("autoEnable") for step in steps(root)] == ["false"] * len(names)


def test_commands_are_those_of_the_setxcf_output() -> None:
    held = [
        line.removeprefix(" /* ").removesuffix(" */")
        for line in text_of(complete(), "setxcf").splitlines()
        if line.startswith(
            (" /* SETXCF START,POLICY", " /* SETXCF START,REBUILD", " /* SETXCF START,REALLOCATE")
        )
    ]
    issued = [
        line for step in steps(tree(complete())) for pre in step.iter("pre") for line in (pre.text or "").splitlines()
        if line.startswith("SETXCF ")
    ]  # fmt: skip
    assert issued == held


def test_job_defines_the_policy_of_the_job_output() -> None:
    backup, define = (step.findtext("template/inlineTemplate") for step in steps(tree(complete()))[:2])
    assert backup is not None
    assert define is not None
    assert "DEFINE POLICY" not in backup
    for jcl in (backup, define):
        # z/OSMF adds the JOB statement; JCL begins in column 1 directly after the tag.
        assert jcl.startswith("//")
        assert " JOB " not in jcl
        assert max(map(len, jcl.splitlines())) <= 71
    job = text_of(complete(), "job").splitlines()
    start = job.index(" DATA TYPE(CFRM) REPORT(YES)")
    assert define.splitlines()[4:] == job[start:]


def test_plan_without_the_whole_policy_is_merged_by_hand() -> None:
    step = steps(tree(varied()))[1]
    assert step.find("template") is None
    fragment = next(step.iter("pre")).text or ""
    assert fragment == text_of(varied(), "policy")
    assert "cfplan merge" in words(step)
    # Hardware fields alone do not make a policy of other products' structures complete.
    assert steps(tree(job_plan(policy__job=False)))[1].find("template") is None


def test_policy_merged_by_hand_is_activated_under_the_name_that_it_was_given() -> None:
    by_hand = words(steps(tree(job_plan(policy__job=False)))[2])
    assert "POLNAME=policy-name" in by_hand
    assert f"POLNAME={job_plan()['policy']['name']}" not in by_hand
    assert f"POLNAME={job_plan()['policy']['name']}" in words(steps(tree(complete()))[2])


def test_job_that_replaces_a_policy_says_so() -> None:
    assert "REPLACE(YES)" in words(steps(tree(job_plan(policy__replace=True)))[1])
    assert "has REPLACE(YES)" not in words(steps(tree(job_plan(policy__replace=False)))[1])


def test_duplexed_structure_is_not_rebuilt_blindly() -> None:
    duplexed = words(steps(tree(varied(structures__0__duplex="ENABLED")))[5])
    assert "stop duplexing" in duplexed
    assert "stop duplexing" not in words(steps(tree(varied()))[5])


def test_names_with_dollar_and_number_signs_are_not_variables() -> None:
    document = complete()
    document["qsg"] = "Q$#@"
    document["policy"] = {**document["policy"], "name": "A$B#IF"}
    root = tree(document)
    assert problems(root) == []
    text = "".join(root.itertext())
    assert "Q$#@APP1" in text
    carriers = [each for each in root.iter() if each.tag in {"instructions", "inlineTemplate"}]
    assert carriers
    assert {each.attrib["substitution"] for each in carriers} == {"false"}
    assert root.find("variable") is None
    # The policy in the job still reads as planned.
    jcl = steps(root)[1].findtext("template/inlineTemplate") or ""
    assert [keywords_of(each) for each in read_structures(jcl)] == [
        keywords_of(each) for each in read_structures(text_of(document, "policy"))
    ]


def test_plan_with_more_structures_than_steps_has_several_in_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    document = varied()
    first = document["structures"][0]
    document["structures"] = [{**copy.deepcopy(first), "name": f"APP{n}"} for n in range(20)]
    for number, structure in enumerate(document["structures"]):
        structure["offload"] = {"dsgroup": f"MQ.SMDS.*.APP{number}"}
        structure["queues"][0]["name"] = f"Q{number}"
    monkeypatch.setattr(module, "MOST_STEPS", 18)
    root = tree(document)
    assert problems(root) == []
    assert len(list(root.iter("step"))) <= 18
    rebuilt = [line for each in root.iter("pre") if "REBUILD" in (line := each.text or "")]
    assert len(rebuilt) == 22


def test_job_that_is_too_long_for_a_step_is_defined_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TEMPLATE_LINES", 20)
    assert steps(tree(complete()))[1].find("template") is None


@settings(max_examples=50)
@given(policy_documents())
def test_any_plan_gives_a_valid_definition(document: dict[str, Any]) -> None:
    try:
        text = text_of(document)
    except OutputRefused:
        return
    assert text.isascii()
    assert problems(parsed(text)) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<vendor>cfplan</vendor>", "", "workflowInfo has"),
        ("<weight>1</weight>", "<weight>0</weight>", "weight is"),
        ('name="rebuild-1"', 'name="REBUILD$1"', "step name="),
        ('<prereqStep name="backup" />', '<prereqStep name="backups" />', "prereqStep backups"),
        ("<autoEnable>false</autoEnable>", "<autoEnable>0</autoEnable>", "autoEnable is"),
        ("<p>The job lists", "<script>x</script><p>The job lists", "script in instructions"),
        ("<title>Back up the policies</title>", f"<title>{'x' * 101}</title>", "title has 101"),
        ('maxRc="0"', 'maxRc="4096"', "submitAs maxRc="),
        ("<p>The job lists", '<p class="x">The job lists', "attribute of p"),
        (
            '<prereqStep name="backup" />',
            '<prereqStep name="backup" />' * (MOST_PREREQUISITES + 1),
            "step has too many prereqStep",
        ),
    ],
)
def test_rules_find_errors(old: str, new: str, told: str) -> None:
    text = text_of(complete())
    assert old in text
    assert any(each.startswith(told) for each in problems(parsed(text.replace(old, new, 1))))


def test_unescaped_text_would_not_be_well_formed() -> None:
    with pytest.raises(ParseError):
        parsed(text_of(complete()).replace("<pre>D XCF", "<pre>D & XCF", 1))
