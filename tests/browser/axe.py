"""Accessibility problems that axe finds on a page.

Contrast checks are the most expensive part and give the same result for texts of one style, so only the first text of
each style is checked.
"""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_AXE = Axe().axe_script
_CONTRAST = "color-contrast"
_MARK_KINDS = """() => {
  for (const each of document.querySelectorAll("[data-kind]")) each.removeAttribute("data-kind");
  const behind = new Map();
  const ground = (each) => {
    if (!each) return "";
    if (!behind.has(each)) {
      const { backgroundColor, backgroundImage, opacity, position, filter, mixBlendMode } = getComputedStyle(each);
      behind.set(each, [ground(each.parentElement), backgroundColor, backgroundImage, opacity, position, filter,
        mixBlendMode].join());
    }
    return behind.get(each);
  };
  const seen = new Set();
  const look = (each) => {
    if (!each.checkVisibility()) return;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(each);
    const kind = JSON.stringify([each.localName, each.getAttribute("class"), each.parentElement.getAttribute("class"),
      each.matches(":disabled"), color, fontSize, fontWeight, textShadow, ground(each)]);
    if (!seen.has(kind)) each.setAttribute("data-kind", "");
    seen.add(kind);
  };
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) if (words.currentNode.data.trim()) look(words.currentNode.parentElement);
  document.querySelectorAll("input, select, textarea").forEach(look);
  return seen.size;
}"""
"""Marks the first visible text of each style: element name and classes, colour, weight, size, and background."""
_RUN = """([context, options]) => axe.run(context, { resultTypes: ["violations"], ...options })
  .then(({ violations }) => violations)"""


def violations(page: Page) -> list[str]:
    """Return the problems that axe finds outside the API documentation, which another project renders."""
    return [*_run(page, {}, rules={_CONTRAST: {"enabled": False}}), *poor_contrasts(page)]


def poor_contrasts(page: Page) -> list[str]:
    """Return texts with low contrast, the only difference between themes."""
    assert page.evaluate(_MARK_KINDS) > 0
    return _run(page, {"include": [["[data-kind]"]]}, runOnly=[_CONTRAST])


def _run(page: Page, context: dict[str, Any], **options: object) -> list[str]:
    if page.evaluate("!window.axe"):
        page.evaluate(_AXE)
    found = page.evaluate(_RUN, [{**context, "exclude": [["#api-docs"]]}, options])
    return [f"{each['id']}: {[node['target'] for node in each['nodes']][:5]}" for each in found]
