"""Text of a page that cannot be read as it is laid out: broken in words, cut off, overlapping, out of its box, at an edge.

Long identifiers may be broken, because there is no better place: an element declares this with `overflow-wrap: anywhere`
in the style sheet, or is `code`, `pre` or `.mono`. Even there, text without spaces of fewer than 12 characters must fit, and the name of a row, such
as increment_bytes, is broken after an underscore only.
"""

from __future__ import annotations

from playwright.sync_api import Page

_FIND = r"""() => {
  const MAY_BREAK_FROM = 12;
  const NAME_OF_WORDS = /^[a-z0-9]+(_[a-z0-9]+)+$/;
  const MOST_OF_A_KIND = 5;
  const LEAST_ROOM_PX = 3;
  const CARDS_UP_TO_PX = 704;
  const found = new Map();
  const report = (kind, text, element) => {
    const where = [];
    for (let each = element; each && each !== document.body && where.length < 3; each = each.parentElement) {
      const classes = [...each.classList].map((name) => `.${name}`).join("");
      where.unshift(each.localName + (each.id ? `#${each.id}` : "") + classes);
    }
    if (!found.has(kind)) found.set(kind, new Set());
    found.get(kind).add(`${kind}: ${JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 60))} in ${where.join(" > ")}`);
  };

  /* ---- cached properties of elements ---- */
  const styles = new Map();
  const styleOf = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };
  const rectangles = new Map();
  const rectOf = (element) => {
    if (!rectangles.has(element)) rectangles.set(element, element.getBoundingClientRect());
    return rectangles.get(element);
  };
  const blocks = new Map();
  /* The nearest box of its own: text leaves this one when it is too long. */
  const blockOf = (element) => {
    if (!blocks.has(element)) {
      const isBox = !["inline", "contents"].includes(styleOf(element).display) && !(element instanceof SVGElement && element.localName !== "svg");
      blocks.set(element, isBox || !element.parentElement ? element : blockOf(element.parentElement));
    }
    return blocks.get(element);
  };
  const windows = new Map();
  /* The part of the page through which the content of an element is seen; boxes that scroll or hide limit it. */
  const windowOf = (element) => {
    if (!element || element === document.documentElement || element === document.body) return { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity, hides: null };
    if (!windows.has(element)) {
      const around = windowOf(element.parentElement);
      const { overflowX, overflowY, display } = styleOf(element);
      let own = around;
      if ((display !== "inline" || element.localName === "svg") && (overflowX !== "visible" || overflowY !== "visible")) {
        const box = rectOf(element);
        const isHidden = [overflowX, overflowY].some((each) => ["hidden", "clip"].includes(each));
        own = {
          left: Math.max(around.left, box.left), right: Math.min(around.right, box.right),
          top: Math.max(around.top, box.top), bottom: Math.min(around.bottom, box.bottom),
          hides: isHidden ? element : around.hides,
        };
      }
      windows.set(element, own);
    }
    return windows.get(element);
  };
  const layers = new Map();
  /* Menus and bars that lie above the page on purpose. */
  const layerOf = (element) => {
    if (!element) return null;
    if (!layers.has(element)) layers.set(element, ["fixed", "sticky"].includes(styleOf(element).position) ? element : layerOf(element.parentElement));
    return layers.get(element);
  };
  const clips = new Map();
  /* Texts for screen readers only, such as the headings of a table that is a list on narrow pages. */
  const isClipped = (element) => {
    if (!element) return false;
    if (!clips.has(element)) clips.set(element, styleOf(element).clipPath === "inset(50%)" || isClipped(element.parentElement));
    return clips.get(element);
  };
  const seen = new Map();
  const isSeen = (element) => {
    if (!seen.has(element)) {
      seen.set(element, element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
        && !element.closest("script, style, noscript, option, title, #api-docs") && !isClipped(element));
    }
    return seen.get(element);
  };
  const mayBreak = (element) => styleOf(element).overflowWrap === "anywhere" || Boolean(element.closest("code, pre, kbd, samp, textarea, .mono"));

  /* ---- each text ---- */
  const range = document.createRange();
  const linesOf = (node, from, to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    return [...range.getClientRects()].filter((each) => each.width > 0.5 && each.height > 0.5);
  };
  const isOnSeveralLines = (lines) => lines.some((each) => each.top > lines[0].bottom - 1 || each.bottom < lines[0].top + 1);
  const pieces = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || !isSeen(element)) continue;
    const lines = linesOf(node, 0, node.length);
    if (!lines.length) continue;
    const isGraphic = element instanceof SVGElement;

    if (lines.length > 1 && !isGraphic) {
      for (const run of node.data.matchAll(/\S+/g)) {
        const isNameOfRow = element.localName === "th" && NAME_OF_WORDS.test(run[0]);
        if (mayBreak(element) && run[0].length >= MAY_BREAK_FROM && !isNameOfRow) continue;
        for (const word of run[0].matchAll(/[\p{L}\p{N}_]+(?:[.,:]\p{N}+)*/gu)) {
          const from = run.index + word.index;
          if (word[0].length > 1 && isOnSeveralLines(linesOf(node, from, from + word[0].length))) report("broken word", word[0], element);
        }
      }
    }

    const block = blockOf(element);
    const box = rectOf(block);
    /* Spaces at the end of a line of preformatted text reach into the margin. */
    const slack = styleOf(element).whiteSpace === "pre-wrap" ? parseFloat(styleOf(element).fontSize) : 1.5;
    const window_ = windowOf(element);
    const scrolls = styleOf(block).overflowX !== "visible";
    for (const line of lines) {
      const visible = {
        left: Math.max(line.left, window_.left), right: Math.min(line.right, window_.right),
        top: Math.max(line.top, window_.top), bottom: Math.min(line.bottom, window_.bottom),
      };
      const cut = Math.max(line.width - (visible.right - visible.left), 0);
      const cutBelow = line.height - (visible.bottom - visible.top);
      if (window_.hides && !window_.hides.title && (cut > 1.5 || cutBelow > 0.35 * line.height) && isCut(window_.hides)) report("cut off", node.data, element);
      if (visible.right - visible.left < 1 || visible.bottom - visible.top < 1) continue;
      if (visible.left < -1 || visible.right > document.documentElement.clientWidth + 1) report("outside the page", node.data, element);
      else if (!isGraphic && !scrolls && (line.left < box.left - slack || line.right > box.right + slack || isAboveOrBelow(line, block))) report("outside its box", node.data, element);
      pieces.push({ ...visible, node, element, layer: layerOf(element) });
    }
  }
  /* Superscripts are boxes without a height of their own, so that they do not move the lines apart. */
  function isAboveOrBelow(line, block) {
    while (rectOf(block).height < 0.3 * line.height && block.parentElement) block = blockOf(block.parentElement);
    return line.top < rectOf(block).top - 0.5 * line.height || line.bottom > rectOf(block).bottom + 0.5 * line.height;
  }
  /* A box that hides what it does not need, such as the rounded corner of a table, cuts nothing off. */
  function isCut(element) {
    return element.localName === "svg" || element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1;
  }

  /* ---- texts, fields and pictures on each other ---- */
  for (const element of document.querySelectorAll("input:not([type=hidden]), select, textarea, button, progress, img")) {
    if (!isSeen(element)) continue;
    const box = rectOf(element);
    const window_ = windowOf(element);
    const visible = {
      left: Math.max(box.left, window_.left), right: Math.min(box.right, window_.right),
      top: Math.max(box.top, window_.top), bottom: Math.min(box.bottom, window_.bottom),
    };
    if (visible.right - visible.left > 1 && visible.bottom - visible.top > 1) pieces.push({ ...visible, node: null, element, layer: layerOf(element) });
  }
  /* A hint in a field, such as its key, lies above the field on purpose; it disappears when the field has a value. */
  const isHint = (piece) => piece.node && piece.element.getAttribute("aria-hidden") === "true" && styleOf(piece.element).pointerEvents === "none";
  pieces.sort((one, other) => one.top - other.top);
  let open = [];
  for (const piece of pieces) {
    open = open.filter((each) => each.bottom > piece.top + 1);
    for (const other of open) {
      if (other.node === piece.node && piece.node) continue;
      if (!other.node && !piece.node) continue;
      const width = Math.min(piece.right, other.right) - Math.max(piece.left, other.left);
      const height = Math.min(piece.bottom, other.bottom) - Math.max(piece.top, other.top);
      if (width < 2.5 || height < 0.4 * Math.min(piece.bottom - piece.top, other.bottom - other.top)) continue;
      if (other.layer !== piece.layer) continue;
      if ((!piece.node && isHint(other)) || (!other.node && isHint(piece))) continue;
      if ((!piece.node && piece.element.contains(other.element)) || (!other.node && other.element.contains(piece.element))) continue;
      report("overlap", `${(piece.node || piece.element).textContent.trim().slice(0, 28)} | ${(other.node || other.element).textContent.trim().slice(0, 28)}`, (piece.node ? piece : other).element);
    }
    open.push(piece);
  }

  /* ---- colored cells, whose color must not end at a letter: neither at their own nor at one of the next cell ---- */
  const isColored = (cell) => cell && !["rgba(0, 0, 0, 0)", styleOf(document.body).backgroundColor].includes(styleOf(cell).backgroundColor);
  /* The cell at its left; in cards, it can be in another line. */
  const besideOf = (cell) => {
    const other = cell.previousElementSibling;
    return other && Math.abs(rectOf(other).right - rectOf(cell).left) < 1 && rectOf(other).bottom > rectOf(cell).top + 1 ? other : null;
  };
  for (const piece of pieces) {
    const cell = piece.node && piece.element.closest("td, th");
    if (!cell || !(isColored(cell) || isColored(besideOf(cell)))) continue;
    const room = piece.left - rectOf(cell).left;
    if (room > -1 && room < LEAST_ROOM_PX) report("at the edge of a color", piece.node.data, piece.element);
  }

  /* ---- lists, whose rows are cards on narrow pages, so that nothing scrolls away ---- */
  if (innerWidth <= CARDS_UP_TO_PX) {
    for (const box of document.querySelectorAll(".scroll:has(table.list)")) {
      if (isSeen(box) && box.scrollWidth > box.clientWidth + 1) report("scrolling list", box.getAttribute("aria-label") || "", box);
    }
  }

  return [...found.values()].flatMap((texts) => [...texts].slice(0, MOST_OF_A_KIND));
}"""
_FIND_AT_A_WIDTH = f"""() => {{
  const {{ scrollWidth, clientWidth }} = document.documentElement;
  const over = scrollWidth - clientWidth;
  return [...(over > 0 ? [`${{over}} px too wide`] : []), ...({_FIND})()];
}}"""


def layout_defects(page: Page) -> list[str]:
    """Return texts that are broken inside words, cut off, on each other, or outside their box or the page.

    Lists that scroll on a narrow page are returned too, because their rows must be cards there.

    At most five of each kind are returned. Content that scrolls counts where it is visible without scrolling.
    """
    found: list[str] = page.evaluate(_FIND)
    return found


def defects_at_width(page: Page, width_px: int) -> list[str]:
    """Make the page this wide, and return by how much it overflows, and its layout defects, each with the width."""
    page.set_viewport_size({"width": width_px, "height": 900})
    found: list[str] = page.evaluate(_FIND_AT_A_WIDTH)
    return [f"at {width_px}: {each}" for each in found]
