"""Invalid values in every field of the plan document are reported at the field, and give no output.

From the service: 422 and a problem document whose errors hold the JSON pointer of the field. From the command line:
exit 2 and a sentence. A value beyond IBM's limits may be well-formed and still impossible: then there are findings
in addition to the errors, and the command line may exit 1.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.contract.support import (
    HARDWARE,
    OUTPUTS,
    Service,
    assert_findings,
    assert_problem,
    assert_sentence,
    plan,
    put,
    queue,
    sample_document,
    severities,
)

pytestmark = pytest.mark.long

STRUCTURE = "/structures/0"
CF = "/coupling_facilities/1"
OFFLOAD = f"{STRUCTURE}/offload"
FIXED = f"{STRUCTURE}/queues/0"
SPREAD = f"{STRUCTURE}/queues/1"


def full_document() -> dict[str, Any]:
    """Return the printed sample with every optional value, so that each field can have an invalid value."""
    document = sample_document()
    document["policy"] = {"name": "POLICY1", "job": True}
    document["admin"]["entsmax"] = 9000
    document["admin"]["elements_total"] = 18_000
    for facility in document["coupling_facilities"]:
        facility.update(HARDWARE)
    document["coupling_facilities"][1]["sequence"] = "0000000A1B2D"
    document["structures"][0].update(
        initsize="1G", size="2G", minsize="512M", entry_to_element_ratio=[1, 6], exclist=["SQ03MYDATA"]
    )
    return document


# ---- every field -------------------------------------------------------------------------------------------------

# A field, and how it is called by its type. `?` after the type: null is a value that the printed document has.
TYPES = {
    "/schema_version": "version",
    "/qsg": "text",
    "/queue_managers": "managers",
    "/cfcc_level": "count",
    "/curve": "curve",
    "/growth": "object",
    "/growth/percent_per_year": "number",
    "/growth/years": "number",
    "/target_usage_percent": "number",
    "/headroom_percent": "number?",
    "/size_factor": "number",
    "/admin": "object",
    "/admin/headroom_percent": "number",
    "/admin/entsmax": "count?",
    "/admin/elements_total": "count?",
    "/system": "object",
    "/system/include": "truth",
    "/system/shared_channels": "count",
    "/system/group_ur_messages": "count",
    "/policy": "object",
    "/policy/name": "text?",
    "/policy/job": "truth",
    "/coupling_facilities": "list",
    f"{CF}": "object",
    f"{CF}/name": "text",
    f"{CF}/size": "size?",
    f"{CF}/cfcc_level": "count?",
    f"{CF}/site": "text?",
    f"{CF}/volatile": "truth?",
    f"{CF}/failure_isolated": "truth?",
    f"{CF}/type": "text?",
    f"{CF}/mfg": "text?",
    f"{CF}/plant": "text?",
    f"{CF}/sequence": "text?",
    f"{CF}/partition": "text?",
    f"{CF}/cpcid": "text?",
    f"{CF}/dumpspace": "size?",
    "/structures": "list",
    f"{STRUCTURE}": "object",
    f"{STRUCTURE}/name": "text",
    f"{STRUCTURE}/cflevel": "count",
    f"{STRUCTURE}/recover": "truth",
    f"{STRUCTURE}/initsize": "size?",
    f"{STRUCTURE}/size": "size?",
    f"{STRUCTURE}/minsize": "size?",
    f"{STRUCTURE}/allow_auto_alter": "truth",
    f"{STRUCTURE}/entry_to_element_ratio": "ratio?",
    f"{STRUCTURE}/full_threshold": "count",
    f"{STRUCTURE}/preflist": "list",
    f"{STRUCTURE}/preflist/0": "text",
    f"{STRUCTURE}/exclist": "list",
    f"{STRUCTURE}/exclist/0": "text",
    f"{STRUCTURE}/duplex": "text",
    f"{OFFLOAD}": "object?",
    f"{OFFLOAD}/to": "text",
    f"{OFFLOAD}/rules": "list",
    f"{OFFLOAD}/rules/0": "object",
    f"{OFFLOAD}/rules/0/usage_over": "count",
    f"{OFFLOAD}/rules/0/size_over": "size",
    f"{OFFLOAD}/dsgroup": "text?",
    f"{OFFLOAD}/dsblock": "size",
    f"{OFFLOAD}/dsbufs": "count",
    f"{STRUCTURE}/size_with_offload": "truth",
    f"{STRUCTURE}/queues": "list",
    f"{FIXED}": "object",
    f"{FIXED}/name": "text",
    f"{FIXED}/message_bytes": "bytes",
    f"{FIXED}/backlog": "count",
    f"{FIXED}/persistent": "truth",
    f"{SPREAD}/message_bytes": "bytes",
    f"{SPREAD}/message_bytes/mean": "number",
    f"{SPREAD}/message_bytes/p95": "number?",
    f"{SPREAD}/message_bytes/max": "number?",
    f"{SPREAD}/put_rate_per_s": "number",
    f"{SPREAD}/outage_minutes": "number",
}

WRONG: dict[str, list[object]] = {
    "version": [0, 2, -1, "one", 1.5, [1], {}],
    "text": [5, 1.5, True, [], ["A"], {}, {"a": "b"}],
    "managers": ["five", 1.5, True, {}, [5], [None], [["QM01"]], []],
    "count": ["many", 1.5, True, [], [1], {}],
    "number": ["many", "1;2", True, [], [1], {}],
    "truth": ["perhaps", 5, 1.5, [], {}],
    "size": [
        "abc",
        True,
        [],
        {},
        "64Q",
        "1.5.2G",
        "-1K",
        "K",
        "1K K",
        "0x10",
        "1e3K",
        "\u0661K",
        "64G\n",
        "\n64G",
    ],
    "curve": [5, True, [], {}, "unpublished", {"fitted": "x"}, {"fitted": -1}, {"fitted": 1.5}, {"other": 1}],
    "ratio": ["1:6", 6, True, {}, [], [1], [1, 6, 1], [0, 6], [1, 0], [-1, 6], ["a", "b"], [1.5, 6]],
    "bytes": ["large", True, [], {}, [1024], {"max": 5}, {"average": 5}],
    "object": ["text", 5, True, [], [1]],
    "list": ["text", 5, True, {}, {"0": 1}, [None], [5], [[]]],
}


def of_wrong_type() -> list[Any]:
    cases = []
    for pointer, kind in TYPES.items():
        values = list(WRONG[kind.rstrip("?")])
        if not kind.endswith("?"):
            values.append(None)
        if pointer == f"{FIXED}/message_bytes":
            values.append(1.5)
        if kind.startswith("list") and not pointer.endswith(("preflist", "exclist")):
            values.append(["text"])
        cases += [pytest.param(pointer, value, id=f"{pointer}={value!a}") for value in values]
    return cases


def test_wrong_type_cases_cover_every_field_of_the_full_document() -> None:
    def walk(value: object, pointer: str) -> set[str]:
        if isinstance(value, dict):
            return {pointer}.union(*(walk(child, f"{pointer}/{key}") for key, child in value.items()))
        if isinstance(value, list):
            return {pointer}.union(*(walk(child, f"{pointer}/{at}") for at, child in enumerate(value)))
        return {pointer}

    shape = {re.sub(r"/\d+", "/#", pointer) for pointer in walk(full_document(), "")} - {""}
    walked = {re.sub(r"/\d+", "/#", pointer) for pointer in TYPES}
    inside_the_ratio = {f"{STRUCTURE}/entry_to_element_ratio/0".replace("/0", "/#")}
    assert shape - walked <= inside_the_ratio
    assert walked <= shape


def assert_refused_everywhere(
    service: Service,
    folder: Path,
    document: object,
    pointer: str,
    *,
    parent: bool = False,
    limit: bool = False,
) -> None:
    """Assert that service and command line refuse the document and name the field."""
    response = service.post("/api/v1/size", document)
    problem = assert_problem(response, 422)
    named = [error["field"] for error in problem["errors"]]
    assert all(error["message"].strip() for error in problem["errors"]), problem
    above = pointer.rsplit("/", 1)[0] if parent else pointer
    assert any(name in {pointer, above} or name.startswith(f"{pointer}/") for name in named), problem
    for error in problem["errors"]:
        assert all(character.isprintable() for character in error["message"]), ascii(error)
    assert isinstance(problem["findings"], list)

    ran = plan(document, folder, "--output", "policy")
    assert ran.code in ({1, 2} if limit else {2}), ran
    assert ran.out == ""
    assert_sentence(ran.err)


def test_full_document_gives_every_output(service: Service, tmp_path: Path) -> None:
    for output in OUTPUTS:
        response = service.post(f"/api/v1/{output}", full_document())
        assert response.status_code == 200, response.text
        assert plan(full_document(), tmp_path, "--output", output).code == 0


@pytest.mark.parametrize(("pointer", "value"), of_wrong_type())
def test_wrong_type_is_refused_at_its_field(
    service: Service, tmp_path: Path, pointer: str, value: object
) -> None:
    assert_refused_everywhere(service, tmp_path, put(full_document(), pointer, value), pointer)


OUT_OF_RANGE: dict[str, list[object]] = {
    "/queue_managers": [0, -1],
    "/cfcc_level": [-1],
    "/growth/percent_per_year": [-101, 10**12],
    "/growth/years": [-1, 10**9],
    "/target_usage_percent": [0, 0.99, 100.01, 10**12],
    "/headroom_percent": [-1, 10**12],
    "/size_factor": [0, 0.99, 2.01, -1, 10**12],
    "/admin/headroom_percent": [-1, 10**12],
    "/admin/entsmax": [-1],
    "/system/shared_channels": [-1],
    "/system/group_ur_messages": [-1],
    f"{CF}/cfcc_level": [-1],
    f"{CF}/size": [-1],
    f"{CF}/site": ["SITE3", "", "SITE"],
    f"{STRUCTURE}/cflevel": [0, 6, -1],
    f"{STRUCTURE}/initsize": [-1],
    f"{STRUCTURE}/size": [-1],
    f"{STRUCTURE}/minsize": [-1],
    f"{STRUCTURE}/full_threshold": [-1, 101],
    f"{STRUCTURE}/duplex": ["SOMETIMES", ""],
    f"{OFFLOAD}/to": ["TAPE", ""],
    f"{OFFLOAD}/rules/0/usage_over": [-1, 101],
    f"{OFFLOAD}/rules/0/size_over": ["65K", -1, "1G"],
    f"{OFFLOAD}/dsblock": ["3K", "2M", "4K", 0],
    f"{OFFLOAD}/dsbufs": [0, -1, 10_000],
    f"{FIXED}/message_bytes": [-1, 104_857_601],
    f"{FIXED}/backlog": [-1],
    f"{SPREAD}/message_bytes/mean": [-1, 104_857_601],
    f"{SPREAD}/message_bytes/p95": [-1],
    f"{SPREAD}/message_bytes/max": [-1, 104_857_601],
    f"{SPREAD}/put_rate_per_s": [-1],
    f"{SPREAD}/outage_minutes": [-1],
}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        pytest.param(pointer, value, id=f"{pointer}={value}")
        for pointer, values in OUT_OF_RANGE.items()
        for value in values
    ],
)
def test_value_out_of_range_is_refused_at_its_field(
    service: Service, tmp_path: Path, pointer: str, value: object
) -> None:
    # Inconsistent distributions may be blamed on the distribution as a whole.
    parent = pointer.startswith(f"{SPREAD}/message_bytes/")
    assert_refused_everywhere(
        service, tmp_path, put(full_document(), pointer, value), pointer, parent=parent, limit=True
    )


HUGE = [10**15, 10**18, 10**30, 10**400]
NUMBERS = [
    pointer
    for pointer, kind in TYPES.items()
    if kind.rstrip("?") in {"count", "number", "bytes", "managers", "size", "version"}
]


@pytest.mark.parametrize("value", HUGE, ids=lambda value: f"10**{len(str(value)) - 1}")
@pytest.mark.parametrize("pointer", NUMBERS)
def test_huge_number_never_causes_an_internal_error(
    service: Service, tmp_path: Path, pointer: str, value: int
) -> None:
    document = put(full_document(), pointer, value)
    response = service.post("/api/v1/size", document)

    if response.status_code == 200:
        # Legal (a CFCC level or an ENTSMAX has no published end), but then the answer stays an answer.
        assert_findings(response.json())
        policy = service.post("/api/v1/policy", document)
        assert policy.status_code in {200, 422}, policy.text
    else:
        problem = assert_problem(response, 422)
        assert any(
            pointer.startswith(error["field"]) or error["field"].startswith(pointer)
            for error in problem["errors"]
        )
    ran = plan(document, tmp_path, "--output", "policy")
    assert ran.code == 0 or ran.out == ""


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 5000])
@pytest.mark.parametrize(
    "pointer", [p for p in NUMBERS if TYPES[p].rstrip("?") in {"number", "count", "bytes"}]
)
def test_number_that_is_not_finite_is_refused(service: Service, pointer: str, number: str) -> None:
    body = json.dumps(put(full_document(), pointer, "PLACEHOLDER")).replace('"PLACEHOLDER"', number)
    response = service.post_raw("/api/v1/size", body.encode())

    assert response.status_code in {400, 422}, response.text
    assert_problem(response, response.status_code)


TOO_LONG: dict[str, object] = {
    "/qsg": "SQ034",
    "/policy/name": "POLICY123",
    f"{CF}/name": "CF0123456",
    f"{CF}/site": "SITE1SITE1",
    f"{CF}/type": "0039311",
    f"{CF}/mfg": "IBMX",
    f"{CF}/plant": "023",
    f"{CF}/sequence": "0000000A1B2CD",
    f"{CF}/partition": "0F0",
    f"{CF}/cpcid": "000",
    f"{STRUCTURE}/name": "APPLICATION12",
    f"{STRUCTURE}/preflist/0": "CF0123456",
    f"{STRUCTURE}/exclist/0": "SQ03APPLICATION12",
    f"{OFFLOAD}/dsgroup": "MQ.SMDS.*." + "ABCDEFGH." * 4 + "ABCDEF",
    f"{FIXED}/name": "Q" * 49,
}

TEXTS = [pointer for pointer, kind in TYPES.items() if kind.rstrip("?") == "text"]


@pytest.mark.parametrize("pointer", TEXTS)
@pytest.mark.parametrize("length", ["one-too-many", "10000"])
def test_overlong_text_is_refused_at_its_field(
    service: Service, tmp_path: Path, pointer: str, length: str
) -> None:
    value = TOO_LONG.get(pointer, "A" * 10_000) if length == "one-too-many" else "A" * 10_000

    assert_refused_everywhere(service, tmp_path, put(full_document(), pointer, value), pointer)


def test_longest_names_are_accepted(service: Service) -> None:
    document = full_document()
    document["policy"]["name"] = "POLICY12"
    document["structures"][0]["name"] = "APPLICATION1"
    document["structures"][0]["queues"][0]["name"] = "Q" * 48
    document["structures"][0]["exclist"] = ["SQ03APPLICATION2"]
    document["structures"][0]["offload"]["dsgroup"] = "MQ.SMDS.*." + "ABCDEFGH." * 3 + "ABCD"

    # With a queue manager name of four characters in place of the asterisk, a data set name of 44.
    assert len(document["structures"][0]["offload"]["dsgroup"].replace("*", "QM01")) == 44
    assert service.post("/api/v1/size", document).status_code == 200


@pytest.mark.parametrize(
    ("pointer", "length"),
    [
        (f"{STRUCTURE}/preflist", 9),
        (f"{STRUCTURE}/exclist", 9),
        (f"{OFFLOAD}/rules", 4),
    ],
)
def test_list_of_wrong_length_is_refused_at_its_field(
    service: Service, tmp_path: Path, pointer: str, length: int
) -> None:
    # PREFLIST names up to 8 coupling facilities, EXCLLIST up to 8 structures; there are three offload rules.
    items: dict[str, list[object]] = {
        "preflist": [f"CF{at:02}" for at in range(1, length + 1)],
        "exclist": [f"SQ03OTHER{at}" for at in range(length)],
        "rules": [{"usage_over": 10 * at, "size_over": f"{40 - at}K"} for at in range(1, length + 1)],
    }
    document = full_document()
    facility = document["coupling_facilities"][0]
    document["coupling_facilities"] = [
        facility | {"name": f"CF{at:02}", "sequence": f"0000000A1B{at:02}"} for at in range(1, 10)
    ]
    changed = put(document, pointer, items[pointer.rsplit("/", 1)[1]])

    assert_refused_everywhere(service, tmp_path, changed, pointer, limit=True)


@pytest.mark.parametrize(
    "pointer",
    ["", "/growth", "/admin", "/system", "/policy", CF, STRUCTURE, OFFLOAD, f"{OFFLOAD}/rules/0", FIXED],
)
@pytest.mark.parametrize(
    "key", ["surplus", "Name", "", "a/b~c", "name\n", "__class__", "\u0000", "\x1b[2J"], ids=ascii
)
def test_unknown_key_is_refused_by_name(service: Service, tmp_path: Path, pointer: str, key: str) -> None:
    escaped = key.replace("~", "~0").replace("/", "~1")
    document = full_document()
    place: Any = document
    for part in pointer.strip("/").split("/"):
        place = place if part == "" else place[int(part)] if isinstance(place, list) else place[part]
    place[key] = 1

    problem = assert_problem(service.post("/api/v1/size", document), 422)
    assert f"{pointer}/{escaped}" in [error["field"] for error in problem["errors"]], problem
    ran = plan(document, tmp_path, "--output", "policy")
    assert ran.code == 2, ran
    assert_sentence(ran.err)


# ---- values that would break out ---------------------------------------------------------------------------------

BREAKING = {
    "line-feed": "A\nB",
    "carriage-return": "A\rB",
    "trailing-line-feed": "A\n",
    "nul": "A\x00B",
    "tab": "A\tB",
    "escape": "A\x1bB",
    "delete": "A\x7fB",
    "next-line": "A\x85B",
    "line-separator": "A\u2028B",
    "right-to-left": "A\u202eB",
    "zero-width": "A\u200bB",
    "surrogate": "A\ud800B",
    "apostrophe": "A'B",
    "quotes": 'A"B',
    "open": "A(B",
    "close": "A)B",
    "statement": "A)SIZE(1",
    "comment-open": "A/*B",
    "comment-close": "A*/B",
    "end-of-input": "/*",
    "job-control": "//A",
    "comma": "A,B",
    "semicolon": "A;B",
    "blank": "A B",
    "plus": "A+",
    "minus": "A-",
    "ampersand": "A&B",
    "equals": "A=B",
    "accent": "\u00c9",
    "digit": "A\u0661",
    "markup": "<b>",
    "empty": "",
}
# What a field may hold after all: a MQ object name has / and a data set name has - inside.
ALLOWED = {(f"{FIXED}/name", "job-control")}


@pytest.mark.parametrize("kind", BREAKING)
@pytest.mark.parametrize("pointer", TEXTS)
def test_text_that_could_break_an_output_is_refused_at_its_field(
    service: Service, tmp_path: Path, pointer: str, kind: str
) -> None:
    if (pointer, kind) in ALLOWED:
        pytest.skip("legal in this field")
    document = put(full_document(), pointer, BREAKING[kind])
    if kind == "surrogate":  # no UTF-8 has it: the escape in JSON does
        response = service.post_raw("/api/v1/size", json.dumps(document).encode())
        assert response.status_code in {400, 422}, response.text
        assert_problem(response, response.status_code)
        assert plan(document, tmp_path, "--output", "policy").code == 2
        return

    assert_refused_everywhere(service, tmp_path, document, pointer)


@pytest.mark.parametrize(
    "suffix", ["\n", "\r", "\r\n", "\x00", "\x85", "\u2028", " \n", "\x0b", "\x0c", "\x1c"], ids=ascii
)
@pytest.mark.parametrize("pointer", TEXTS)
def test_valid_value_with_a_leading_or_trailing_line_break_is_refused(
    service: Service, tmp_path: Path, pointer: str, suffix: str
) -> None:
    good: Any = full_document()
    for part in pointer.strip("/").split("/"):
        good = good[int(part)] if isinstance(good, list) else good[part]

    for value in (good + suffix, suffix + good):
        assert_refused_everywhere(service, tmp_path, put(full_document(), pointer, value), pointer)


GENERATED = [
    f"{structure}/{key}"
    for structure in ("/admin", "/system")
    for key in ("preflist/0", "exclist/0", "duplex")
]


@pytest.mark.parametrize("kind", [kind for kind in BREAKING if kind != "surrogate"])
@pytest.mark.parametrize("pointer", GENERATED)
def test_system_structures_refuse_text_that_could_break_an_output(
    service: Service, tmp_path: Path, pointer: str, kind: str
) -> None:
    document = full_document()
    for structure in ("admin", "system"):
        document[structure].update(preflist=["CF01"], exclist=["SQ03MYDATA"], duplex="DISABLED")
    assert service.post("/api/v1/policy", document).status_code == 200

    assert_refused_everywhere(service, tmp_path, put(document, pointer, BREAKING[kind]), pointer)


@pytest.mark.parametrize(
    "key", ["initsize", "size", "minsize", "full_threshold", "allow_auto_alter", "preflist", "exclist"]
)
@pytest.mark.parametrize("value", [True, -1, "abc", 1.5, {}, [1], "1G\n"], ids=ascii)
@pytest.mark.parametrize("structure", ["admin", "system"])
def test_system_structures_refuse_wrong_types(
    service: Service, tmp_path: Path, structure: str, key: str, value: object
) -> None:
    if key == "allow_auto_alter" and value is True:
        pytest.skip("a truth value is what this field holds")
    document = full_document()
    document[structure][key] = value

    assert_refused_everywhere(service, tmp_path, document, f"/{structure}/{key}")


@pytest.mark.parametrize("kind", [kind for kind in BREAKING if kind != "surrogate"])
def test_queue_manager_name_that_could_break_an_output_is_refused(
    service: Service, tmp_path: Path, kind: str
) -> None:
    document = put(full_document(), "/queue_managers", ["QM01", BREAKING[kind]])

    assert_refused_everywhere(service, tmp_path, document, "/queue_managers/1", parent=True)


def test_queue_name_with_slashes_does_not_start_a_jcl_statement(service: Service) -> None:
    # `/` and `.` and `_` and `%` are legal in MQ names, so `//` and `//*` look-alikes have to stay in their field.
    document = put(full_document(), f"{FIXED}/name", "//A/./_%")
    for output in OUTPUTS:
        response = service.post(f"/api/v1/{output}", document)
        assert response.status_code == 200, response.text
        lines = response.text.splitlines()
        assert not any(line.startswith("//A") for line in lines), output
        if output == "workflow":  # it has jobs of its own
            continue
        if output != "job":
            assert not any(line.startswith("//") for line in lines), output
        assert not any(line.startswith("/*") for line in lines[:-1]), output


# ---- names that are no names -------------------------------------------------------------------------------------

BAD_NAMES = {
    "/qsg": ["1ABC", "sq 3", "SQ_3", "-"],
    f"{STRUCTURE}/name": ["1APP", "APP_1", "APP$", "APP@", "CSQ_ADMIN", "CSQSYSAPPL", "APP.1"],
    f"{CF}/name": ["1CF", "CF.1", "CF-1"],
    "/policy/name": ["1POLICY", "POL.1"],
    f"{FIXED}/name": ["PAYMENTS-IN", "A#B", "A$B", "A@B", "A*B"],
    f"{OFFLOAD}/dsgroup": ["MQ.SMDS.APP1", "MQ.*.SMDS.*.APP1", "*" * 2, "MQ..SMDS.*", "MQ.SMDS.*.", ".MQ.*"],
    f"{CF}/partition": ["G", "0G", "ZZ"],
    f"{CF}/cpcid": ["G", "0G"],
}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        pytest.param(pointer, value, id=f"{pointer}={value}")
        for pointer, values in BAD_NAMES.items()
        for value in values
    ],
)
def test_refusal_of_an_invalid_name_points_to_its_field(
    service: Service, tmp_path: Path, pointer: str, value: str
) -> None:
    assert_refused_everywhere(service, tmp_path, put(full_document(), pointer, value), pointer, limit=True)


def test_queue_on_csq_admin_is_refused(service: Service, tmp_path: Path) -> None:
    document = put(full_document(), f"{STRUCTURE}/name", "CSQ_ADMIN")

    assert_refused_everywhere(service, tmp_path, document, f"{STRUCTURE}/name")


def test_empty_preflist_is_refused_or_completed_with_a_finding(service: Service) -> None:
    # PREFLIST is required in CFRM, with 1 to 8 names.
    document = put(full_document(), f"{STRUCTURE}/preflist", [])
    response = service.post("/api/v1/size", document)

    if response.status_code == 200:
        assert [f for f in response.json()["findings"] if f["field"] == f"{STRUCTURE}/preflist"]
        assert "PREFLIST()" not in service.post("/api/v1/policy", document).text
    else:
        assert_problem(response, 422)


def not_silently_accepted(service: Service, folder: Path, document: object) -> None:
    """Assert that the document is refused or has a new error or warning."""
    response = service.post("/api/v1/size", document)
    if response.status_code == 200:
        before = service.post("/api/v1/size", full_document()).json()["findings"]
        known = [(finding["code"], finding["message"]) for finding in before]
        new = [f for f in response.json()["findings"] if (f["code"], f["message"]) not in known]
        assert any(finding["severity"] in {"error", "warning"} for finding in new), (
            "accepted without an error or a warning"
        )
    else:
        assert_problem(response, 422)
    ran = plan(document, folder, "--output", "json")
    assert ran.code in {0, 1, 2}


def test_structures_with_the_same_name_are_refused(service: Service, tmp_path: Path) -> None:
    document = full_document()
    document["structures"].append(json.loads(json.dumps(document["structures"][0])))
    document["structures"][1]["queues"] = [queue("OTHER", 1, 1)]

    assert_problem(service.post("/api/v1/size", document), 422)
    assert plan(document, tmp_path, "--output", "policy").code == 2


def test_coupling_facilities_with_the_same_name_are_refused(service: Service, tmp_path: Path) -> None:
    document = put(full_document(), f"{CF}/name", "CF01")

    assert_problem(service.post("/api/v1/size", document), 422)
    assert plan(document, tmp_path, "--output", "policy").code == 2


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        (f"{STRUCTURE}/preflist", ["CF01", "CF99"]),
        (f"{STRUCTURE}/preflist", ["CF01", "CF01"]),
        (f"{SPREAD}/name", "PAYMENTS.IN"),
        ("/queue_managers", ["QM01", "QM01"]),
        (f"{STRUCTURE}/initsize", "3G"),  # above SIZE
        (f"{STRUCTURE}/minsize", "1500M"),  # above INITSIZE
        (f"{STRUCTURE}/size", "100G"),  # above any CF in the PREFLIST
        (f"{CF}/cfcc_level", 8),
        ("/cfcc_level", 8),
        (f"{FIXED}/backlog", 10**12),  # MAXDEPTH ends at 999 999 999
        (f"{SPREAD}/message_bytes", {"mean": 5000, "p95": 100, "max": 10}),
    ],
    ids=ascii,
)
def test_contradictory_fields_are_refused_or_reported(
    service: Service, tmp_path: Path, pointer: str, value: object
) -> None:
    not_silently_accepted(service, tmp_path, put(full_document(), pointer, value))


# ---- IBM's limits ------------------------------------------------------------------------------------------------


def structures(count: int) -> list[dict[str, Any]]:
    return [
        {
            "name": f"APP{at}",
            "preflist": ["CF01"],
            "offload": {"to": "SMDS", "dsgroup": f"MQ.SMDS.*.APP{at}"},
            "queues": [queue(f"Q{at}", 1000, 1024)],
        }
        for at in range(count)
    ]


def names(count: int) -> list[str]:
    return [f"QM{at:02}" for at in range(count)]


@pytest.mark.parametrize(
    ("pointer", "good", "bad"),
    [
        ("/queue_managers", 32, 33),
        ("/queue_managers", names(32), names(33)),
        ("/structures", structures(62), structures(63)),  # 64 with CSQ_ADMIN and CSQSYSAPPL
        (
            f"{STRUCTURE}/queues",
            [queue(f"Q{at}", 1, 1) for at in range(512)],
            [queue(f"Q{at}", 1, 1) for at in range(513)],
        ),
    ],
    ids=["queue-managers", "named-queue-managers", "structures", "queues"],
)
def test_number_of_items_above_ibms_limit_is_refused(
    service: Service, tmp_path: Path, pointer: str, good: object, bad: object
) -> None:
    accepted = service.post("/api/v1/size", put(full_document(), pointer, good))
    assert accepted.status_code == 200, accepted.text
    assert_findings(accepted.json())

    document = put(full_document(), pointer, bad)
    problem = assert_problem(service.post("/api/v1/size", document), 422)
    assert any(error["field"].startswith(pointer) for error in problem["errors"]), problem
    assert any(finding["severity"] == "error" for finding in problem["findings"]), problem
    ran = plan(document, tmp_path, "--output", "policy")
    assert ran.code in {1, 2}
    assert ran.out == ""
    assert_sentence(ran.err)


@pytest.mark.parametrize("include", [True, False], ids=["with-csqsysappl", "without"])
def test_largest_legal_plan_with_the_longest_names_is_accepted(
    service: Service, tmp_path: Path, include: bool
) -> None:
    document = full_document()
    document["system"] = {"include": include, "shared_channels": 0, "group_ur_messages": 0}
    document["queue_managers"] = names(32)
    model = document["structures"][0]
    document["structures"] = []
    for at in range(62 if include else 63):
        queues = [
            model["queues"][1] | {"name": f"{'LONG.QUEUE.NAME.' * 3}"[:39] + f"{at:04}.{number:04}"}
            for number in range(512)
        ]
        offload = model["offload"] | {"dsgroup": f"MQ.SMDS.*.APP{at}"}
        document["structures"].append(
            model | {"name": f"APPLICATIO{at:02}", "queues": queues, "offload": offload}
        )

    response = service.post("/api/v1/policy", document)

    # It is within every limit, so nothing but a finding of its own may withhold the policy: IBM's numbers fit.
    assert response.status_code == 200, response.text[:2000]
    assert response.text.count("STRUCTURE NAME(") == 64
    assert plan(document, tmp_path, "--output", "policy").out == response.text


def test_plan_without_csqsysappl_may_have_one_more_structure(service: Service) -> None:
    document = full_document()
    document["system"] = {"include": False, "shared_channels": 0, "group_ur_messages": 0}

    assert service.post("/api/v1/size", put(document, "/structures", structures(63))).status_code == 200
    assert_problem(service.post("/api/v1/size", put(document, "/structures", structures(64))), 422)


# ---- bodies that are no document ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["size", *OUTPUTS])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"null",
        b"5",
        b'"text"',
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"qsg": "\xc3\x28"}',
        b'{"qsg": "SQ03", "qsg": "SQ04"}',
        b"[" * 50_000,
        b"[" * 50_000 + b"]" * 50_000,
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
        b"qsg: SQ03",
        b"\x00" * 100,
    ],
    ids=lambda body: ascii(body[:16]),
)
def test_body_that_is_not_a_document_gives_a_problem_document(
    service: Service, path: str, body: bytes
) -> None:
    response = service.post_raw(f"/api/v1/{path}", body)

    assert response.status_code in {400, 422}, response.text
    assert_problem(response, response.status_code)


def test_duplicate_key_inside_the_document_is_refused(service: Service) -> None:
    body = json.dumps(full_document()).replace('"cflevel": 5', '"cflevel": 5, "cflevel": 4')

    response = service.post_raw("/api/v1/size", body.encode())
    assert response.status_code in {400, 422}, response.text


def test_unsupported_content_type_gives_a_problem_document(service: Service) -> None:
    response = service.request(
        "POST",
        "/api/v1/size",
        content=b"qsg=SQ03",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )

    assert response.status_code in {400, 415, 422}, response.text
    assert_problem(response, response.status_code)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/size", 405),
        ("GET", "/api/v1/reference/nothing", 404),
    ],
)
def test_http_errors_are_problem_documents(service: Service, method: str, path: str, status: int) -> None:
    assert_problem(service.request(method, path), status)


def test_very_large_body_is_refused(service: Service) -> None:
    response = service.post_raw("/api/v1/size", b'{"qsg": "' + b"A" * 60_000_000 + b'"}')

    assert_problem(response, 413)


def test_document_with_warnings_is_accepted(service: Service) -> None:
    response = service.post("/api/v1/size", full_document())

    assert response.status_code == 200
    assert "error" not in severities(response.json())
