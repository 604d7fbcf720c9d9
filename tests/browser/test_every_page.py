"""Checks of every page: accessibility, layout, browser errors, and the chosen theme."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.app.web.pages.addresses import PAGES
from tests.browser.axe import poor_contrasts, violations
from tests.browser.conftest import NewContext
from tests.browser.layout import defects_at_width

pytestmark = pytest.mark.browser

WIDTHS_PX = (1440, 1024, 390)
EVERY_PAGE = pytest.mark.parametrize("address", PAGES)
CALCULATED = [
    address for address, status in PAGES.items() if address.startswith("/calculator?") and status == 200
]
"""States of the calculator that differ from its example only in figures, checked with collapsed details."""


def unfold(page: Page, *, is_open: bool) -> None:
    """Expand or collapse all details, because hidden content must meet the rules as well.

    The menus of the bar stay closed: an open one covers the page (test_navigation.py opens them).
    """
    page.evaluate(
        "open => { for (const each of document.querySelectorAll('main details')) each.open = open; }", is_open
    )


def open_wide_and_light(page: Page, address: str) -> None:
    """Open a page in a wide window with light colors."""
    # Otherwise the browser would lay out and draw the previous page again, which no test reads.
    page.evaluate("document.documentElement.hidden = true")
    page.set_viewport_size({"width": WIDTHS_PX[0], "height": 900})
    page.emulate_media(color_scheme="light")
    page.goto(address)


@EVERY_PAGE
def test_page_is_accessible_in_light_and_dark_and_fits_every_width(page: Page, address: str) -> None:
    open_wide_and_light(page, address)
    is_calculator = address.startswith("/calculator?") or address in ("/", "/calculator")
    if address not in CALCULATED:
        unfold(page, is_open=True)
    assert violations(page) == []
    if is_calculator:  # thirty explanations have no more colours than the one on the style page
        unfold(page, is_open=False)
    page.emulate_media(color_scheme="dark")  # colours are all that differs
    assert poor_contrasts(page) == []
    unfold(page, is_open=True)
    fits_every_width(page)


def fits_every_width(page: Page) -> None:
    """Assert that nothing overflows the page, and that every text is whole and in its place, at any width."""
    for width_px in WIDTHS_PX:
        assert defects_at_width(page, width_px) == []


def is_accessible_and_fits(page: Page, address: str) -> None:
    """Assert that an expanded page meets axe's rules in light and dark, and fits every width."""
    open_wide_and_light(page, address)
    unfold(page, is_open=True)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert poor_contrasts(page) == []
    fits_every_width(page)
    page.set_viewport_size({"width": WIDTHS_PX[0], "height": 900})


ADD = """html => {
  document.querySelector("main").insertAdjacentHTML("beforeend", html);
  for (const each of document.querySelectorAll("[data-style]")) each.style.cssText = each.dataset.style;
}"""


def test_text_with_low_contrast_is_detected_anywhere(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    for added in (
        "<p class='a'>words</p><p class='a' id='bad' data-style='color: #aaa'>words</p>",
        "<div><p>words</p></div><div data-style='background: #777'><p id='bad'>words</p></div>",
        "<p>words</p><div data-style='opacity: 0.3'><p id='bad'>words</p></div>",
        "<input aria-label='a' value='a'><input aria-label='b' id='bad' data-style='color: #aaa' value='b'>",
    ):
        page.goto("/nothing/here")
        page.evaluate(ADD, added)
        (found,) = poor_contrasts(page)
        assert "#bad" in found, added
        (found,) = violations(page)
        assert found.startswith("color-contrast")


OF_LINKS = "link-in-text-block: "
TEXT = "<p data-style='color: #000; {}'>words {} words</p>"
LINK = "<a {} href='/' data-style='text-decoration: none; color: #333; {}'>link</a>"
BAD = LINK.format("id='bad'", "")
LIKE_ITS_TEXT = {
    "link after one without text around it": (
        f"<p data-style='color: #000'>{LINK.format('', '')}</p>{TEXT.format('', BAD)}"
    ),
    "link in text of another colour": (
        TEXT.format("color: #fff; background: #000", LINK.format("", "color: #888"))
        + TEXT.format("color: #bbb; background: #000", LINK.format("id='bad'", "color: #888"))
    ),
    "link in bold text": (
        TEXT.format("", LINK.format("", "font-weight: 700"))
        + TEXT.format("font-weight: 700", LINK.format("id='bad'", "font-weight: 700"))
    ),
    "link without a line below": TEXT.format("", LINK.format("", "border-bottom: 1px solid"))
    + TEXT.format("", BAD),
    "element with the role of a link": TEXT.format(
        "", BAD.replace("<a", "<span role='link' tabindex='0'").replace("</a>", "</span>")
    ),
}
"""Each has a link before that axe ignores or permits; axe permits links of exactly the same colour as their text."""


@pytest.mark.parametrize("name", LIKE_ITS_TEXT)
def test_link_that_looks_like_its_text_is_detected_after_links_that_do_not(page: Page, name: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/nothing/here")
    page.evaluate(ADD, "<p>words <a href='/'>link</a> words</p>" + LIKE_ITS_TEXT[name])
    for _ in range(2):  # a page that has failed fails again
        (found,) = violations(page)
        assert found == f"{OF_LINKS}[['#bad']]"


DEFECTS_OF_ALL_KINDS = """
  <h2></h2><h5>a</h5><img src="/"><button></button><input><select><option>a</option></select><a href="/"></a>
  <ul><p>a</p></ul><dl><p>a</p></dl><main>a</main><nav>a</nav><nav>b</nav><div role="nothing">a</div>
  <div role="checkbox">a</div><div aria-nothing="a">a</div><div id="a" aria-hidden="true"><a href="/">a</a></div>
  <table><tr><th scope="nothing"></th></tr></table><button tabindex="3">a<input aria-label="a"></button>
  <iframe></iframe><div data-style="overflow: auto; block-size: 1rem"><p>a</p><p>a</p></div><li>a</li><meter></meter>
  <p data-style="color: #aaa">words</p><p data-style="color: #000">words <a href="/" data-style="color: #333; text-decoration: none">link</a> words</p>
"""


def test_every_defect_that_axe_finds_by_itself_is_found(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/nothing/here")
    assert violations(page) == []
    page.evaluate(ADD, DEFECTS_OF_ALL_KINDS)
    found = {each.partition(":")[0] for each in violations(page)}
    page.goto("/nothing/here")
    page.evaluate(ADD, DEFECTS_OF_ALL_KINDS)
    page.evaluate(Axe().axe_script)
    by_itself = set(page.evaluate("async () => (await axe.run()).violations.map(({ id }) => id)"))
    assert {"color-contrast", "link-in-text-block"} < by_itself
    assert len(by_itself) > 20
    assert found == by_itself


def test_navigation_links_and_theme_button_do_not_overlap(page: Page) -> None:
    page.goto("/")
    for width_px in (1440, 1120, 1024, 960, 840):
        page.set_viewport_size({"width": width_px, "height": 900})
        over_px = page.evaluate(
            "() => { const theme = document.querySelector('.bar .theme').getBoundingClientRect().left;"
            " return Math.max(...[...document.querySelectorAll('.nav-top, .site-search')].map(a => a.getBoundingClientRect().right - theme)); }"
        )
        assert over_px <= 0, f"the last link lies {over_px} px under the button at {width_px}"


def test_chosen_theme_is_kept_on_every_page(new_context: NewContext) -> None:
    context = new_context(color_scheme="light")
    page = context.new_page()
    page.goto("/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    button = page.get_by_role("button", name="Theme")
    expect(button).to_have_accessible_name("Theme: auto")
    button.click()
    expect(button).to_have_accessible_name("Theme: light")
    button.click()
    expect(button).to_have_accessible_name("Theme: dark")
    dark = page.evaluate(background)
    assert dark != light
    for address in ("/docs", "/reference", "/nothing/here"):
        page.goto(address)
        assert page.evaluate(background) == dark
        expect(button).to_have_accessible_name("Theme: dark")
    button.click()
    page.reload()
    expect(button).to_have_accessible_name("Theme: auto")
    assert page.evaluate(background) == light


def test_pages_without_storage_or_scripts_use_the_theme_of_the_system(new_context: NewContext) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    seen = set()
    for scheme in ("light", "dark"):
        page = new_context(color_scheme=scheme).new_page()
        page.add_init_script(
            "Object.defineProperty(window, 'localStorage', { get() { throw new Error('off'); } })"
        )
        page.goto("/")
        seen.add(page.evaluate(background))
        page.get_by_role("button", name="Theme").click()
        expect(page.get_by_role("button", name="Theme")).to_have_accessible_name("Theme: light")
    assert len(seen) == 2


def test_scripts_forbidden_by_the_policy_do_not_run(new_context: NewContext) -> None:
    page = new_context(expected="Content Security Policy").new_page()
    page.goto("/")
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "document.title = 'inline script has run'";
          document.body.append(script);
        }"""
    )
    assert page.title() == "Quick calculator · cfplan"
