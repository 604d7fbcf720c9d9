"""The pages about running systems: findings with lines, merged bytes, and ordered commands."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from app.running.texts import running_example
from tests.app.web.pages.addresses import html
from tests.app.web.pages.html import Element, read
from tests.app.web.support import HOST, Answer, call
from tests.planner_core.running.test_compare import display
from tests.planner_core.texts.test_workflow import parsed, steps

POLICY = running_example().policy
EXAMPLE = {"plan": ".example"}
BOUNDARY = "a-boundary-that-no-policy-has"


def post(app: FastAPI, address: str, fields: dict[str, str], files: dict[str, bytes] | None = None) -> Answer:
    """Send a form as browsers do: CR LF as line ends of typed text, and unchanged files."""
    parts = []
    for name, value in fields.items():
        typed = value.replace("\r\n", "\n").replace("\n", "\r\n").encode()
        parts.append(f'Content-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + typed)
    for name, data in (files or {}).items():
        head = f'Content-Disposition: form-data; name="{name}"; filename="{name}.txt"\r\nContent-Type: text/plain\r\n\r\n'
        parts.append(head.encode() + data)
    body = (
        b"".join(f"--{BOUNDARY}\r\n".encode() + part + b"\r\n" for part in parts)
        + f"--{BOUNDARY}--\r\n".encode()
    )
    headers = {
        "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        "accept": "text/html",
        "origin": f"http://{HOST}",
    }
    return call(app, "POST", address, headers=headers, chunks=[body])


def page(answer: Answer, status: int = 200) -> Element:
    assert answer.status == status, answer.text[:600]
    return read(answer.text)


@pytest.mark.parametrize("path", ["/lint", "/merge", "/running", "/plan-from-running"])
def test_pages_are_initially_empty_and_can_show_the_example(app: FastAPI, path: str) -> None:
    assert "DEFINE POLICY" not in html(app, path).text
    shown = html(app, f"{path}?example")
    assert "SQ03APPLICATION1" in shown.text
    assert "a fictitious site" in shown.text


def test_overview_links_to_each_page(app: FastAPI) -> None:
    text = html(app, "/what-runs").text
    for path in ("/lint", "/merge", "/running", "/plan-from-running", "/docs/how-to/what-runs-today"):
        assert f'href="{path}"' in text


def test_lint_marks_lines_with_findings(app: FastAPI) -> None:
    answer = post(
        app, "/lint", {"text": POLICY.replace("SIZE(512M)", "SIZE(512X)"), "cfcc": "", "queue_managers": ""}
    )
    assert page(answer)
    assert '<a href="#L29">Line 29</a>' in answer.text
    assert '<tr id="L29" class="is-error">' in answer.text


def test_file_takes_precedence_over_typed_text(app: FastAPI) -> None:
    answer = post(app, "/lint", {"text": "STRUCTURE"}, {"file": POLICY.encode()})
    assert "31 lines: CFRM policy, 4 structures. No finding." in answer.text


def test_invalid_number_is_reported_at_its_field(app: FastAPI) -> None:
    answer = post(app, "/lint", {"text": POLICY, "cfcc": "x"})
    assert page(answer, 422)
    assert "CFCC level: must be a whole number between 1 and 99." in answer.text
    assert 'aria-describedby="cfcc-error' in answer.text


def test_merge_shows_changes_and_the_difference(app: FastAPI) -> None:
    answer = post(app, "/merge", {"policy": POLICY, "plan": ".example", "document": ""})
    assert page(answer)
    assert "7 changes in 4 structures of policy PROD01" in answer.text
    assert '<span class="removed">-             SIZE(512M)' in answer.text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_downloaded_merge_keeps_all_other_bytes(app: FastAPI, newline: str) -> None:
    head, tail = POLICY.replace("\n", newline).encode().split(b"   /* ---- MQ ---- */")
    odd = b"   /* \xfc\xff MQ */"
    answer = post(app, "/merge", {**EXAMPLE, "as": "file"}, {"policy_file": head + odd + tail})
    assert answer.status == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="PROD01-merged.txt"'
    assert answer.content.startswith(head + odd)
    assert (b"\r\n" in answer.content) == (newline == "\r\n")
    assert answer.content.count(b"\r\n") in {0, answer.content.count(b"\n")}


@pytest.mark.parametrize("name", ["PR\u2603D", 'PR"D'])
def test_merged_policy_with_an_invalid_name_is_downloaded(app: FastAPI, name: str) -> None:
    asked = {**EXAMPLE, "policy": POLICY.replace("PROD01", name), "as": "file"}
    answer = post(app, "/merge", asked)
    assert answer.status == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="PR_D-merged.txt"'


LATIN_1 = POLICY.replace("---- MQ ----", "---- f\u00fcr MQ ----").encode("latin-1")


def test_bytes_that_are_not_utf_8_are_shown_but_not_resubmitted(app: FastAPI) -> None:
    assert POLICY.encode() != LATIN_1
    answer = post(app, "/merge", EXAMPLE, {"policy_file": LATIN_1})
    assert page(answer)
    assert "7 changes in 4 structures" in answer.text
    assert "a form cannot send back unchanged" in answer.text
    assert 'name="as" value="file">Download' not in answer.text
    assert "data-copy" not in answer.text
    assert "DEFINE POLICY" not in answer.text.partition("<textarea")[2].partition("</textarea>")[0]
    kept = post(app, "/merge", EXAMPLE, {"policy_file": POLICY.encode()})
    assert 'name="as" value="file">Download' in kept.text
    assert page(post(app, "/lint", {}, {"file": LATIN_1}))
    assert page(post(app, "/running", EXAMPLE, {"current_files": LATIN_1}))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (POLICY.encode("utf-16"), "is UTF-16: save it as UTF-8"),
        (POLICY.replace("\n", "\x85").encode("cp037"), "looks like EBCDIC: transfer it as text"),
        (b"A" * 4_000_001, "is larger than 4000000 bytes"),
    ],
    ids=["UTF-16", "EBCDIC", "too long"],
)
@pytest.mark.parametrize(
    ("path", "box", "field"),
    [
        ("/lint", "text", "file"),
        ("/merge", "policy", "policy_file"),
        ("/running", "current", "current_files"),
        ("/plan-from-running", "current", "current_files"),
    ],
)
def test_unreadable_file_is_reported_and_typed_text_kept(
    app: FastAPI, path: str, box: str, field: str, data: bytes, says: str
) -> None:
    answer = post(app, path, {**EXAMPLE, box: "STRUCTURE NAME(TYPED1)"}, {field: data})
    assert page(answer, 422)
    assert says in answer.text
    assert "STRUCTURE NAME(TYPED1)" in answer.text


def test_binary_file_is_reported_as_uncheckable(app: FastAPI) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
    assert "nothing that can be checked" in post(app, "/lint", {}, {"file": data}).text
    for path, field in (("/merge", "policy_file"), ("/running", "current_files")):
        answer = post(app, path, EXAMPLE, {field: data})
        assert page(answer, 422)
        assert (
            ".."
            not in answer.text.partition('role="alert"')[2].partition("</section>")[0].partition("<form")[0]
        )


def test_page_shows_only_the_most_severe_of_many_findings(app: FastAPI) -> None:
    many = "STRUCTURE NAME(A) SIZE(1) PREFLIST(B)\n" * 700
    text = post(app, "/lint", {"text": many}).text
    assert "699 errors, 700 warnings. The 500 most severe are shown; cfplan lint lists all 1399." in text
    assert text.count('<li class="finding">') == 500


def test_byte_order_mark_does_not_hide_the_job(app: FastAPI) -> None:
    answer = post(
        app,
        "/merge",
        {**EXAMPLE, "as": "file"},
        {"policy_file": b"\xef\xbb\xbf//A JOB (1),'X'\n" + POLICY.encode()},
    )
    assert answer.status == 200
    assert answer.content.startswith(b"\xef\xbb\xbf//A JOB (1),'X'\n")


def test_typed_text_keeps_the_line_endings_of_its_file(app: FastAPI) -> None:
    for newline, end in (("lf", b"\n"), ("crlf", b"\r\n")):
        answer = post(app, "/merge", {**EXAMPLE, "policy": POLICY, "newline": newline, "as": "file"})
        assert answer.content.endswith(b"PREFLIST(CF02,CF01)" + end + b"/*" + end)


def test_merge_with_a_new_policy_name_shows_the_workflow(app: FastAPI) -> None:
    asked = {**EXAMPLE, "policy": POLICY, "workflow_name": "PROD$2"}
    answer = post(app, "/merge", asked)
    (shown,) = [each for each in page(answer).all("pre") if each.attributes.get("id") == "text-workflow"]
    assert "PROD_2-workflow.xml" in answer.text
    saved = post(app, "/merge", {**asked, "as": "workflow"})
    assert saved.headers["content-type"] == "application/xml"
    assert saved.headers["content-disposition"] == 'attachment; filename="PROD_2-workflow.xml"'
    assert " ".join(shown.text.split()) == " ".join(saved.text.split())
    jcl = steps(parsed(saved.text))[1].findtext("template/inlineTemplate") or ""
    assert " DEFINE POLICY NAME(PROD$2) REPLACE(NO)\n" in jcl
    assert "text-workflow" not in post(app, "/merge", {**asked, "workflow_name": ""}).text


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"workflow_name": "PROD01"}, "workflow_name", "PROD01 is the name of the current policy."),
        ({"workflow_name": "prod02"}, "workflow_name", "a CFRM policy name has 1 to 8 characters"),
        ({"workflow_name": "", "as": "workflow"}, "workflow_name", "Is required for a workflow"),
        ({"policy": POLICY.partition("STRUCTURE")[1] + POLICY.partition("STRUCTURE")[2]}, "policy", "A workflow needs the text of one complete policy"),
    ],
)  # fmt: skip
def test_reason_against_a_workflow_is_shown_at_its_field(
    app: FastAPI, changes: dict[str, str], field: str, says: str
) -> None:
    asked = {**EXAMPLE, "policy": POLICY, "workflow_name": "PROD02", **changes}
    answer = post(app, "/merge", asked)
    assert page(answer, 422)
    assert says in answer.text.partition(f'id="{field}-error"')[2].partition("</p>")[0]
    # The policy can be downloaded all the same.
    assert post(app, "/merge", {**asked, "as": "file"}).status == 200


def test_workflow_of_a_merged_policy_with_errors_is_refused_with_its_lines(app: FastAPI) -> None:
    wrong = POLICY.replace("SIZE(512M)", "SIZE(512M) FUTUREWORD(A)")
    answer = post(app, "/merge", {**EXAMPLE, "policy": wrong, "workflow_name": "PROD02"})
    assert page(answer, 422)
    assert "The merged policy has errors, so there is no workflow for it" in answer.text
    assert "<strong>Line 29</strong>" in answer.text


def test_workflow_of_a_file_that_no_form_can_resend_can_be_copied(app: FastAPI) -> None:
    asked = {**EXAMPLE, "workflow_name": "PROD02"}
    answer = post(app, "/merge", asked, {"policy_file": LATIN_1})
    assert page(answer)
    assert 'data-copy="text-workflow"' in answer.text
    assert 'data-copy="text-merged"' not in answer.text
    saved = post(app, "/merge", {**asked, "as": "workflow"}, {"policy_file": LATIN_1})
    assert saved.status == 200
    assert saved.text.isascii()


def test_damaged_policy_is_shown_with_its_lines(app: FastAPI) -> None:
    answer = post(app, "/merge", {**EXAMPLE, "policy": POLICY.replace("INITSIZE(131072)", "INITSIZE(131072")})
    assert page(answer, 422)
    assert "cfplan merges nothing into it" in answer.text
    assert "<strong>Line 14</strong>" in answer.text


def test_invalid_document_is_reported_by_field(app: FastAPI) -> None:
    answer = post(app, "/merge", {"policy": POLICY, "document": "qsg: TOOLONG"})
    assert page(answer, 422)
    assert "Plan document, YAML or JSON: /qsg:" in answer.text


def test_comparison_lists_commands_in_order(app: FastAPI) -> None:
    answer = post(app, "/running", {"current": running_example().current, "plan": ".example"})
    assert page(answer)
    places = [
        answer.text.index(words)
        for words in ("START,ALTER", "START,POLICY", "START,REBUILD", "DEFINE CFSTRUCT(MYDATA)")
    ]
    assert places == sorted(places)
    assert "ALTER CFSTRUCT" not in answer.text  # the plan does not state CFLEVEL, and level 4 stays
    assert "CFSTRUCT(APPLICATION1) keeps CFLEVEL(4)" in answer.text
    assert "Pending until rebuild" in answer.text


def test_comparison_shows_missing_inputs_and_structures_to_drain(app: FastAPI) -> None:
    shown = display("SQ03APPLICATION1", actual="4 G", size="4 G", in_use=(81, 81))
    answer = post(app, "/running", {**EXAMPLE, "current": shown})
    assert page(answer)
    assert ">not given</td>" in answer.text
    assert ">new</td>" not in answer.text
    assert "no commands can be generated yet" in answer.text
    assert "REBUILD_TOO_SMALL" in answer.text
    assert "START,REBUILD" not in answer.text


def test_text_without_running_data_is_reported(app: FastAPI) -> None:
    answer = post(app, "/running", {**EXAMPLE, "current": "hello"})
    assert page(answer, 422)
    assert "Running system: contains nothing about the running system" in answer.text


def test_missing_plan_is_reported(app: FastAPI) -> None:
    answer = post(app, "/running", {"current": POLICY, "plan": "NONE"})
    assert page(answer, 422)
    assert "There is no plan called NONE." in answer.text


@pytest.mark.parametrize(("address", "box"), [("/running", "current"), ("/merge", "policy")])
def test_errors_of_a_plan_without_a_policy_are_separate_paragraphs(
    app: FastAPI, address: str, box: str
) -> None:
    queue = "queues: [{name: Q1, message_bytes: 1024, backlog: 5, persistent: true}]"
    parts = "".join(f"  - {{name: {name}, recover: false, {queue.replace('Q1', name)}}}\n" for name in "AB")
    facility = "coupling_facilities: [{name: CF01}]"
    document = f"qsg: SQ03\nqueue_managers: 2\n{facility}\nstructures:\n{parts}"
    told = page(post(app, address, {box: POLICY, "document": document}), 422).one("div", role="alert")
    begin, *errors = [each.text for each in told.all("p")]
    assert begin == "The plan has errors: correct them first."
    assert [words.split()[0] for words in errors] == ["A", "B"]


def test_generated_plan_can_be_downloaded(app: FastAPI) -> None:
    answer = post(app, "/plan-from-running", {"current": running_example().current, "as": "file"})
    assert answer.headers["content-disposition"] == 'attachment; filename="SQ03.json"'
    assert answer.json()["qsg"] == "SQ03"


def test_pasted_text_is_escaped(app: FastAPI) -> None:
    evil = "STRUCTURE NAME(<script>alert(1)</script>) SIZE(1) PREFLIST(A)\n"
    for path, box in (("/lint", "text"), ("/merge", "policy"), ("/running", "current")):
        assert "<script>alert" not in post(app, path, {**EXAMPLE, box: evil}).text


DUPLEXED = POLICY.replace("INITSIZE(16384)", "INITSIZE(16384) DUPLEX(ENABLED)")
CHOICES = ("today&#39;s values", "the plan&#39;s defaults")


@pytest.mark.parametrize("path", ["/merge", "/running"])
def test_form_offers_sources_of_unstated_keywords_with_the_policy_first(app: FastAPI, path: str) -> None:
    text = html(app, path).text
    assert "Keywords not stated in the plan" in text
    assert f'<option value="policy" selected>{CHOICES[0]}</option>' in text
    assert f'<option value="plan">{CHOICES[1]}</option>' in text


def test_page_keeps_unstated_keywords_by_default(app: FastAPI) -> None:
    kept = post(app, "/merge", {**EXAMPLE, "policy": DUPLEXED})
    assert "SQ03CSQ_ADMIN keeps FULLTHRESHOLD(80), DUPLEX(ENABLED)" in kept.text
    assert "MERGE_BY_DEFAULT" not in kept.text
    replaced = post(app, "/merge", {**EXAMPLE, "policy": DUPLEXED, "unstated": "plan"})
    assert "MERGE_BY_DEFAULT" in replaced.text
    assert '<option value="plan" selected>' in replaced.text
    assert "DUPLEXING_ENDS" not in post(app, "/running", {**EXAMPLE, "current": DUPLEXED}).text
    ended = post(app, "/running", {**EXAMPLE, "current": DUPLEXED, "unstated": "plan"})
    assert "DUPLEXING_ENDS" in ended.text
    assert '<option value="plan" selected>' in ended.text


def test_merge_compares_smaller_sizes_with_displays(app: FastAPI) -> None:
    shown = display("SQ03APPLICATION1", actual="1 G", size="1 G", initsize="512 M", in_use=(80, 20))
    answer = post(app, "/merge", {**EXAMPLE, "policy": POLICY, "current": shown})
    assert page(answer)
    assert "STRUCTURE_SHRINKS" in answer.text
    assert "SQ03APPLICATION1 has 1G and 80 % of it in use" in answer.text
    nothing = post(app, "/merge", {**EXAMPLE, "policy": POLICY, "current": "hello"})
    assert page(nothing, 422)
    assert "Displays of the structures: contains nothing about the running system" in nothing.text


def test_comparison_with_rebuilds_lists_reallocate_test_before_reallocate(app: FastAPI) -> None:
    text = html(app, "/running?example").text
    test = text.index("<code>D XCF,REALLOCATE,TEST</code>, then <code>SETXCF START,REALLOCATE</code>")
    assert test < text.index("Commands as text")
