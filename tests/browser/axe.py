"""Accessibility problems that axe finds on a page.

Contrast checks are the most expensive part and give the same result for texts of one style. So only the first text of a
style is checked, and no text whose style has passed before in this process, on any page of the same width. Links are
compared with the text around them until one of their style has passed. axe ignores links without text around them, so all
links of a style are checked, not only the first. If neither texts nor links are left, axe does not have to find out
which elements lie on each other.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.layout import layout_defects
from tests.serving import SCRIPTS

_CONTRAST = "color-contrast"
_LINKS = "link-in-text-block"
_SETTINGS = {
    "noHtml": True,  # of elements, which no test reads
    "rules": [
        {"id": _CONTRAST, "selector": "[data-unchecked]"},
        {"id": _LINKS, "selector": "[data-unchecked-link]"},
    ],
}
_REPORTER = """axe.addReporter("of-the-tests", (results, options, finish) => finish({
  violations: results.filter(({ violations }) => violations.length)
    .map(({ id, violations }) => ({ id, nodes: violations.map(({ node }) => ({ target: node.selector })) })),
  links: (results.find(({ id }) => id === "link-in-text-block")?.passes ?? []).map(({ node }) => node.element),
}));
"""
"""Reports what the tests read. axe's own report describes every element that passed a rule, too: on large pages, this takes
two thirds of the time of all rules together."""
_SCRIPT = "/axe-of-the-tests.js"
"""Path of axe. The browser keeps a script that it has loaded, and its compiled form, for the next page. So this takes a
third of the CPU time that passing the script to each page takes."""
SCRIPTS[_SCRIPT] = f"{Axe().axe_script}\naxe.configure({json.dumps(_SETTINGS)})\n{_REPORTER}"
_FIND_STYLES = """() => {
  const behind = new Map();
  const ground = (each) => {
    if (!each) return "";
    if (!behind.has(each)) {
      const { backgroundColor, backgroundImage, opacity, position, filter, mixBlendMode } = getComputedStyle(each);
      const own = [backgroundColor, backgroundImage, opacity, position, filter, mixBlendMode].join();
      /* elements that paint nothing do not change what is behind a text */
      const isEmpty = own === "rgba(0, 0, 0, 0),none,1,static,none,normal";
      behind.set(each, ground(each.parentElement) + (isEmpty ? "" : `/${own}`));
    }
    return behind.get(each);
  };
  const first = new Map();
  const look = (each) => {
    /* another project's part of the page; axe would check a text that is included by itself in spite of an exclusion around it */
    if (!each.checkVisibility() || each.closest("#api-docs")) return;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(each);
    const style = JSON.stringify([each.localName, each.getAttribute("class"), each.parentElement.getAttribute("class"),
      each.matches(":disabled"), color, fontSize, fontWeight, textShadow, ground(each)]);
    if (!first.has(style)) first.set(style, each);
  };
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) if (words.currentNode.data.trim()) look(words.currentNode.parentElement);
  document.querySelectorAll("input, select, textarea").forEach(look);
  window.firstOfStyle = [...first.values()];
  return [...first.keys()].map((style) => `${innerWidth} ${style}`);
}"""
"""Finds the first visible text of each style: element name and classes, colour, weight, size, and background."""
_FIND_LINKS = """() => {
  const PROPERTIES = ["display", "color", "background-color", "background-image", "opacity", "font-family", "font-size",
    "font-style", "font-weight", "text-decoration", "text-shadow", "-webkit-text-stroke", "border-top", "border-bottom",
    "outline", "position", "filter", "mix-blend-mode"];
  const styles = new Map();
  const styleOf = (each) => {
    if (!each) return "";
    if (!styles.has(each)) {
      const style = getComputedStyle(each);
      const own = [each.localName, each.getAttribute("class"), ...PROPERTIES.map((name) => style.getPropertyValue(name))];
      styles.set(each, JSON.stringify(own) + styleOf(each.parentElement));
    }
    return styles.get(each);
  };
  const pseudos = (each) => ["::before", "::after"].map((name) => getComputedStyle(each, name).content).join();
  window.styleOfLink = new Map();
  for (const each of document.querySelectorAll("a[href], [role=link]")) {
    window.styleOfLink.set(each, `${innerWidth} link ${pseudos(each)} ${styleOf(each)}`);
  }
  return [...new Set(window.styleOfLink.values())];
}"""
"""Finds the styles of all links: what axe compares of a link and the texts around it, from the link to the root."""
_MARK = """([unchecked, unchecked_links]) => {
  for (const name of ["data-unchecked", "data-unchecked-link"]) {
    for (const each of document.querySelectorAll(`[${name}]`)) each.removeAttribute(name);
  }
  window.unchecked = unchecked.map((at) => window.firstOfStyle[at]);
  for (const each of window.unchecked) each.setAttribute("data-unchecked", "");
  const styles = new Set(unchecked_links);
  for (const [each, style] of window.styleOfLink ?? []) {
    if (styles.has(style)) each.setAttribute("data-unchecked-link", "");
  }
}"""
_RUN = """async ([context, options]) => {
  const isUnchanged = () => window.unchecked.every((each) => each.isConnected);
  if (!isUnchanged()) return null;
  const { violations, links } = await axe.run(context, { reporter: "of-the-tests", ...options });
  if (!isUnchanged()) return null;
  return { violations, links: [...new Set(links.map((element) => window.styleOfLink.get(element)))] };
}"""
"""Runs axe. Returns the styles of links that passed, or null if marked elements were replaced meanwhile, as by a chart that
is drawn in other colours."""
_ATTEMPTS = 20

_passed: set[str] = set()
"""Styles of texts that axe has checked on a page without low contrast, and of links that passed."""


def violations(page: Page) -> list[str]:
    """Return the problems that axe finds outside the API documentation, which another project renders."""
    return _run(page, {})


def poor_contrasts(page: Page) -> list[str]:
    """Return texts with low contrast, the only difference between themes."""
    return _run(page, {"include": [["[data-unchecked]"]]}, runOnly=[_CONTRAST])


def problems_at_every_width(page: Page) -> list[str]:
    """Return layout defects of a wide, a medium and a narrow page, and what axe finds on the wide and the narrow one in both themes."""
    found: list[str] = []
    for width_px in (1440, 1024, 390):
        page.set_viewport_size({"width": width_px, "height": 900})
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            found.append(f"overflows at {width_px}")
        found += [f"at {width_px}: {each}" for each in layout_defects(page)]
        if width_px != 1024:
            page.emulate_media(color_scheme="light")
            found += [f"light at {width_px}: {each}" for each in violations(page)]
            page.emulate_media(color_scheme="dark")
            found += [f"dark at {width_px}: {each}" for each in poor_contrasts(page)]
    return found


def _mark_unchecked_styles(page: Page, *, marks_links: bool) -> set[str]:
    """Mark the first text of each style that has not passed yet, and return these styles; mark such links on request."""
    styles: list[str] = page.evaluate(_FIND_STYLES)
    assert styles
    links = [style for style in page.evaluate(_FIND_LINKS) if style not in _passed] if marks_links else []
    page.evaluate(_MARK, [[at for at, style in enumerate(styles) if style not in _passed], links])
    return set(styles) - _passed


def _run(page: Page, context: dict[str, Any], **options: object) -> list[str]:
    if page.evaluate("!window.axe"):
        page.add_script_tag(url=_SCRIPT)
    for _ in range(_ATTEMPTS):
        unchecked = _mark_unchecked_styles(page, marks_links="include" not in context)
        if "include" in context and not unchecked:
            return []
        found = page.evaluate(_RUN, [{**context, "exclude": [["#api-docs"]]}, options])
        if found is not None:
            break
    else:
        pytest.fail(f"{page.url} changes all the time")
    if not any(each["id"] == _CONTRAST for each in found["violations"]):
        _passed.update(unchecked)
    _passed.update(found["links"])
    return [f"{each['id']}: {[node['target'] for node in each['nodes']][:5]}" for each in found["violations"]]
