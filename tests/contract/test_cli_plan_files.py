"""`cfplan plan FILE`: supported files, and messages on files that are not plans."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.contract.support import (
    HARDWARE,
    OUTPUTS,
    CommandResult,
    assert_findings,
    assert_refused,
    assert_sentence,
    block_yaml,
    plan,
    run,
    sample_document,
    severities,
)


def text_file(folder: Path, content: str | bytes, name: str = "plan.yaml") -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def given(
    folder: Path, content: str | bytes, name: str = "plan.yaml", output: str = "policy"
) -> CommandResult:
    return run("plan", text_file(folder, content, name), "--output", output)


# ---- what it reads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["policy", "mqsc", "setxcf", "runbook", "workflow", "json"])
@pytest.mark.parametrize("name", ["plan.json", "plan.yaml", "plan.yml", "plan"])
def test_json_document_is_read_under_any_file_name(tmp_path: Path, name: str, output: str) -> None:
    # JSON is YAML too.
    ran = given(tmp_path, json.dumps(sample_document()), name, output)

    assert ran.code == 0, ran
    assert ran.out.strip()


def test_yaml_document_gives_the_same_output_as_json(tmp_path: Path) -> None:
    lines = [
        "schema_version: 1",
        "qsg: SQ03",
        "queue_managers: 2   # defined, not only active",
        "cfcc_level: 25",
        "coupling_facilities:",
        "  - {name: CF01, size: 64G, cfcc_level: 25, site: SITE1, failure_isolated: true}",
        "structures:",
        "  - name: MYDATA",
        "    recover: true",
        "    preflist: [CF01]",
        "    offload: {to: SMDS, dsgroup: 'MQ.SMDS.*.APP1'}",
        "    queues:",
        "      - {name: PAYMENTS.IN, message_bytes: 1024, backlog: 20000, persistent: true}",
    ]
    document = {
        "schema_version": 1,
        "qsg": "SQ03",
        "queue_managers": 2,
        "cfcc_level": 25,
        "coupling_facilities": [
            {"name": "CF01", "size": "64G", "cfcc_level": 25, "site": "SITE1", "failure_isolated": True}
        ],
        "structures": [
            {
                "name": "MYDATA",
                "recover": True,
                "preflist": ["CF01"],
                "offload": {"to": "SMDS", "dsgroup": "MQ.SMDS.*.APP1"},
                "queues": [
                    {"name": "PAYMENTS.IN", "message_bytes": 1024, "backlog": 20000, "persistent": True}
                ],
            }
        ],
    }

    from_yaml = given(tmp_path, "\n".join(lines) + "\n")
    from_json = plan(document, tmp_path, "--output", "policy")

    assert from_yaml.code == 0, from_yaml
    assert from_yaml.out == from_json.out


def test_json_output_has_findings_with_a_source(tmp_path: Path) -> None:
    ran = plan(sample_document(), tmp_path, "--output", "json")

    assert_findings(ran.answer)
    assert ran.code == (1 if "error" in severities(ran.answer) else 0)


@pytest.mark.parametrize("output", [*OUTPUTS, "json"])
def test_same_document_gives_the_same_bytes(tmp_path: Path, output: str) -> None:
    document = sample_document()
    document["policy"] = {"name": "POLICY1", "job": True}
    for facility in document["coupling_facilities"]:
        facility.update(HARDWARE)

    first, second = plan(document, tmp_path, "--output", output), plan(document, tmp_path, "--output", output)

    assert first.code == 0, first
    assert first.out == second.out


def test_output_does_not_depend_on_the_order_of_keys(tmp_path: Path) -> None:
    document = sample_document()
    turned = dict(reversed(document.items()))

    assert (
        plan(document, tmp_path, "--output", "policy").out == plan(turned, tmp_path, "--output", "policy").out
    )


def test_fail_on_warning_exits_with_1_if_there_is_a_warning(tmp_path: Path) -> None:
    document = (
        sample_document()
    )  # persistent and nonpersistent queues on one structure: IBM advises against it
    plain = plan(document, tmp_path, "--output", "json")
    strict = plan(document, tmp_path, "--output", "json", "--fail-on", "warning")

    assert "error" not in severities(plain.answer)
    assert plain.code == 0
    assert strict.code == (1 if "warning" in severities(plain.answer) else 0)
    assert strict.answer == plain.answer


def test_initsize_too_small_for_the_backlog_fails_with_fail_on_warning(tmp_path: Path) -> None:
    document = sample_document()
    document["structures"][0].update(initsize="32M", size="64M")
    plain = plan(document, tmp_path, "--output", "json")
    strict = plan(document, tmp_path, "--output", "json", "--fail-on", "warning")

    assert severities(plain.answer) & {"warning", "error"}
    assert strict.code == 1


# ---- what it refuses ---------------------------------------------------------------------------------------------


def test_missing_file_is_reported_by_name(tmp_path: Path) -> None:
    ran = run("plan", tmp_path / "nowhere.yaml", "--output", "policy")

    assert_refused(ran)
    assert "nowhere.yaml" in ran.err


@pytest.mark.parametrize("name", [".", "", "\x00", "a\x00b", "x" * 5000, "-", "/dev/null"], ids=ascii)
def test_path_that_is_not_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.chdir(tmp_path)
    ran = run("plan", name, "--output", "policy")

    assert ran.code == 2, ran
    assert ran.out == ""
    assert ran.err.strip()


def test_directory_is_refused(tmp_path: Path) -> None:
    assert_refused(run("plan", tmp_path, "--output", "policy"))


def test_symbolic_link_to_itself_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)

    assert_refused(run("plan", loop, "--output", "policy"))


@pytest.mark.parametrize("name", ["plan.yaml", "plan.json"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n\n",
        b"# only a comment\n",
        b"---\n",
        b"null\n",
        b"5\n",
        b"text\n",
        b"[]\n",
        b"[1, 2]\n",
        b"{}\n",
        b"{\n",
        b"\xff\xfe\x00\x01",
        b"\x80\x81\x82\x83",
        b'{"qsg": "\xc3\x28"}',
        bytes(range(256)) * 8,
        b"\x7fELF\x02\x01\x01" + b"\x00" * 500,
        b"\x00" * 4096,
        b"qsg: SQ03\n\tqueue_managers: 5\n",
        b"qsg: [SQ03\n",
        b"'",
        b"--- {qsg: SQ03}\n--- {qsg: SQ04}\n",
        b"!!python/object/apply:os.system ['true']\n",
        b"{qsg: !!binary 'U1EwMw==', structures: !!set {a, b}}\n",
        b"? {a: 1}\n: 2\n",
        b"? [a, b]\n: 2\n",
        b"<<: 5\n",
        b"%YAML 9.9\n---\nqsg: SQ03\n",
        b"{1: 2, null: 3, true: 4, 1.5: 5}\n",
    ],
    ids=lambda content: ascii(content[:24]),
)
def test_file_that_is_not_a_plan_is_refused_with_a_message(tmp_path: Path, content: bytes, name: str) -> None:
    assert_refused(given(tmp_path, content, name))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "cp037"])
def test_document_in_another_encoding_is_read_or_refused(tmp_path: Path, encoding: str) -> None:
    ran = given(tmp_path, json.dumps(sample_document()).encode(encoding), "plan.json")

    if ran.code != 0:
        assert_refused(ran)


@pytest.mark.parametrize(
    "content",
    [
        '{"schema_version": 1, "qsg": "SQ03", "qsg": "SQ04", "structures": []}',
        json.dumps(sample_document()).replace('"qsg": "SQ03"', '"qsg": "SQ03", "qsg": "SQ04"'),
        json.dumps(sample_document()).replace('"backlog": 200000', '"backlog": 200000, "backlog": 2'),
        json.dumps(sample_document()).replace('"cflevel": 5', '"cflevel": 5, "cflevel": 4'),
    ],
    ids=["short", "top", "queue", "structure"],
)
@pytest.mark.parametrize("name", ["plan.json", "plan.yaml"])
def test_duplicate_key_is_refused(tmp_path: Path, content: str, name: str) -> None:
    assert_refused(given(tmp_path, content, name))


@pytest.mark.parametrize(
    ("once", "twice"),
    [
        ("headroom_percent: 10\n", "headroom_percent: 10\nheadroom_percent: 20\n"),
        ('"cflevel": 5', '"cflevel": 5, "cflevel": 4'),
        ('"years": 0', '"years": 0, years: 1'),
    ],
)
def test_duplicate_key_in_yaml_is_refused(tmp_path: Path, once: str, twice: str) -> None:
    content = block_yaml(sample_document())
    assert given(tmp_path, content).code == 0
    assert once in content

    assert_refused(given(tmp_path, content.replace(once, twice, 1)))


def test_yaml_in_flow_style_is_read(tmp_path: Path) -> None:
    document = sample_document()
    flow = "{" + ", ".join(f"{key}: {json.dumps(value)}" for key, value in document.items()) + "}\n"
    ran = given(tmp_path, flow, "plan.yaml")

    assert ran.code == 0, ran
    assert ran.out == plan(document, tmp_path, "--output", "policy").out


def test_yaml_bomb_is_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    for level in range(1, 12):
        again = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{again}]")
    lines += ["qsg: SQ03", "structures: *a11"]

    assert_refused(given(tmp_path, "\n".join(lines)))


def test_yaml_bomb_inside_a_known_key_is_refused(tmp_path: Path) -> None:
    nested = "&b0 [SQ03, SQ03, SQ03, SQ03, SQ03, SQ03, SQ03, SQ03]"
    lines = [f"qsg: SQ03\nqueue_managers: 5\npolicy:\n  name: {nested}"]
    lines += [f"x{level}: &b{level} [" + ", ".join([f"*b{level - 1}"] * 8) + "]" for level in range(1, 10)]
    lines.append("structures: *b9")

    assert_refused(given(tmp_path, "\n".join(lines)))


def test_yaml_alias_to_its_own_parent_is_refused(tmp_path: Path) -> None:
    assert_refused(given(tmp_path, "qsg: SQ03\nstructures: &loop\n  - *loop\n"))
    assert_refused(given(tmp_path, "&loop\nqsg: SQ03\ngrowth: *loop\n"))


def test_yaml_anchors_and_aliases_are_resolved_or_refused(tmp_path: Path) -> None:
    document = block_yaml(sample_document())
    aliased = document.replace('["CF01", "CF02"]', "&both [CF01, CF02]", 1) + "growth: &none {years: 0}\n"
    aliased = aliased.replace('growth: {"percent_per_year": 0, "years": 0}\n', "", 1)
    ran = given(tmp_path, aliased)

    if ran.code == 0:
        assert ran.out == given(tmp_path, document).out
    else:
        assert_refused(ran)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plan.json", "[" * 100_000),
        ("plan.json", "[" * 100_000 + "]" * 100_000),
        ("plan.json", '{"qsg":' * 20_000 + "1" + "}" * 20_000),
        ("plan.yaml", "[" * 5_000 + "]" * 5_000),
        ("plan.yaml", "{a: " * 3_000 + "1" + "}" * 3_000),
        ("plan.yaml", "- " * 3_000 + "1"),
        ("plan.json", '{"growth": ' + "[" * 500 + "]" * 500 + "}"),
    ],
    ids=["open", "lists", "objects", "yaml-lists", "yaml-maps", "yaml-dashes", "in-a-field"],
)
def test_deep_nesting_is_refused_with_a_message(tmp_path: Path, name: str, content: str) -> None:
    assert_refused(given(tmp_path, content, name))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize(
    "key",
    [
        '"percent_per_year": 0',
        '"headroom_percent": 10',
        '"size_factor": 1.5',
        '"backlog": 200000',
        '"mean": 3500',
    ],
)
def test_number_that_is_not_finite_is_refused(tmp_path: Path, key: str, number: str) -> None:
    document = json.dumps(sample_document())
    assert key in document
    content = document.replace(key, key.split(":")[0] + ": " + number, 1)

    assert_refused(given(tmp_path, content, "plan.json"))


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", ".NaN"])
def test_yaml_number_that_is_not_finite_is_refused(tmp_path: Path, number: str) -> None:
    content = block_yaml(sample_document()).replace("headroom_percent: 10", f"headroom_percent: {number}")
    assert number in content

    assert_refused(given(tmp_path, content))


@pytest.mark.parametrize("name", ["plan.json", "plan.yaml"])
@pytest.mark.parametrize("digits", [25, 400, 5_000, 200_000])
@pytest.mark.parametrize(
    "key",
    ['"backlog": 200000', '"queue_managers": 5', '"message_bytes": 1024', '"dsbufs": 100', '"years": 0'],
)
def test_huge_number_is_refused(tmp_path: Path, key: str, digits: int, name: str) -> None:
    content = json.dumps(sample_document()).replace(key, key.split(":")[0] + ": " + "9" * digits, 1)

    ran = given(tmp_path, content, name)

    assert ran.code in {1, 2}, ran.err[:500]
    assert ran.out == ""
    assert_sentence(ran.err)
    assert len(ran.err) < 5_000, "the sentence repeats the whole number"


@pytest.mark.parametrize(
    "yaml",
    [
        "qsg: no",  # YAML 1.1 reads a boolean
        "qsg: 0103",  # and an octal number
        "qsg: 2026-11-21",  # and a date
        "qsg: ~",
        "structures: {}",
        "structures: text",
        "queue_managers: five",
        "unknown_key: 1",
        "schema_version: 2",
        "schema_version: 0",
        "schema_version: '1'",
        "cfcc_level: 'twenty-five'",
        "system: true",
        "growth: 5",
    ],
)
def test_field_with_a_wrong_type_or_unknown_key_is_reported(tmp_path: Path, yaml: str) -> None:
    key = yaml.split(":")[0]
    document = sample_document()
    document.pop(key, None)
    ran = given(tmp_path, block_yaml(document) + yaml + "\n")

    assert_refused(ran)
    assert key in ran.err


@pytest.mark.parametrize("more", [(), ("--output",), ("--output", "poem"), ("--output", "policy", "surplus")])
def test_invalid_arguments_are_refused(tmp_path: Path, more: tuple[str, ...]) -> None:
    ran = run("plan", *more)

    assert ran.code == 2
    assert ran.err.strip()
    if more:
        file = text_file(tmp_path, json.dumps(sample_document()))
        ran = run("plan", file, *more)
        assert ran.code == 2
        assert ran.err.strip()


def test_plan_with_errors_gives_no_text_output(tmp_path: Path) -> None:
    document = sample_document()
    document["structures"][0]["cflevel"] = 2  # persistent messages need CFLEVEL 3, SMDS needs 5
    document["structures"][0]["recover"] = False

    as_json = plan(document, tmp_path, "--output", "json")
    as_policy = plan(document, tmp_path, "--output", "policy")

    assert "error" in severities(as_json.answer)
    assert as_json.code == 1
    assert as_policy.code == 1
    assert as_policy.out == ""
    assert_sentence(as_policy.err)
