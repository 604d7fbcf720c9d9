/* Pictures of charts: values at the pointer, and saving with title, subject, period and source. Works with the drawings of
   the service; charts.js uses the same frame for its figures. */
(() => {
  "use strict";

  const SPACE = "\u202f";
  const MARGIN = 12;
  const TITLE_PX = 24;
  const LINE_PX = 17;
  const COPIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin", "paint-order", "font-family", "font-size", "font-weight", "opacity"];
  const SVG = "http://www.w3.org/2000/svg";

  /* ---- saving ---- */

  const save = (content, type, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10e3);
  };

  /* The page's policy lets no picture come from a blob, so the drawing goes through a data address. */
  const png = (svg, width, height) =>
    new Promise((resolve, reject) => {
      const picture = new Image();
      picture.onload = () => {
        const canvas = document.createElement("canvas");
        canvas.width = width * 2;
        canvas.height = height * 2;
        const context = canvas.getContext("2d");
        context.drawImage(picture, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is empty"))), "image/png");
      };
      picture.onerror = () => reject(new Error("the drawing could not be read again"));
      picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    });

  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

  /* Words in lines of at most this many pixels; half the size of a letter is its usual width. */
  const wrapped = (text, width, size) => {
    const most = Math.max(Math.floor(width / (size * 0.52)), 20);
    const lines = [""];
    for (const word of text.split(" ")) {
      const last = lines[lines.length - 1];
      if (last && last.length + word.length + 1 > most) lines.push(word);
      else lines[lines.length - 1] = last ? `${last} ${word}` : word;
    }
    return lines.filter(Boolean);
  };

  /* Draw the signs of a legend: a line, an area or a spot, in the colors of the page. */
  const legendOf = (list, width, y, ink) => {
    if (!list) return { text: "", height: 0 };
    let x = MARGIN;
    let row = 0;
    let text = "";
    for (const item of list.children) {
      const words = item.textContent.trim();
      const length = 28 + words.length * 6.4 + 14;
      if (x > MARGIN && x + length > width) {
        x = MARGIN;
        row += 1;
      }
      const sign = dressed(item.querySelector("svg"));
      sign.setAttribute("x", x);
      sign.setAttribute("y", y + row * LINE_PX + 2);
      sign.setAttribute("width", 20);
      sign.setAttribute("height", 10);
      text += new XMLSerializer().serializeToString(sign);
      text += `<text x="${x + 26}" y="${y + row * LINE_PX + 11}" font-size="11" fill="${ink}">${escaped(words)}</text>`;
      x += length;
    }
    return { text, height: (row + 1) * LINE_PX + 6 };
  };

  /* Put title, subject and period above a drawing, and its source below it. */
  const framed = (drawing, { width, height, about, shown = null, isPeriod = false, legend = null }) => {
    const style = getComputedStyle(document.body);
    const ink = style.color;
    const family = escaped(style.fontFamily.replace(/"/g, "'"));
    const { title, subject, period, source } = about;
    /* The visible part of a period replaces it; a range of another kind follows it. */
    const above = [subject, !(shown && isPeriod) && period, shown].filter(Boolean).join(" · ");
    const maker = document.querySelector(".foot-in .maker")?.textContent.split(",")[0].trim() || "cfplan"; // with its version
    const below = [source && `Source: ${source}.`, `Drawn by ${maker}.`].filter(Boolean).join(" ");
    let y = MARGIN;
    let text = "";
    const write = (words, size, weight, step) => {
      for (const line of wrapped(words, width - 2 * MARGIN, size)) {
        text += `<text x="${MARGIN}" y="${y + size}" font-size="${size}" font-weight="${weight}" fill="${ink}">${escaped(line)}</text>`;
        y += step;
      }
    };
    write(title, 15, 620, TITLE_PX);
    if (above) write(above, 12, 400, LINE_PX);
    const top = y + 8;
    y = top + height + 8;
    const signs = legendOf(legend, width - MARGIN, y, ink);
    text += signs.text;
    y += signs.height;
    write(below, 11, 400, LINE_PX);
    const whole = y + MARGIN;
    const inner = drawing.replace(/^<\?xml[^>]*\?>/, "").replace(/<svg /, `<svg y="${top}" `);
    const paper = getComputedStyle(document.body).backgroundColor;
    const svg =
      `<svg xmlns="${SVG}" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" font-family="${family}">` +
      `<rect width="${width}" height="${whole}" fill="${paper}"/>${text}${inner}</svg>`;
    return { svg, width, height: whole };
  };

  const download = async (picture, kind, name) => {
    if (kind === "svg") save(picture.svg, "image/svg+xml", `${name}.svg`);
    else save(await png(picture.svg, picture.width, picture.height), "image/png", `${name}.png`);
  };

  /* A copy of a drawing that needs no style sheet. */
  const dressed = (svg) => {
    const copy = svg.cloneNode(true);
    const originals = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((each, nth) => {
      const style = getComputedStyle(originals[nth]);
      for (const name of COPIED) {
        const value = style.getPropertyValue(name);
        if (value && value !== "normal" && value !== "auto") each.setAttribute(name, value.replace(/"/g, "'"));
      }
      for (const name of ["class", "id", "data-name", "data-plots", "aria-labelledby", "role"]) each.removeAttribute(name);
    });
    return copy;
  };

  /* The wide drawing has the most room; on narrow pages it is there too, only hidden. */
  const pictureOf = (figure, about) => {
    const svg = figure.querySelector("svg.wide") || figure.querySelector("svg");
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    clear(svg);
    const copy = dressed(svg);
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.setAttribute("x", MARGIN);
    copy.setAttribute("overflow", "visible");
    return framed(new XMLSerializer().serializeToString(copy), {
      width: width + 2 * MARGIN,
      height,
      about,
      legend: figure.querySelector(".chart-legend"),
    });
  };

  const nameOf = (about) => [about.subject, about.title].filter(Boolean).join(" ").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 80);

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-picture]");
    if (!button) return;
    const tools = button.closest(".picture-tools");
    const about = { ...tools.dataset };
    await download(pictureOf(button.closest("figure, .chart"), about), button.dataset.picture, nameOf(about) || "chart");
  });

  const buttonFor = (format, title) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button quiet";
    button.dataset.picture = format;
    const subject = Object.assign(document.createElement("span"), { className: "vh", textContent: `: ${title}` });
    button.append(`Save as ${format.toUpperCase()}`, subject);
    return button;
  };
  const showTools = (root) => {
    for (const tools of root.querySelectorAll(".picture-tools[hidden]")) {
      tools.append(...["svg", "png"].map((format) => buttonFor(format, tools.dataset.title)));
      tools.hidden = false;
    }
  };
  document.addEventListener("cfplan:swapped", (event) => showTools(event.target));

  /* ---- values at the pointer ---- */

  const grouped = (value) => {
    const [whole, part] = String(value).split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, SPACE) + (part ? `.${part}` : "");
  };
  const rounded = (value) => (value === 0 ? "0" : grouped(Number(value.toPrecision(3))));
  const seconds = (value) => (value >= 7200 ? `${rounded(value / 3600)} h` : value >= 120 ? `${rounded(value / 60)} min` : `${rounded(value)} s`);
  const WORDS = {
    linear: (value, unit) => `${rounded(value)}${unit ? ` ${unit}` : ""}`,
    log: (value, unit) => `${rounded(value)}${unit ? ` ${unit}` : ""}`,
    duration: (value) => seconds(value),
    time: (value) => new Date(value * 1000).toISOString().slice(0, 16).replace("T", " "),
  };
  const valueAt = ([kind, first, last], share) =>
    kind === "log" ? 10 ** (Math.log10(first) + share * (Math.log10(last) - Math.log10(first))) : first + share * (last - first);

  /* The height of a line at a position, between its points; nothing beyond its ends. */
  const heightAt = (points, x) => {
    for (let nth = 1; nth < points.length; nth += 1) {
      const [x1, y1] = points[nth - 1];
      const [x2, y2] = points[nth];
      if (x1 <= x && x <= x2) return x2 === x1 ? y2 : y1 + ((y2 - y1) * (x - x1)) / (x2 - x1);
    }
    return null;
  };
  const pointsOf = (line) => line.getAttribute("points").trim().split(/\s+/).map((pair) => pair.split(",").map(Number));

  const clear = (svg) => svg.querySelector("g.hover")?.remove();

  const add = (parent, tag, attributes, text = "") => {
    const each = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) each.setAttribute(name, value);
    each.textContent = text;
    parent.append(each);
    return each;
  };

  const show = (svg, event) => {
    const matrix = svg.getScreenCTM();
    if (!matrix) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    clear(svg);
    const plots = JSON.parse(svg.dataset.plots);
    const near = plots.find(({ edges: [left, top, right, bottom] }) => left <= at.x && at.x <= right && top <= at.y && at.y <= bottom);
    if (!near) return;
    const [left, top, right, bottom] = near.edges;
    const found = [];
    for (const line of svg.querySelectorAll("polyline")) {
      const points = pointsOf(line);
      const y = heightAt(points, at.x);
      // A figure may have two plots, one above the other.
      if (y === null || y < top - 1 || y > bottom + 1) continue;
      const value = WORDS[near.y[0]](valueAt(near.y, (bottom - y) / (bottom - top)), near.y[3]);
      found.push({ y, text: `${line.dataset.name ? `${line.dataset.name}: ` : ""}${value}` });
    }
    if (!found.length) return;
    const group = add(svg, "g", { class: "hover", "aria-hidden": "true" });
    add(group, "line", { x1: at.x, x2: at.x, y1: top, y2: bottom });
    for (const { y } of found) add(group, "circle", { cx: at.x, cy: y, r: 3 });
    const texts = [WORDS[near.x[0]](valueAt(near.x, (at.x - left) / (right - left)), near.x[3]), ...found.map(({ text }) => text)];
    const width = Math.max(...texts.map((text) => text.length)) * 6.3 + 14;
    const x = at.x + 10 + width > right ? Math.max(at.x - 10 - width, 0) : at.x + 10;
    add(group, "rect", { x, y: top + 4, width, height: texts.length * 15 + 8, rx: 3 });
    texts.forEach((text, nth) => add(group, "text", { x: x + 7, y: top + 19 + nth * 15 }, text));
  };

  document.addEventListener("pointermove", (event) => {
    const svg = event.target.closest?.("svg[data-plots]");
    for (const each of document.querySelectorAll("svg[data-plots] > g.hover")) if (each.parentNode !== svg) each.remove();
    if (svg) show(svg, event);
  });
  document.addEventListener("pointerdown", (event) => {
    const svg = event.target.closest?.("svg[data-plots]");
    if (svg) show(svg, event); // a finger does not hover
  });

  showTools(document);
  window.cfplanPictures = { framed, download };
})();
