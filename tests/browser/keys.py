"""Pages by keyboard only: every control is reached in order, has a visible focus, and releases it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

CONTROLS = """[...document.querySelectorAll(
  "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]")].filter((each) => {
    if (each.tabIndex < 0 || each.matches(":disabled")) return false;
    if (!each.checkVisibility({ visibilityProperty: true })) return false;
    if (each.type !== "radio") return true;
    /* of radio buttons that belong together one is reached, the others with the arrows */
    const group = [...document.getElementsByName(each.name)].filter((one) => one.form === each.form);
    return each === (group.find((one) => one.checked) ?? group[0]);
  })"""
"""Every control that Tab should reach, in the order of the document."""
WATCH_FOCUS = """() => {
  const look = (each) => [each, each.closest(".box") ?? each].map((one) => {
    const style = getComputedStyle(one);
    return [style.outlineStyle, style.outlineWidth, style.outlineColor].join(" ");
  }).join(" / ");
  const focused = () => {
    const active = document.activeElement;
    if (!active || active === document.body) return { at: -1 };
    if (active.closest("#api-docs")) return { at: -2 };
    const at = window.keys.all.indexOf(active);
    const box = active.getBoundingClientRect();
    const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
    const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
    const points = [0.5, 0.1, 0.9].flatMap((x) => [0.5, 0.1, 0.9].map((y) =>
      document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y)));
    return {
      at,
      html: active.outerHTML.slice(0, 120),
      isOutlined: at >= 0 && look(active) !== window.keys.looks[at],
      isSeen: right - left > 0 && bottom - top > 0
        && points.some((on) => on && (active.contains(on) || on.contains(active) || on.closest("label")?.control === active)),
    };
  };
  const all = CONTROLS.filter((each) => !each.closest("#api-docs"));
  window.keys = { all, looks: all.map(look), focused, trail: [] };
  /* before a key moves the focus on: where the previous one has moved it */
  addEventListener("keydown", (event) => event.key === "Tab" && window.keys.trail.push(focused()), true);
  return all.map((each) => each.outerHTML.slice(0, 120));
}""".replace("CONTROLS", CONTROLS)
"""Records where each press of Tab moves the focus. Returns the controls that Tab should reach, in the order of the document."""
TAKE_TRAIL = "() => [...window.keys.trail.splice(0), window.keys.focused()].slice(1)"
"""Where the presses of Tab since the last call have moved the focus."""
TABS_BETWEEN = """(wanted) => {
  const all = CONTROLS;
  const at = all.indexOf(wanted), now = all.indexOf(document.activeElement);
  return at < 0 || at === now ? 0 : at - now + (at > now ? 0 : all.length);
}""".replace("CONTROLS", CONTROLS)
"""At least how often Tab must be pressed to reach an element; the parts of a date are not counted."""
LEAST_TABS_ON_A_PAGE = 8  # the skip link, the mark, two sections, three menus, the search box
MOST_STOPS_IN_ANOTHER_PROJECTS_PART = 3000
MOST_STOPS_IN_A_CONTROL = 50


def press_tab(page: Page, times: int) -> None:
    """Press Tab several times.

    The browser draws the page once for several keys if it has them at the same time, which costs a third. Playwright's
    synchronous interface would wait for each key.
    """

    async def press_all() -> None:
        keyboard = page.keyboard._impl_obj
        await asyncio.gather(*(keyboard.press("Tab", delay=None) for _ in range(times)))

    page._sync(press_all())


def walk(page: Page, *, least: int = LEAST_TABS_ON_A_PAGE) -> list[str]:
    """Go through a page with Tab and return the controls in the order in which they are reached.

    Assert that every control is reached once and in the order of the document, has a visible focus and releases it, and that Shift and Tab goes back.
    """
    expected: list[str] = page.evaluate(WATCH_FOCUS)
    assert len(expected) >= least
    assert page.locator("[tabindex]:not([tabindex='0'], [tabindex='-1']):not(#api-docs *)").count() == 0
    reached: list[int] = []
    strangers = inside = 0
    is_after_strangers = False  # whether only the last control follows the other project's part
    for found in _stops(page, len(expected) + 1):
        if found["at"] == -2:  # another project's part of the page: it lets go of the focus in the end
            strangers += 1
            assert strangers < MOST_STOPS_IN_ANOTHER_PROJECTS_PART
            is_after_strangers = True
            continue
        if "html" not in found or (found["at"] == 0 and len(reached) > 1):
            break  # left to the browser, which begins again at the top when it has nothing of its own to offer
        assert found["at"] >= 0, f"{found['html']} has the focus and should not"
        assert found["isOutlined"], f"{found['html']} does not show that it has the focus"
        assert found["isSeen"], f"{found['html']} has the focus and is out of sight"
        if reached and found["at"] == reached[-1]:  # a date has a stop each for day, month, year and calendar
            inside += 1
            assert inside < MOST_STOPS_IN_A_CONTROL
            continue
        is_after_strangers = is_after_strangers and found["at"] == len(expected) - 1
        reached.append(found["at"])
        assert len(reached) <= len(expected), "the focus goes round in circles"
    assert [expected[at] for at in reached] == expected
    page.evaluate("window.keys.all.at(-1).focus()")
    page.keyboard.press("Shift+Tab")
    back = page.evaluate("window.keys.focused()")
    assert back["at"] == (-2 if is_after_strangers else len(expected) - 2), "it goes backwards too"
    return expected


def _stops(page: Page, times: int) -> Iterator[dict[str, Any]]:
    """Press Tab and yield where each press has moved the focus, without end."""
    while True:
        press_tab(page, times)
        stops = page.evaluate(TAKE_TRAIL)
        assert len(stops) == times
        yield from stops


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until this element has the focus."""
    expect(wanted).to_have_count(1)
    press_tab(page, wanted.evaluate(TABS_BETWEEN))
    for _ in range(400):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {wanted}")


def press(page: Page, role: Any, name: str | re.Pattern[str], key: str = "Enter") -> None:  # noqa: ANN401 - any role
    """Move the focus to an element and press a key on it."""
    tab_to(page, page.get_by_role("main").get_by_role(role, name=name, exact=isinstance(name, str)))
    page.keyboard.press(key)
