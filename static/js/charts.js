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

  const start = async (root) => {
    const plot = root.querySelector(".plot");
    const drawn = root.querySelector(".drawn");
    const tools = root.querySelector(".plot-tools");
    const status = root.querySelector("[data-status]");
    const figures = JSON.parse(root.dataset.figures);
    if (!figures[0].data.some((each) => each.x.length)) {
      root.dataset.state = "ready"; // without data there is nothing to zoom
      return;
    }
    const axis = AXES[figures[0].layout.xaxis.type];
    const whole = figures[0].layout.xaxis.range.map(axis.read);
    let range = null;
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
      status.textContent = from <= whole[0] && to >= whole[1] ? "" : axis.words(from, to);
    };
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
        const svg = decodeURIComponent(address.slice(address.indexOf(",") + 1));
        if (what === "svg") save(svg, "image/svg+xml", `${root.dataset.filename}.svg`);
        else save(await png(svg, width, height), "image/png", `${root.dataset.filename}.png`);
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
