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

from tests.browser.layout import defects_at_width
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
_FIND = f"marksLinks => [({_FIND_STYLES})(), marksLinks ? ({_FIND_LINKS})() : []]"
_RUN = """async ([script, unchecked, uncheckedLinks, context, options]) => {
  if (!window.axe) {
    await new Promise((resolve, reject) => {
      const element = document.createElement("script");
      Object.assign(element, { src: script, onload: resolve, onerror: reject });
      document.head.append(element);
    });
  }
  for (const name of ["data-unchecked", "data-unchecked-link"]) {
    for (const each of document.querySelectorAll(`[${name}]`)) each.removeAttribute(name);
  }
  const marked = unchecked.map((at) => window.firstOfStyle[at]);
  for (const each of marked) each.setAttribute("data-unchecked", "");
  const styles = new Set(uncheckedLinks);
  for (const [each, style] of window.styleOfLink ?? []) {
    if (styles.has(style)) each.setAttribute("data-unchecked-link", "");
  }
  const isUnchanged = () => marked.every((each) => each.isConnected);
  if (!isUnchanged()) return null;
  const { violations, links } = await axe.run(context, { reporter: "of-the-tests", ...options });
  if (!isUnchanged()) return null;
  return { violations, links: [...new Set(links.map((element) => window.styleOfLink.get(element)))] };
}"""
"""Loads axe, marks the first text of each unchecked style and each link of an unchecked one, and runs axe. Returns the styles
of links that passed, or null if marked elements were replaced meanwhile, as by a chart that is drawn in other colours."""
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
        found += defects_at_width(page, width_px)
        if width_px != 1024:
            page.emulate_media(color_scheme="light")
            found += [f"light at {width_px}: {each}" for each in violations(page)]
            page.emulate_media(color_scheme="dark")
            found += [f"dark at {width_px}: {each}" for each in poor_contrasts(page)]
    return found


def _run(page: Page, context: dict[str, Any], **options: object) -> list[str]:
    """Find the styles of the page, and run axe with the unchecked ones; each is one call to the browser."""
    for _ in range(_ATTEMPTS):
        styles, links = page.evaluate(_FIND, "include" not in context)
        assert styles
        unchecked = set(styles) - _passed
        if "include" in context and not unchecked:
            return []
        marked = [at for at, style in enumerate(styles) if style in unchecked]
        marked_links = [style for style in links if style not in _passed]
        asked = [_SCRIPT, marked, marked_links, {**context, "exclude": [["#api-docs"]]}, options]
        found = page.evaluate(_RUN, asked)
        if found is not None:
            break
    else:
        pytest.fail(f"{page.url} changes all the time")
    if not any(each["id"] == _CONTRAST for each in found["violations"]):
        _passed.update(unchecked)
    _passed.update(found["links"])
    return [f"{each['id']}: {[node['target'] for node in each['nodes']][:5]}" for each in found["violations"]]
