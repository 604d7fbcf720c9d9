/* Charts over time that can be zoomed and saved. The page shows the server's drawing until this one stands; it stays when
   anything here fails. Plotly is loaded only where there is something to draw. */
(() => {
  "use strict";

  const HOUR_MS = 3600e3;
  const PANEL_PX = 230;
  const NAMES = {
    structure: [
      { name: "List entries in use", value: "entries_in_use_max", limit: "entries_total", before: "entries_total", percent: "entries_percent" },
      { name: "List elements in use", value: "elements_in_use_max", limit: "elements_total", before: "elements_total", percent: "elements_percent" },
    ],
    queue: [
      { name: "Puts a second", value: "puts_per_s" },
      { name: "Highest depth", value: "depth_max" },
    ],
  };

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

  /* A colour as the style sheet has it for the theme of now. */
  const colours = (root) => {
    const probe = document.createElement("span");
    root.append(probe);
    const of = (name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    const found = Object.fromEntries(["paper", "ink", "muted", "line", "line-strong", "accent", "error", "panel"].map((name) => [name, of(name)]));
    probe.remove();
    return found;
  };

  /* Values stand in the middle of their hour or day; a null where a step is missing breaks the line. */
  const series = (data, key) => {
    const step = data.period.by === "day" ? 24 * HOUR_MS : HOUR_MS;
    const x = [];
    const y = [];
    let last = null;
    for (const point of data.points) {
      const at = Date.parse(point.at);
      if (point[key] === null) continue;
      if (last !== null && at - last > step) {
        x.push(new Date(last + step));
        y.push(null);
      }
      x.push(new Date(at + step / 2));
      y.push(point[key]);
      last = at;
    }
    return { x, y };
  };

  /* A limit holds until the next one that was observed. */
  const limit = (data, key) => {
    const x = [];
    const y = [];
    const before = data.limits_before && data.limits_before[key];
    if (before) {
      x.push(new Date(data.period.first));
      y.push(before);
    }
    for (const point of data.points) {
      if (point[key] === null || point[key] === y[y.length - 1]) continue;
      x.push(new Date(point.at));
      y.push(point[key]);
    }
    if (x.length) {
      x.push(new Date(data.period.past));
      y.push(y[y.length - 1]);
    }
    return { x, y };
  };

  const figure = (data, kind, width, root) => {
    const colour = colours(root);
    const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour.muted };
    const panels = NAMES[kind];
    const traces = [];
    const layout = {
      width,
      height: PANEL_PX * panels.length + 40,
      margin: { l: 64, r: 12, t: 26, b: 34 },
      paper_bgcolor: colour.paper,
      plot_bgcolor: colour.paper,
      font,
      showlegend: false,
      hovermode: "x unified",
      hoverlabel: { bgcolor: colour.panel, bordercolor: colour["line-strong"], font: { ...font, color: colour.ink } },
      dragmode: "zoom",
      separators: ". ",
      xaxis: {
        type: "date",
        range: [new Date(data.period.first), new Date(data.period.past)],
        anchor: `y${panels.length > 1 ? panels.length : ""}`,
        gridcolor: colour.line,
        linecolor: colour["line-strong"],
        showline: true,
        zeroline: false,
        hoverformat: data.period.by === "day" ? "%Y-%m-%d" : "%Y-%m-%d %H:%M UTC",
      },
      annotations: [],
      shapes: [],
    };
    const share = 1 / panels.length;
    panels.forEach((panel, nth) => {
      const axis = nth ? `y${nth + 1}` : "y";
      const top = 1 - nth * share;
      let values = series(data, panel.value);
      let unit = "";
      const held = panel.limit ? limit(data, panel.limit) : { x: [], y: [] };
      if (panel.percent && !values.y.length) {
        values = series(data, panel.percent);
        unit = " %";
      }
      traces.push({
        ...values, type: "scatter", mode: "lines+markers", name: panel.name, yaxis: axis, connectgaps: false,
        line: { color: colour.accent, width: 1.5 }, marker: { size: values.x.length > 80 ? 1 : 4, color: colour.accent },
        hovertemplate: `%{y:,}${unit}`,
      });
      if (held.x.length && !unit) {
        traces.push({
          ...held, type: "scatter", mode: "lines", name: "of", yaxis: axis, line: { color: colour.ink, width: 1, dash: "dash", shape: "hv" },
          hovertemplate: "%{y:,}",
        });
      }
      layout[nth ? `yaxis${nth + 1}` : "yaxis"] = {
        domain: [top - share * 0.86, top - share * 0.06],
        rangemode: "tozero", gridcolor: colour.line, zeroline: false, linecolor: colour["line-strong"], tickformat: ",", fixedrange: true,
      };
      layout.annotations.push({
        text: panel.name, xref: "paper", yref: "paper", x: 0, y: top - share * 0.06, xanchor: "left", yanchor: "bottom", showarrow: false,
        font: { ...font, color: colour.ink },
      });
      if (kind === "structure") {
        const step = data.period.by === "day" ? 24 * HOUR_MS : HOUR_MS;
        const full = data.points.filter((point) => point.structure_full_count);
        const most = Math.max(...values.y.filter((value) => value !== null), ...held.y, 0);
        traces.push({
          x: full.map((point) => new Date(Date.parse(point.at) + step / 2)), y: full.map(() => most * 1.04), text: full.map((point) => String(point.structure_full_count)),
          type: "scatter", mode: "markers", name: "found full", yaxis: axis, marker: { symbol: "triangle-down", size: 10, color: colour.error },
          hovertemplate: "%{text} times",
        });
      }
    });
    return { traces, layout };
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
    const kind = root.dataset.kind;
    const [answer] = await Promise.all([fetch(root.dataset.source, { headers: { accept: "application/json" } }), load(root.dataset.script, root.dataset.guards)]);
    if (!answer.ok) throw new Error(`the figures were answered with ${answer.status}`);
    const data = await answer.json();
    if (!data.points.length) return;
    const whole = [Date.parse(data.period.first), Date.parse(data.period.past)];
    let range = null;

    const draw = async () => {
      const { traces, layout } = figure(data, kind, root.clientWidth, root);
      if (range) layout.xaxis.range = range.map((at) => new Date(at));
      await window.Plotly.react(plot, traces, layout, { displayModeBar: false, displaylogo: false, doubleClick: false, scrollZoom: false });
    };
    plot.hidden = false;
    await draw();
    drawn.hidden = true;
    tools.hidden = false;

    const shown = () => plot.layout.xaxis.range.map((at) => (at instanceof Date ? at.getTime() : typeof at === "number" ? at : Date.parse(`${String(at).replace(" ", "T")}Z`)));
    const show = async (from, to) => {
      range = [from, to];
      await window.Plotly.relayout(plot, { "xaxis.range": range.map((at) => new Date(at)) });
      const text = (at) => new Date(at).toISOString().slice(0, 16).replace("T", " ");
      status.textContent = from <= whole[0] && to >= whole[1] ? "" : `${text(from)} – ${text(to)} UTC`;
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
