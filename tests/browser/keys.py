"""Pages by keyboard only: every control is reached in order, has a visible focus, and releases it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

MARK = """() => {
  const seen = (each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest("#api-docs");
  const takes = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
  const first = new Map();
  const all = [...document.querySelectorAll(takes)].filter((each) => {
    if (each.tabIndex < 0 || each.disabled || !seen(each)) return false;
    if (each.type !== "radio") return true;
    /* of radio buttons that belong together one is reached, the others with the arrows */
    const group = [...document.getElementsByName(each.name)].filter((one) => one.form === each.form);
    return each === (group.find((one) => one.checked) ?? group[0]);
  });
  window.marked = all.map((each) => [each, look(each)]);
  function look(each) {
    return [each, each.closest(".box") ?? each].map((one) => {
      const style = getComputedStyle(one);
      return [style.outlineStyle, style.outlineWidth, style.outlineColor].join(" ");
    }).join(" / ");
  }
  window.lookOf = look;
  return all.map((each) => each.outerHTML.slice(0, 120));
}"""
"""Every control that Tab should reach, in the order of the document, with its style before focus."""
FOCUSED = """() => {
  const active = document.activeElement;
  if (!active || active === document.body) return { at: -1 };
  if (active.closest("#api-docs")) return { at: -2 };
  const at = window.marked.findIndex(([each]) => each === active);
  const box = active.getBoundingClientRect();
  const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
  const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
  const points = [0.5, 0.1, 0.9].flatMap((x) => [0.5, 0.1, 0.9].map((y) =>
    document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y)));
  return {
    at,
    html: active.outerHTML.slice(0, 120),
    isOutlined: at >= 0 && window.lookOf(active) !== window.marked[at][1],
    isSeen: right - left > 0 && bottom - top > 0
      && points.some((on) => on && (active.contains(on) || on.contains(active) || on.closest("label")?.control === active)),
  };
}"""
LEAST_TABS_ON_A_PAGE = 8  # the skip link, the mark, five sections, the theme


def walk(page: Page) -> list[str]:
    """Go through a page with Tab and return the controls in the order in which they are reached.

    Assert that every control is reached once and in the order of the document, has a visible focus and releases it, and that Shift and Tab goes back.
    """
    expected: list[str] = page.evaluate(MARK)
    assert len(expected) >= LEAST_TABS_ON_A_PAGE
    assert page.locator("[tabindex]:not([tabindex='0'], [tabindex='-1']):not(#api-docs *)").count() == 0
    reached: list[int] = []
    strangers = inside = 0
    while True:
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found["at"] == -2:  # another project's part of the page: it lets go of the focus in the end
            strangers += 1
            assert strangers < 3000
            continue
        if "html" not in found or (found["at"] == 0 and len(reached) > 1):
            break  # left to the browser, which begins again at the top when it has nothing of its own to offer
        assert found["at"] >= 0, f"{found['html']} has the focus and should not"
        assert found["isOutlined"], f"{found['html']} does not show that it has the focus"
        assert found["isSeen"], f"{found['html']} has the focus and is out of sight"
        if reached and found["at"] == reached[-1]:  # a date has a stop each for day, month, year and calendar
            inside += 1
            assert inside < 50
            continue
        reached.append(found["at"])
        assert len(reached) <= len(expected), "the focus goes round in circles"
    assert [expected[at] for at in reached] == expected
    page.evaluate("window.marked.at(-1)[0].focus()")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUSED)["at"] == (-2 if strangers else len(expected) - 2), "it goes backwards too"
    return expected


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until this element has the focus."""
    expect(wanted).to_have_count(1)
    for _ in range(400):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {wanted}")


def press(page: Page, role: Any, name: str | re.Pattern[str], key: str = "Enter") -> None:  # noqa: ANN401 - any role
    """Move the focus to an element and press a key on it."""
    tab_to(page, page.get_by_role("main").get_by_role(role, name=name, exact=isinstance(name, str)))
    page.keyboard.press(key)
