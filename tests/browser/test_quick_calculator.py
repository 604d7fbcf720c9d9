"""The quick calculator in a browser: with and without scripts, by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from app.sizing.examples import examples
from tests.browser.conftest import NewContext

pytestmark = pytest.mark.browser

POLICY = "CFRM policy statements"
OUTDATED = "These figures belong to the previous input."
SQ03: Mapping[str, str] = {
    "Messages": "200 000",
    "Message size": "1K",
    "CFCC level": "25",
    "Queue managers": "5",
    "Queue-sharing group": "SQ03",
    "CFSTRUCT": "APPLICATION1",
    "Queue": "PAYMENTS.IN",
    "PREFLIST": "CF01 CF02",
    "DSGROUP": "MQ.SMDS.*.APP1",
    "Shared channels": "500",
}
"""IBM's planning example for APPLICATION1 by field label."""


def document(*, backlog: int = 200_000, queue: str = "PAYMENTS.IN", **offload: str) -> dict[str, Any]:
    """Return the same values as a plan document, without the form."""
    return {
        "qsg": "SQ03",
        "queue_managers": 5,
        "cfcc_level": 25,
        "system": {"shared_channels": 500},
        "coupling_facilities": [{"name": "CF01"}, {"name": "CF02"}],
        "structures": [
            {
                "name": "APPLICATION1",
                "preflist": ["CF01", "CF02"],
                "offload": offload,
                "queues": [{"name": queue, "message_bytes": 1024, "backlog": backlog, "persistent": True}],
            }
        ],
    }


def by_rest(page: Page, kind: str, plan: object) -> str:
    """Return the text of a document by REST."""
    answer = page.request.post(f"/api/v1/{kind}", data=plan)
    assert answer.status == 200, answer.text()
    return answer.text()


def field(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=label, exact=True)


def policy(page: Page) -> Locator:
    return page.get_by_role("region", name=POLICY)


def unfold(page: Page, title: str) -> None:
    """Open or close the text with this title."""
    page.get_by_text(re.compile(rf"^{title} SQ03")).click()


def structure(text: str, name: str) -> str:
    """Return one STRUCTURE statement of a policy."""
    (found,) = [
        part for part in re.split(r"(?=^ *STRUCTURE )", text, flags=re.MULTILINE) if f"({name})" in part
    ]
    return found


@pytest.mark.parametrize("has_script", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_form_gives_the_same_policy_for_sq03_as_rest(new_context: NewContext, has_script: bool) -> None:
    page = new_context(java_script_enabled=has_script).new_page()
    page.goto("/calculator")
    page.get_by_text("Space in reserve, SIZE, CSQSYSAPPL").click()
    for label, value in SQ03.items():
        field(page, label).fill(value)
    page.get_by_role("button", name="Calculate").click()
    expect(page).to_have_url(re.compile(r"queue=PAYMENTS\.IN"))
    shown = policy(page).text_content()
    assert shown == by_rest(page, "policy", document(dsgroup="MQ.SMDS.*.APP1"))
    assert "NAME(SQ03APPLICATION1)" in shown
    whole = by_rest(page, "policy", examples()["sq03"].document)
    for name in ("SQ03APPLICATION1", "SQ03CSQ_ADMIN"):
        assert structure(shown, name).split() == structure(whole, name).split()
    expect(page.get_by_role("status")).to_contain_text("SQ03APPLICATION1 needs 440.9 MiB")
    assert field(page, "Messages").input_value() == "200 000"
    unfold(page, "MQSC commands")
    commands = page.get_by_role("region", name="MQSC commands")
    link = commands.get_by_role("link", name="Text of MQSC commands")
    if has_script:
        expect(link).to_have_count(0)
    else:
        link.click()
        commands = page.locator("pre")
    assert commands.text_content() == by_rest(page, "mqsc", document(dsgroup="MQ.SMDS.*.APP1"))


@pytest.mark.parametrize("has_script", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_rate_and_outage_fields_appear_only_when_chosen(new_context: NewContext, has_script: bool) -> None:
    page = new_context(java_script_enabled=has_script).new_page()
    page.goto("/calculator")
    expect(field(page, "Arrival rate")).to_be_hidden()
    page.get_by_role("radio", name=re.compile("^messages per minute")).check()
    expect(field(page, "Messages")).to_be_hidden()
    field(page, "Arrival rate").fill("1000")
    field(page, "Longest outage").fill("200")
    page.get_by_role("button", name="Calculate").click()
    expect(page.get_by_role("status")).to_contain_text("SQ03APPLICATION1 needs 440.9 MiB")
    assert policy(page).text_content() == by_rest(page, "policy", document(queue="APPLICATION1.IN"))


def test_typing_updates_the_result(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator")
    field(page, "Messages").fill("400000")
    expect(page).to_have_url(re.compile("messages=400000"))
    expected = by_rest(page, "policy", document(backlog=400_000, queue="APPLICATION1.IN"))
    expect(policy(page)).to_have_text(expected)
    assert policy(page).text_content() == expected
    expect(field(page, "Messages")).to_be_focused()
    page.reload()
    assert policy(page).text_content() == expected


def test_chart_shows_values_at_the_pointer_and_is_saved(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto("/")
    svg = page.locator("svg.wide[data-plots]")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    texts = svg.locator("g.hover text")
    expect(texts.first).to_contain_text("messages")
    expect(texts.last).to_contain_text(re.compile(r"^1024 bytes: [\d\u202f.]+ MiB$"))
    page.mouse.move(box["x"] + 1, box["y"] + 1)
    expect(texts).to_have_count(0)
    buttons = page.locator(".picture-tools").get_by_role("button")
    expect(buttons).to_have_text(
        [f"Save as {each}: Size against number of messages of 1024 bytes" for each in ("SVG", "PNG")]
    )
    with page.expect_download() as download:
        buttons.first.click()
    saved = Path(download.value.path()).read_text("utf-8")
    assert "Size against number of messages of 1024 bytes" in saved
    assert "Source: published figures, calculated by cfplan." in saved
    assert "hover" not in saved


def test_all_buttons_that_save_a_picture_look_the_same(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/style")
    buttons = page.locator("button").filter(has_text="Save as").all()
    assert {"data-do", "data-picture"} == {
        name for each in buttons for name in ("data-do", "data-picture") if each.get_attribute(name)
    }
    assert {each.get_attribute("class") for each in buttons} == {"button quiet"}


def test_figures_are_marked_as_outdated_while_a_field_is_incomplete(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator")
    before = policy(page).text_content()
    box = field(page, "Messages")
    box.fill("4OO")
    expect(page.get_by_text("Enter a whole number of at most 24 digits.")).to_be_visible()
    expect(box).to_have_accessible_description("Enter a whole number of at most 24 digits.")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text(OUTDATED)).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Fix one field to see a result.")
    expect(box).to_be_focused()
    assert box.input_value() == "4OO"
    assert policy(page).text_content() == before
    box.fill("400")
    expect(page.get_by_text(OUTDATED)).to_have_count(0)
    expect(box).to_have_accessible_description("")
    assert policy(page).text_content() != before


def test_opened_details_stay_open_when_the_figures_change(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator")
    unfold(page, "SETXCF commands")
    unfold(page, POLICY)  # it was open: this closes it
    field(page, "Queue-sharing group").fill("AB01")
    expect(page.get_by_role("heading", name="AB01APPLICATION1").first).to_be_visible()
    expect(page.get_by_role("region", name="SETXCF commands")).to_be_visible()
    expect(policy(page)).to_be_hidden()


def test_late_response_is_ignored(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator")
    held: list[Route] = []
    page.route(lambda url: "messages=111000" in url, lambda route: held.append(route))
    with page.expect_request(lambda request: "messages=111000" in request.url):
        field(page, "Messages").fill("111000")
    field(page, "Messages").fill("222000")
    expect(page).to_have_url(re.compile("messages=222000"))
    newer = policy(page).text_content()
    (late,) = held
    late.fulfill(
        status=200, content_type="text/html", body="<p id=answer data-answered>late</p><p id=summary>late"
    )
    page.evaluate("async () => (await fetch('/healthz')).text()")
    expect(page.get_by_role("status")).to_contain_text("SQ03APPLICATION1 needs")
    assert policy(page).text_content() == newer
    expect(page).to_have_url(re.compile("messages=222000"))


def test_unreachable_service_is_reported_until_it_responds_again(new_context: NewContext) -> None:
    page = new_context(expected="ERR_CONNECTION_REFUSED").new_page()
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    page.goto("/calculator")
    before = policy(page).text_content()
    page.route(lambda url: "messages=" in url, lambda route: route.abort("connectionrefused"))
    field(page, "Messages").fill("300000")
    expect(page.get_by_role("status")).to_have_text("The service does not respond.")
    expect(page.get_by_text(OUTDATED)).to_be_visible()
    assert policy(page).text_content() == before
    page.unroute_all()
    field(page, "Messages").fill("300001")
    expect(page.get_by_role("status")).to_contain_text("SQ03APPLICATION1 needs")
    expect(page.get_by_text(OUTDATED)).to_have_count(0)
    assert policy(page).text_content() != before
    assert dialogs == []


def test_error_status_of_a_response_is_reported(new_context: NewContext) -> None:
    page = new_context(expected="status of 503").new_page()
    page.goto("/calculator")
    page.route(lambda url: "messages=" in url, lambda route: route.fulfill(status=503, body="busy"))
    field(page, "Messages").fill("300000")
    expect(page.get_by_role("status")).to_have_text("The service could not answer (status 503).")


# ---- by keyboard ---------------------------------------------------------------------------------------------------

FOCUSED = """() => {
  const at = document.activeElement;
  const box = at.getClientRects()[0];
  const seen = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const label = at.labels && at.labels[0] ? at.labels[0].textContent : at.textContent;
  return {
    name: (at.getAttribute("aria-label") || label).replace(/\\s+/g, " ").trim(),
    shows: at.matches(":focus-visible") && seen !== null && (at.contains(seen) || seen.contains(at)),
  };
}"""


def tab_to(page: Page, name: str, *, at_most: int = 120) -> None:
    """Press Tab until the element with this name has the focus; each stop on the way must be visible."""
    passed: list[str] = []
    for _ in range(at_most):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        assert focused["shows"], focused["name"]
        passed.append(focused["name"])
        if focused["name"] == name:
            return
    raise AssertionError(f"{name!r} is not among {passed}")


@pytest.mark.parametrize(("width_px", "height_px"), [(1280, 720), (390, 800)])
def test_policy_is_calculated_and_downloaded_by_keyboard_only(
    new_context: NewContext, tmp_path: Path, width_px: int, height_px: int
) -> None:
    page = new_context(viewport={"width": width_px, "height": height_px}).new_page()
    page.goto("/calculator")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, "Messages", at_most=5)  # the navigation is skipped; the first visit is offered two links
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("200000")
    tab_to(page, "Queue managers")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("7")
    tab_to(page, "Space in reserve, SIZE, CSQSYSAPPL")
    page.keyboard.press("Enter")
    tab_to(page, "DSGROUP")
    page.keyboard.type("mq.smds.*.app1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("queue_managers=7.*dsgroup=mq"))
    tab_to(page, f"Download {POLICY}")
    with page.expect_download() as started:
        page.keyboard.press("Enter")
    plan = {**document(queue="APPLICATION1.IN", dsgroup="MQ.SMDS.*.APP1"), "queue_managers": 7}
    started.value.save_as(tmp_path / "policy.txt")
    assert started.value.suggested_filename == "SQ03-policy.txt"
    assert (tmp_path / "policy.txt").read_bytes().decode() == by_rest(page, "policy", plan)


def test_explanation_opens_from_its_number_by_keyboard(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator")
    page.get_by_role("link", name="440.9 MiB").first.focus()
    page.keyboard.press("Enter")
    region = page.get_by_role("region", name="Inputs of Need of APPLICATION1").locator("visible=true")
    expect(region).to_be_visible()
    expect(region).to_contain_text("200000")
    page.keyboard.press("Enter")  # the focus is on what was opened
    expect(region).to_have_count(0)


def fold(page: Page, figure: str) -> Locator:
    """Return the heading of a figure, which opens its explanation."""
    return page.locator("details.figure", has=page.locator(f"#why-APPLICATION1-{figure}")).locator("summary")


def inputs_of(page: Page, figure: str) -> Locator:
    """Return the table of the inputs of a figure, if it is shown."""
    return page.locator(f"#why-APPLICATION1-{figure}").get_by_role("region").locator("visible=true")


def test_explanations_are_loaded_once_when_the_first_is_opened(new_context: NewContext) -> None:
    page = new_context().new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/calculator?messages=300000")
    assert not [url for url in asked if "explanations" in url]
    assert page.locator(".why table").count() == 0
    fold(page, "size_kib").focus()
    page.keyboard.press("Enter")
    expect(inputs_of(page, "size_kib")).to_be_visible()
    expect(fold(page, "size_kib")).to_be_focused()
    fold(page, "messages_in_size").click()
    expect(inputs_of(page, "messages_in_size")).to_be_visible()
    assert page.get_by_role("link", name=re.compile("^Explanation of")).count() == 0
    assert len([url for url in asked if "explanations" in url]) == 1
    page.keyboard.press("Enter")
    expect(inputs_of(page, "messages_in_size")).to_have_count(0)


def test_opened_explanation_follows_the_fields(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator")
    fold(page, "need_bytes").click()
    expect(inputs_of(page, "need_bytes")).to_contain_text("200000")
    field(page, "Messages").fill("300000")
    expect(inputs_of(page, "need_bytes")).to_contain_text("300000")
    expect(field(page, "Messages")).to_be_focused()


@pytest.mark.parametrize("has_script", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_explanation_is_also_a_page(new_context: NewContext, has_script: bool) -> None:
    page = new_context(java_script_enabled=has_script, expected="ERR_FAILED").new_page()
    if has_script:  # a failure of the script leaves the link
        page.route(lambda url: "explanations" in url, lambda route: route.abort(), times=1)
    page.goto("/calculator?messages=300000")
    if has_script:
        fold(page, "need_bytes").click()
        page.get_by_role("link", name="Explanation of Need").locator("visible=true").click()
    else:
        page.locator("a#why-APPLICATION1-need_bytes").click()
    expect(page.get_by_role("heading", name="Sources of the figures")).to_be_visible()
    expect(page).to_have_url(
        re.compile(r"/calculator/explanations\?messages=300000#why-APPLICATION1-need_bytes$")
    )
    expect(inputs_of(page, "need_bytes")).to_contain_text("300000")


def test_explanations_are_printed_without_being_opened(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator?messages=300000")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".figure:not(.plain) .why table").count() > 30
    assert page.get_by_role("link", name=re.compile("^Explanation of")).count() == 0
    expect(inputs_of(page, "size_kib")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(inputs_of(page, "size_kib")).to_have_count(0)


# ---- copy, download ------------------------------------------------------------------------------------------------


def test_every_text_can_be_copied_and_downloaded(new_context: NewContext, tmp_path: Path) -> None:
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/calculator?dsgroup=MQ.SMDS.*.APP1")
    for title in (POLICY, "MQSC commands", "SETXCF commands", "Runbook", "Plan document"):
        if title != POLICY:  # which is open from the first
            unfold(page, title)
        expect(page.get_by_role("link", name="Text of ").locator("visible=true")).to_have_count(0)
        shown = page.get_by_role("region", name=title).text_content()
        page.get_by_role("button", name=f"Copy {title}").click()
        expect(page.get_by_role("button", name=f"Copied {title}")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == shown
        with page.expect_download() as started:
            page.get_by_role("link", name=f"Download {title}").click()
        started.value.save_as(tmp_path / "text")
        assert (tmp_path / "text").read_bytes().decode() == shown
    expect(page.get_by_role("button", name=f"Copy {POLICY}")).to_be_visible()  # the word comes back


def text_in(page: Page, kind: str) -> Locator:
    return page.locator(f"#text-{kind}")


def test_text_is_loaded_when_it_is_opened_and_follows_the_fields(new_context: NewContext) -> None:
    page = new_context().new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/calculator?messages=300000")
    assert not [url for url in asked if "view=text" in url]
    unfold(page, "Runbook")
    expect(text_in(page, "runbook")).to_contain_text("Planned  300000 messages")
    assert len([url for url in asked if "view=text" in url]) == 1
    field(page, "Messages").fill("310000")
    expect(text_in(page, "runbook")).to_contain_text("Planned  310000 messages")


def test_texts_are_printed_without_being_opened(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator?messages=300000")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("pre > a").count() == 0
    expect(text_in(page, "mqsc")).to_contain_text("DEFINE CFSTRUCT(APPLICATION1)")
    expect(text_in(page, "document").locator("visible=true")).to_contain_text('"backlog": 300000')


@pytest.mark.parametrize("has_script", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_text_is_also_shown_by_the_browser(new_context: NewContext, has_script: bool) -> None:
    page = new_context(java_script_enabled=has_script, expected="ERR_FAILED").new_page()
    if has_script:  # a failure of the script leaves the link
        page.route(lambda url: "view=text" in url, lambda route: route.abort(), times=1)
    page.goto("/calculator?messages=300000")
    unfold(page, "Runbook")
    page.get_by_role("link", name="Text of Runbook").click()
    expect(page.get_by_text("Planned  300000 messages")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/calculator/runbook\?messages=300000&view=text$"))


def test_text_is_selected_if_copying_is_refused(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))")
    page.goto("/calculator")
    page.get_by_role("button", name=f"Copy {POLICY}").click()
    expect(page.get_by_role("button", name=f"Selected {POLICY}")).to_be_visible()
    selected = page.evaluate("getSelection().toString()")
    assert "NAME(SQ03APPLICATION1)" in selected


def test_copied_numbers_have_no_separators(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/calculator")
    number = page.get_by_role("link", name="1200000").first
    number.evaluate("element => getSelection().selectAllChildren(element)")
    assert page.evaluate("getSelection().toString().trim()") == "1200000"
