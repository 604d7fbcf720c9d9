/* Charts that can be zoomed and saved. The page shows the service's drawing until this one is there; it stays when
   anything here fails. The service gives the whole figure; here it gets the colors of the theme and the width of the page. */
(() => {
  "use strict";

  const DAY_MS = 24 * 3600e3;
  const LEAST_PX_PER_DAY = 4;
  const DOUBLE_CLICK_MS = 500; /* as in most operating systems; Plotly's own 300 is too short for slow hands and slow machines */
  const SIDES_PX = 200;
  const NARROW_PX = 700;

  /* The guards keep the script from writing styles of maps into the page, which the page's policy would refuse. */
  const load = (address, guards) =>
    new Promise((resolve, reject) => {
      if (window.Plotly) return resolve();
      for (const id of guards.split(" ").filter((each) => each && !document.getElementById(each))) {
        document.head.append(Object.assign(document.createElement("meta"), { id }));
      }
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => resolve();
      script.onerror = () => reject(new Error("the chart script could not be loaded"));
      document.head.append(script);
    });

  /* Colors by their names, as the style sheet has them for the theme of now; a number after a name makes one transparent. */
  const palette = (root) => {
    const probe = document.createElement("span");
    root.append(probe);
    const known = {};
    const color = (text) => {
      const [name, opacity] = text.split(" ");
      if (!(name in known)) {
        probe.style.color = `var(${name})`;
        known[name] = getComputedStyle(probe).color;
      }
      return opacity ? known[name].replace("rgb(", "rgba(").replace(")", `, ${opacity})`) : known[name];
    };
    return { color, done: () => probe.remove() };
  };

  const colored = (value, color) => {
    if (typeof value === "string") return /^--[a-z]/.test(value) ? color(value) : value;
    if (Array.isArray(value)) return typeof value[0] === "number" ? value.slice() : value.map((each) => colored(each, color));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, colored(each, color)]));
  };

  /* A figure of the service in the colors of the theme, for a width. */
  const dressed = ({ data, layout: given }, width, root) => {
    const { color, done } = palette(root);
    const layout = colored(given, color);
    const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: color("--muted") };
    Object.assign(layout, {
      width,
      font,
      paper_bgcolor: color("--paper"),
      plot_bgcolor: color("--paper"),
      hoverlabel: { bgcolor: color("--panel"), bordercolor: color("--line-strong"), font: { ...font, color: color("--ink") } },
    });
    if (width <= NARROW_PX) {
      if (layout.xaxis.type === "date") Object.assign(layout.xaxis, { nticks: 4, tickangle: 0 });
      layout.margin.r = layout.margin.narrow || layout.margin.r;
      for (const each of layout.annotations) each.text = each.narrow || each.text;
    }
    const traces = data.map((each) => colored(each, color));
    done();
    return { traces, layout };
  };

  const milliseconds = (at) => (at instanceof Date ? at.getTime() : typeof at === "number" ? at : Date.parse(`${String(at).replace(" ", "T")}Z`));
  const minute = (at) => new Date(at).toISOString().slice(0, 16).replace("T", " ");
  const AXES = {
    date: { read: milliseconds, write: (at) => new Date(at), words: (from, to) => `${minute(from)} – ${minute(to)} UTC` },
    log: { read: Number, write: (at) => at, words: (from, to) => `${Math.round(10 ** from)} – ${Math.round(10 ** to)} MiB` },
  };

  /* ---- the range in the address ----

     A parameter of the chart has the ends of its x axis, so that a zoomed chart can be shared. Moments are minutes in UTC. */
  const written = (at, kind) => (kind === "date" ? new Date(at).toISOString().slice(0, 16) : String(Number((10 ** at).toPrecision(6))));
  const readBack = (text, kind) => (kind === "date" ? (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : NaN) : Math.log10(Number(text)));

  /* The range of the address, within the whole range; null if there is none, or if it is not one of this chart. */
  const rangeOf = (key, kind, [first, last]) => {
    const parts = (new URLSearchParams(location.search).get(key) || "").split("..");
    const [from, to] = parts.map((part) => readBack(part, kind));
    if (parts.length !== 2 || !Number.isFinite(from) || !Number.isFinite(to)) return null;
    const range = [Math.max(from, first), Math.min(to, last)];
    return range[0] < range[1] ? range : null;
  };
  const keep = (key, kind, range) => {
    const query = new URLSearchParams(location.search);
    if (range) query.set(key, range.map((at) => written(at, kind)).join(".."));
    else query.delete(key);
    const text = query.toString().replaceAll("%3A", ":");
    history.replaceState(history.state, "", `${location.pathname}${text ? `?${text}` : ""}${location.hash}`);
  };

  const start = async (root) => {
    const plot = root.querySelector(".plot");
    const drawn = root.querySelector(".drawn");
    const tools = root.querySelector(".plot-tools");
    const status = root.querySelector("[data-status]");
    const figures = JSON.parse(root.dataset.figures);
    if (!figures.length || !figures[0].data.some((each) => each.x.length)) {
      root.dataset.state = "ready"; // without data there is nothing to zoom
      return;
    }
    const kind = figures[0].layout.xaxis.type;
    const axis = AXES[kind];
    const whole = figures[0].layout.xaxis.range.map(axis.read);
    let range = rangeOf(root.dataset.key, kind, whole);
    await load(root.dataset.script, root.dataset.guards);

    /* The finer figure has a point for each day: it is drawn as soon as there is room for them. */
    const draw = async () => {
      const [from, to] = range || whole;
      const hasRoom = (root.clientWidth - SIDES_PX) / ((to - from) / DAY_MS) >= LEAST_PX_PER_DAY;
      const { traces, layout } = dressed(figures[hasRoom ? figures.length - 1 : 0], root.clientWidth, root);
      layout.xaxis.range = (range || whole).map(axis.write);
      const config = { displayModeBar: false, displaylogo: false, doubleClick: false, doubleClickDelay: DOUBLE_CLICK_MS, scrollZoom: false };
      await window.Plotly.react(plot, traces, layout, config);
    };
    plot.hidden = false;
    await draw();
    drawn.hidden = true;
    tools.hidden = false;

    const shown = () => plot.layout.xaxis.range.map(axis.read);
    const show = async (from, to) => {
      range = [from, to];
      if (figures.length > 1) await draw();
      else await window.Plotly.relayout(plot, { "xaxis.range": range.map(axis.write) });
      const isWhole = from <= whole[0] && to >= whole[1];
      if (isWhole) range = null;
      status.textContent = isWhole ? "" : axis.words(from, to);
      keep(root.dataset.key, kind, range);
    };
    if (range) status.textContent = axis.words(...range);
    plot.on("plotly_relayout", (change) => {
      if ("xaxis.range[0]" in change) show(...shown());
    });
    plot.on("plotly_doubleclick", () => show(...whole));
    tools.addEventListener("click", async (event) => {
      const what = event.target.closest("[data-do]")?.dataset.do;
      if (!what) return;
      const [from, to] = range || whole;
      const length = to - from;
      if (what === "in") await show(from + length / 4, to - length / 4);
      else if (what === "out") await show(Math.max(from - length / 2, whole[0]), Math.min(to + length / 2, whole[1]));
      else if (what === "left") await show(...(from - length / 2 < whole[0] ? [whole[0], whole[0] + length] : [from - length / 2, to - length / 2]));
      else if (what === "right") await show(...(to + length / 2 > whole[1] ? [whole[1] - length, whole[1]] : [from + length / 2, to + length / 2]));
      else if (what === "all") await show(...whole);
      else {
        const { width, height } = plot.layout;
        const address = await window.Plotly.toImage(plot, { format: "svg", width, height });
        const drawing = decodeURIComponent(address.slice(address.indexOf(",") + 1));
        const picture = window.cfplanPictures.framed(drawing, {
          width,
          height,
          about: { ...root.dataset },
          shown: range && axis.words(...range),
          isPeriod: kind === "date",
          legend: root.querySelector(".chart-legend"),
        });
        await window.cfplanPictures.download(picture, what, root.dataset.filename);
        status.textContent = "Saved.";
      }
    });
    new ResizeObserver(() => {
      if (root.clientWidth && Math.abs(plot.layout.width - root.clientWidth) > 1) draw();
    }).observe(root);
    new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    root.dataset.state = "ready";
  };

  for (const root of document.querySelectorAll(".plotted")) {
    start(root).catch((error) => {
      root.dataset.state = "failed";
      root.querySelector(".plot").hidden = true;
      root.querySelector(".drawn").hidden = false;
      console.warn(`The chart stays as drawn by the service: ${error.message}.`);
    });
  }
})();
