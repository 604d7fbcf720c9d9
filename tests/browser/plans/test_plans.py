"""Plans in a real browser: typed input, concurrent editors, keyboard, and accessibility."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from app.texts.documents import example_text, read_text
from tests.browser.axe import problems_at_every_width
from tests.serving import ANSWER_S

pytestmark = pytest.mark.browser


def save_example(page: Page, name: str = "SQ03") -> None:
    page.goto("/new-plan?from=example")
    page.get_by_label("Name", exact=True).first.fill(name)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def at(page: Page, pointer: str) -> Locator:
    return page.locator(f'[name="{pointer}"]')


def open_more(page: Page, part: str = "/more") -> None:
    """Show the collapsed fields of the group, of a structure, or the collapsed columns of its queues."""
    page.locator(f'summary:has([data-settings="{part}"])').click()


def test_plan_entered_in_the_editor_gives_the_same_policy_as_rest_and_command_line(
    page: Page, base: str, tmp_path: Path
) -> None:
    page.goto("/plans")
    page.get_by_role("link", name="New plan").click()
    page.get_by_label("Name", exact=True).first.fill("SQ03")
    page.get_by_label("Queue-sharing group").fill("SQ03")
    page.get_by_role("textbox", name="Queue managers").fill("5")
    for number, site in ((0, "SITE1"), (1, "SITE2")):
        page.get_by_role("button", name="Add a coupling facility").click()
        facility = f"/coupling_facilities/{number}"
        at(page, f"{facility}/name").fill(f"CF0{number + 1}")
        at(page, f"{facility}/size").fill("64G")
        at(page, f"{facility}/cfcc_level").fill("25")
        page.locator(f'[id="{facility}"] details.more > summary').click()
        at(page, f"{facility}/site").select_option(site)
    at(page, "/structures/0/name").fill("APPLICATION1")
    open_more(page, "/structures/0")
    at(page, "/structures/0/preflist").fill("CF01 CF02")
    at(page, "/structures/0/offload/dsgroup").fill("MQ.SMDS.*.APP1")
    first = "/structures/0/queues/0"
    at(page, f"{first}/name").fill("PAYMENTS.IN")
    at(page, f"{first}/message_bytes").fill("1024")
    at(page, f"{first}/backlog").fill("200000")
    open_more(page, "/structures/0/queues")
    at(page, f"{first}/persistent").check()
    page.get_by_role("button", name="Add a structure").click()
    expect(at(page, "/structures/1/name")).to_be_focused()
    at(page, "/structures/1/name").fill("MYDATA")
    open_more(page, "/structures/1")
    at(page, "/structures/1/preflist").fill("CF02 CF01")
    at(page, "/structures/1/offload/dsgroup").fill("MQ.SMDS.*.MYDATA")
    second = "/structures/1/queues/0"
    at(page, f"{second}/name").fill("ORDERS.IN")
    at(page, f"{second}/message_bytes").fill("3500/12000/60000")
    at(page, f"{second}/put_rate_per_s").fill("40")
    at(page, f"{second}/outage_minutes").fill("90")
    open_more(page, "/structures/1/queues")
    at(page, f"{second}/persistent").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Saved. Next:")
    page.get_by_role("link", name="Policy and commands").click()
    shown = page.locator("#text-policy").text_content()
    document = read_text(example_text().encode()).model_dump_json()
    asked = httpx.post(
        f"{base}/api/v1/policy",
        content=document,
        headers={"content-type": "application/json"},
        timeout=ANSWER_S,
    )
    stored = httpx.get(f"{base}/api/v1/plans/SQ03/policy", timeout=ANSWER_S)
    file = tmp_path / "sq03.yaml"
    file.write_text(example_text(), encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-m", "app.cli", "plan", str(file), "--output", "policy"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown == asked.text == stored.text == told.stdout


def test_typing_updates_the_result_and_shows_errors_next_to_their_fields(page: Page) -> None:
    save_example(page)
    page.goto("/plans/SQ03/edit")
    summary = page.locator("#summary")
    before = summary.text_content() or ""
    backlog = at(page, "/structures/0/queues/0/backlog")
    backlog.fill("400000")
    expect(summary).not_to_have_text(before)
    backlog.fill("2OO")
    expect(page.locator('[id="/structures/0/queues/0/backlog-error"]')).to_have_text(
        "Must be a whole number."
    )
    expect(page.get_by_text("These figures belong to the previous input.")).to_be_visible()
    backlog.fill("200000")
    expect(summary).to_have_text(before)
    expect(page.locator('[id="/structures/0/queues/0/backlog-error"]')).to_have_count(0)


def test_finding_links_to_the_field_that_causes_it(page: Page) -> None:
    save_example(page)
    page.goto("/plans/SQ03/edit")
    open_more(page, "/structures/0")
    at(page, "/structures/0/initsize").fill("100M")
    found = page.locator("#panel li.finding", has_text="INITSIZE_BELOW_NEED")
    found.get_by_role("link", name="APPLICATION1: INITSIZE").click()
    assert page.url.endswith("#/structures/0/initsize")


def test_concurrent_edits_by_two_users_are_both_kept(page: Page) -> None:
    save_example(page)
    other = page.context.new_page()
    for each in (page, other):
        each.goto("/plans/SQ03/edit")
    at(page, "/structures/0/queues/0/backlog").fill("250000")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as a new version.")).to_be_visible()
    open_more(other, "/structures/1")
    at(other, "/structures/1/full_threshold").fill("80")
    other.get_by_role("button", name="Save", exact=True).click()
    expect(other.get_by_role("heading", level=1)).to_have_text("SQ03 has changed in the meantime")
    expect(other.get_by_role("row", name="queue PAYMENTS.IN: Backlog 200000 250000 200000")).to_be_visible()
    expect(other.get_by_role("row", name="Structure MYDATA: FULLTHRESHOLD 85 85 80")).to_be_visible()
    other.get_by_role("button", name="Merge both").click()
    other.get_by_role("button", name="Save", exact=True).click()
    expect(other.get_by_text("Saved as a new version.")).to_be_visible()
    other.goto("/plans/SQ03/edit")
    expect(at(other, "/structures/0/queues/0/backlog")).to_have_value("250000")
    expect(at(other, "/structures/1/full_threshold")).to_have_value("80")


def test_form_submitted_before_its_page_has_loaded_shows_no_warning(page: Page) -> None:
    save_example(page)
    page.goto("/plans/SQ03/edit")
    at(page, "/structures/0/queues/0/backlog").fill("250000")
    is_asked = page.evaluate(
        """() => {
          const form = document.getElementById("plan");
          form.addEventListener("submit", (event) => event.preventDefault());
          form.requestSubmit();
          dispatchEvent(new PageTransitionEvent("pageshow", { persisted: false }));
          return !dispatchEvent(new Event("beforeunload", { cancelable: true }));
        }"""
    )
    assert not is_asked


def test_plan_is_changed_and_saved_by_keyboard_only(page: Page) -> None:
    save_example(page)
    page.goto("/plans/SQ03/edit")
    reached: list[str] = []
    for _ in range(200):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()")
        if name in reached[-1:] and name == "":
            break
        reached.append(name)
        if name.startswith("More CFCC level"):
            page.keyboard.press("Enter")
        if name == "/cfcc_level":
            page.keyboard.press("Control+a")
            page.keyboard.type("24")
        if page.evaluate("document.activeElement.value === 'save'"):
            page.keyboard.press("Enter")
            break
    assert {"/qsg", "/cfcc_level", "/structures/0/name", "/structures/0/queues/0/backlog", "comment"} <= set(
        reached
    )
    expect(page.get_by_text("Saved as a new version.")).to_be_visible()


def test_500_pasted_queues_are_shown(page: Page) -> None:
    page.goto("/new-plan")
    page.get_by_label("Name", exact=True).first.fill("MANY")
    page.get_by_label("Queue-sharing group").fill("QSG1")
    page.get_by_role("textbox", name="Queue managers").fill("4")
    at(page, "/structures/0/name").fill("APP")
    page.get_by_text("Paste many queues").click()
    lines = "".join(f"APP.Q{n}\t1024\t1000\n" for n in range(512))
    at(page, "/structures/0/paste").fill("name\tmessage_bytes\tbacklog\n" + lines)
    page.get_by_role("button", name="Add these queues").click()
    expect(page.get_by_text("512 queues were added")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="QSG1APP", exact=True).click()
    expect(page.get_by_role("heading", name="Queues 512")).to_be_visible()


PAGES = (
    "/plans", "/new-plan", "/plans/SQ03", "/plans/SQ03?tab=findings", "/plans/SQ03?tab=queues", "/plans/SQ03/what-if", "/plans/SQ03/edit", "/plans/SQ03/history", "/plans/SQ03/compare?from=1&to=2",
    "/plans/SQ03/advice", "/plans/SQ03/versions/1", "/plans/SQ03/versions/1/print", "/sheet?plan=SQ03",
    "/plans/SQ03/versions/2/structures/MYDATA", "/plans/SQ03/versions/2/structures/MYDATA/explanations", "/import-plans", "/deleted-plans", "wrong", "conflict",
)  # fmt: skip


def open_page(page: Page, path: str) -> None:
    if path not in ("wrong", "conflict"):
        page.goto(path)
        return
    page.goto("/plans/SQ03/edit")
    open_more(page)
    at(page, "/cfcc_level").fill("23" if path == "conflict" else "x")
    if path == "conflict":
        page.evaluate("document.querySelector('[name=etag]').value = '\"1.1\"'")
        page.evaluate("document.querySelector('[name=base]').value = '1'")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/plans/SQ03/edit")
    expect(page.locator("#wrong-list" if path == "wrong" else "table.diff")).to_be_visible()


def test_pages_have_no_accessibility_violations_and_do_not_overflow(page: Page) -> None:
    save_example(page)
    page.goto("/plans/SQ03/edit")
    open_more(page, "/structures/0")
    at(page, "/structures/0/initsize").fill("100M")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as a new version.")).to_be_visible()
    found: list[str] = []
    for path in PAGES:
        page.set_viewport_size({"width": 1440, "height": 900})
        open_page(page, path)
        found += [f"{path}: {each}" for each in problems_at_every_width(page)]
    assert found == []


def test_rows_are_added_and_the_plan_is_saved_without_scripts(page: Page, base: str) -> None:
    assert page.context.browser is not None
    context = page.context.browser.new_context(base_url=base, java_script_enabled=False)
    plain = context.new_page()
    save_example(plain)
    plain.goto("/plans/SQ03/edit")
    plain.get_by_role("button", name="Add a queue to MYDATA").click()
    expect(at(plain, "/structures/1/queues/1/name")).to_be_in_viewport()
    at(plain, "/structures/1/queues/1/name").fill("MORE.IN")
    at(plain, "/structures/1/queues/1/message_bytes").fill("100")
    at(plain, "/structures/1/queues/1/backlog").fill("10")
    plain.get_by_role("button", name="Save", exact=True).click()
    expect(plain.get_by_text("Saved as a new version.")).to_be_visible()
    plain.get_by_role("link", name="SQ03MYDATA").click()
    for table in ("Table: queues", "Table: queue depths"):
        region = plain.get_by_role("region", name=table, exact=True)
        expect(region.get_by_role("rowheader", name="MORE.IN")).to_be_visible()
    context.close()


def test_input_before_an_added_structure_survives_a_reload(page: Page) -> None:
    save_example(page)
    page.goto("/plans/SQ03/edit")
    open_more(page)
    at(page, "/cfcc_level").fill("24")
    page.get_by_role("button", name="Add a structure").click()
    expect(at(page, "/structures/2/name")).to_be_focused()
    page.reload()
    expect(at(page, "/cfcc_level")).to_have_value("24")


@pytest.mark.parametrize("way", ["add", "merge", "take over"])
def test_leaving_a_form_filled_by_a_button_shows_a_warning(page: Page, way: str) -> None:
    save_example(page)
    if way == "take over":
        page.goto("/plans/SQ03/edit")
        open_more(page, "/structures/0/queues")
        at(page, "/structures/0/queues/0/selector_reads").check()
        page.get_by_role("button", name="Add a queue to APPLICATION1").click()
        for key, text in (("name", "DEEP.Q"), ("message_bytes", "100"), ("backlog", "5")):
            at(page, f"/structures/0/queues/1/{key}").fill(text)
        page.get_by_role("button", name="Save", exact=True).click()
        page.goto("/plans/SQ03/advice")
        page.get_by_role("button", name="Open the proposal in the editor").click()
    else:
        page.goto("/plans/SQ03/edit")
        if way == "merge":
            open_more(page, "/structures/1")
            at(page, "/structures/1/full_threshold").fill("80")
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_text("Saved as a new version.")).to_be_visible()
            open_page(page, "conflict")
            page.get_by_role("button", name="Merge both").click()
        else:
            page.get_by_role("button", name="Add a structure").click()
    expect(page.get_by_role("heading", level=1, name="Edit SQ03")).to_be_visible()
    page.get_by_role(
        "heading", level=1
    ).click()  # browsers ask only those who have done something in the page
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", answer)
    page.goto("/plans")
    assert asked == ["beforeunload"]


def test_focus_stays_near_a_removed_row(page: Page) -> None:
    save_example(page)
    page.goto("/plans/SQ03/edit")
    page.get_by_role("button", name="Add a queue to MYDATA").click()
    page.get_by_role("button", name="Remove ORDERS.IN").click()
    expect(at(page, "/structures/1/queues/1/name")).to_be_focused()
    page.get_by_role("button", name="Remove queue").click()
    expect(page.get_by_role("button", name="Add a queue to MYDATA")).to_be_focused()
    page.get_by_role("button", name="Remove this structure APPLICATION1").click()
    expect(page.locator("details.structure > summary")).to_be_focused()
    page.get_by_role("button", name="Remove CF01").click()
    expect(at(page, "/coupling_facilities/1/name")).to_be_focused()


def test_enter_in_a_field_checks_the_form_and_keeps_the_focus(page: Page) -> None:
    save_example(page)
    page.goto("/plans/SQ03/edit")
    at(page, "/qsg").fill("toolong")
    structure = at(page, "/structures/1/name")
    structure.press("Enter")
    expect(page.locator("#wrong-list")).to_be_attached()
    expect(structure).to_be_focused()
    expect(structure).to_be_in_viewport()
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#wrong-list")).to_be_focused()
    at(page, "/qsg").fill("SQ03")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#wrong-list")).to_have_count(0)
    expect(page.get_by_role("button", name="Check")).to_be_focused()


def test_missing_values_of_a_new_plan_are_listed_with_links(page: Page) -> None:
    page.goto("/new-plan")
    page.get_by_label("Queue-sharing group").fill("SQ03")
    page.locator("#panel").get_by_role("link", name="Queue managers").click()
    expect(page.get_by_role("textbox", name="Queue managers")).to_be_in_viewport()
    expect(page.locator(".field.is-wrong")).to_have_count(0)


def save_document(page: Page, name: str, **changed: object) -> None:
    document = json.loads(read_text(example_text().encode()).model_dump_json())
    for queue, values in changed.items():
        for structure in document["structures"]:
            for each in structure["queues"]:
                if each["name"].replace(".", "_") == queue:
                    each.update(values)
    answer = page.request.put(f"/api/v1/plans/{name}", data=document)
    assert answer.status == 201, answer.text()


def test_queue_row_shows_all_values(page: Page) -> None:
    longest = "PAYMENTS.INCOMING.FROM.THE.BRANCHES.HIGH.VALUE.1"
    values = {
        "name": longest,
        "message_bytes": {"mean": 3500, "p95": 12000, "max": 60000},
        "backlog": 3_000_000,
    }
    save_document(page, "SQ03", PAYMENTS_IN=values)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/plans/SQ03/edit")
    for key in ("name", "message_bytes", "backlog"):
        entry = at(page, f"/structures/0/queues/0/{key}")
        assert entry.evaluate("e => e.scrollWidth <= e.clientWidth"), key
    tops = page.locator('[id="/structures/0/queues/0"] input:visible').evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().top)"
    )
    assert len(tops) == 5
    assert max(tops) - min(tops) < 2


def test_summary_stays_visible_on_a_phone_and_links_to_saving(page: Page) -> None:
    save_document(page, "SQ03")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/plans/SQ03/edit")
    expect(page.locator("#summary")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Save", exact=True)).not_to_be_in_viewport()
    at(page, "/structures/1/name").focus()
    expect(page.locator("#summary")).to_be_in_viewport(ratio=1)
    page.get_by_role("link", name="Save, result").click()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_in_viewport(ratio=1)
    for link in page.get_by_role("navigation", name="Main").get_by_role("link").all():
        page.evaluate("scrollTo(0, 0)")
        expect(link).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("minutes", [30, 90, 106, 150, 400])
def test_chart_labels_do_not_overlap(page: Page, minutes: int) -> None:
    save_document(page, "SQ03", ORDERS_IN={"outage_minutes": minutes})
    page.goto("/plans/SQ03/versions/1/structures/MYDATA")
    boxes = page.locator(".chart.fill .wide text.halo").evaluate_all(
        "all => all.map(e => { const b = e.getBBox(); return [b.x, b.y + 2, b.x + b.width, b.y + b.height - 3] })"
    )
    lines = page.locator(".chart.fill .wide line.level, .chart.fill .wide line.lead").evaluate_all(
        "all => all.map(e => [e.x1, e.y1, e.x2, e.y2].map(v => v.baseVal.value))"
    )
    assert len(boxes) == 5
    everything = [*boxes, *lines]
    for number, (left, top, right, bottom) in enumerate(boxes):
        for x1, y1, x2, y2 in (*everything[:number], *everything[number + 1 :]):
            assert not (left < x2 and x1 < right and top <= y2 and y1 <= bottom), (number, boxes, lines)


def test_page_with_a_proposal_is_accessible(page: Page) -> None:
    document = json.loads(read_text(example_text().encode()).model_dump_json())
    deep = {"name": "DEEP", "message_bytes": 100, "backlog": 5, "selector_reads": True}
    document["structures"][0]["queues"].append(deep)
    assert page.request.put("/api/v1/plans/SQ03", data=document).status == 201
    page.goto("/plans/SQ03/advice")
    expect(page.get_by_role("heading", name="Sizes before and after")).to_be_visible()
    assert problems_at_every_width(page) == []
