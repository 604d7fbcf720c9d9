/* Charts over time that can be zoomed and saved. The page shows the server's drawing until this one stands; it stays when
   anything here fails. Plotly is loaded only where there is something to draw. */
(() => {
  "use strict";

  const HOUR_MS = 3600e3;
  const PANEL_PX = 230;
  const LEAST_PX_PER_DAY = 4;
  const NARROW_PX = 700;
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
    const found = Object.fromEntries(["paper", "ink", "muted", "line", "line-strong", "accent", "error", "panel", "warning"].map((name) => [name, of(name)]));
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

  /* What all drawings have in common; `xaxis` adds to the axis below. */
  const frame = (panels, width, colour, font, xaxis) => ({
    width,
    height: PANEL_PX * panels + 40,
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
      anchor: `y${panels > 1 ? panels : ""}`,
      gridcolor: colour.line,
      linecolor: colour["line-strong"],
      showline: true,
      zeroline: false,
      ...xaxis,
    },
    annotations: [],
    shapes: [],
  });

  const fontOf = (colour) => ({ family: getComputedStyle(document.body).fontFamily, size: 12, color: colour.muted });

  const figure = (data, kind, width, root) => {
    const colour = colours(root);
    const font = fontOf(colour);
    const panels = NAMES[kind];
    const traces = [];
    const layout = frame(panels.length, width, colour, font, {
      type: "date",
      range: [new Date(data.period.first), new Date(data.period.past)],
      hoverformat: data.period.by === "day" ? "%Y-%m-%d" : "%Y-%m-%d %H:%M UTC",
    });
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

  /* The highest of each day, or of each whole week before and after the day of the forecast, with the number of that. */
  const highest = (days, madeOn, step, value) => {
    const found = new Map();
    const count = new Map();
    for (const each of days) {
      const nth = Math.floor(((Date.parse(each.day) - Date.parse(madeOn)) / (24 * HOUR_MS) - 1) / step);
      count.set(nth, (count.get(nth) || 0) + 1);
      if (!found.has(nth) || value(each) > value(found.get(nth))) found.set(nth, each);
    }
    const ends = [Math.min(...found.keys()), Math.max(...found.keys())].filter((nth) => step > 1 && found.size > 2 && count.get(nth) < step);
    return [...found].filter(([nth]) => !ends.includes(nth)).sort(([one], [other]) => one - other);
  };

  /* Peaks, the fan of what is to come, and the levels with the days over which each is likely passed first. By days where
     there is room for them, else the highest of each week. */
  const outlook = (data, width, root, range) => {
    const colour = colours(root);
    const font = fontOf(colour);
    const day = (text) => `${text}T12:00:00Z`;
    const first = (data.peaks[0] || data.bands[0]).day;
    const last = data.bands.length ? data.bands[data.bands.length - 1].day : data.peaks[data.peaks.length - 1].day;
    const whole = [Date.parse(first), Date.parse(last) + 24 * HOUR_MS];
    const [from, to] = range || whole;
    const step = (width - 200) / ((to - from) / (24 * HOUR_MS)) < LEAST_PX_PER_DAY ? 7 : 1;
    const measured = { x: [], y: [] };
    let before = null;
    for (const [nth, each] of highest(data.peaks.filter((one) => one.peak !== null), data.made_on, step, (one) => one.peak)) {
      const at = Date.parse(day(each.day));
      if (before !== null && nth - before > 1) {
        measured.x.push(new Date(at - 12 * HOUR_MS));
        measured.y.push(null);
      }
      measured.x.push(new Date(at));
      measured.y.push(each.peak);
      before = nth;
    }
    const bands = highest(data.bands, data.made_on, step, (one) => one.p50).map(([, each]) => each);
    const ahead = bands.map((each) => new Date(day(each.day)));
    const line = { type: "scatter", mode: "lines", hovertemplate: "%{y:,.0f}" };
    const most = Math.max(...measured.y.filter((value) => value !== null), ...data.bands.map((each) => each.p90), 0);
    const levels = data.crossings.filter((each) => each.value !== null && each.value <= most * 2.5);
    const traces = [
      { ...line, x: ahead, y: bands.map((each) => each.p90), name: "90 % below", line: { width: 0, color: colour.accent } },
      { ...line, x: ahead, y: bands.map((each) => each.p10), name: "10 % below", fill: "tonexty", line: { width: 0, color: colour.accent }, fillcolor: colour.accent.replace("rgb(", "rgba(").replace(")", ", 0.22)") },
      { ...line, x: ahead, y: bands.map((each) => each.p50), name: "middle", line: { width: 1, color: colour.accent } },
      { ...line, ...measured, mode: "lines+markers", name: "peak", connectgaps: false, line: { width: 1.5, color: colour.accent }, marker: { size: measured.x.length > 80 ? 1 : 4, color: colour.accent } },
    ];
    const layout = frame(1, width, colour, font, { type: "date", range: whole.map((at) => new Date(at)), hoverformat: "%Y-%m-%d" });
    layout.height = 380;
    layout.annotations.push({
      text: step > 1 ? "Highest of each week; zoom in for days" : "Peak of each day", xref: "paper", yref: "paper", x: 0, y: 1.01, xanchor: "left", yanchor: "bottom", showarrow: false,
      font: { ...font, color: colour.ink },
    });
    layout.margin.r = width > NARROW_PX ? 150 : 60;
    if (width <= NARROW_PX) Object.assign(layout.xaxis, { nticks: 4, tickangle: 0 });
    layout.yaxis = { rangemode: "tozero", gridcolor: colour.line, zeroline: false, linecolor: colour["line-strong"], tickformat: ",", fixedrange: true };
    const made = new Date(data.made_on);
    layout.shapes.push({ type: "line", x0: made, x1: made, y0: 0, y1: 1, yref: "paper", line: { color: colour["line-strong"], width: 1 } });
    let above = null;
    for (const each of [...levels].sort((one, other) => other.value - one.value)) {
      layout.shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: each.value, y1: each.value, line: { color: colour.ink, width: 1, dash: "dash" } });
      if (each.dates.p10) {
        const to = each.dates.p90 ? day(each.dates.p90) : new Date(whole[1]);
        layout.shapes.push({ type: "line", x0: day(each.dates.p10), x1: to, y0: each.value, y1: each.value, line: { color: colour.warning, width: 4 } });
      }
      const percent = each.level.match(/\d+(\.\d+)? %/);
      const longest = width > NARROW_PX ? 22 : 9;
      const label = width > NARROW_PX || !percent ? each.level : percent[0];
      const room = (each.value / Math.max(most, levels.length ? Math.max(...levels.map((one) => one.value)) : 0)) * 310;
      const shift = above !== null && above - room < 13 ? room - (above - 13) : 0;
      above = room - shift;
      layout.annotations.push({ text: label.length > longest ? `${label.slice(0, longest - 3)}...` : label, xref: "paper", x: 1, y: each.value, yshift: -shift, xanchor: "left", showarrow: false, xshift: 4, font: { ...font, size: 11 } });
    }
    traces.push({
      type: "scatter", mode: "markers", name: "passed, middle estimate", x: levels.filter((each) => each.dates.p50).map((each) => day(each.dates.p50)), y: levels.filter((each) => each.dates.p50).map((each) => each.value),
      text: levels.filter((each) => each.dates.p50).map((each) => each.level), hovertemplate: "%{text}", marker: { size: 9, color: colour.paper, line: { color: colour.warning, width: 2 } },
    });
    return { traces, layout };
  };

  /* Entries a structure of each size has, and how far each allocation is from the curve: both over the size. */
  const fitted = (data, width, root) => {
    const colour = colours(root);
    const font = fontOf(colour);
    const MIB = 2 ** 20;
    const points = data.points.filter((each) => each.size_bytes > 0 && each.entries > 0);
    const text = (each) => `${each.structure}, ${each.first_day} to ${each.last_day}${each.left_out ? `, left out: ${each.left_out}` : ""}`;
    const sizes = points.map((each) => Math.log10(each.size_bytes / MIB));
    const room = Math.max((Math.max(...sizes) - Math.min(...sizes)) * 0.06, 0.1);
    const whole = [Math.min(...sizes) - room, Math.max(...sizes) + room];
    const traces = [];
    const layout = frame(2, width, colour, font, { type: "log", range: whole, tickformat: ",", dtick: "D2", title: { text: "size, MiB", font } });
    layout.margin.b = 50;
    layout.hovermode = "closest";
    const panel = (axis, title, top, more) => {
      layout[axis] = { domain: [top - 0.42, top - 0.02], gridcolor: colour.line, zeroline: false, linecolor: colour["line-strong"], fixedrange: true, ...more };
      layout.annotations.push({ text: title, xref: "paper", yref: "paper", x: 0, y: top - 0.02, xanchor: "left", yanchor: "bottom", showarrow: false, font: { ...font, color: colour.ink } });
    };
    panel("yaxis", "List entries", 1, { type: "log", tickformat: ",", dtick: "D2" });
    panel("yaxis2", "Distance from the fitted curve, MiB", 0.48, { zeroline: true, zerolinecolor: colour.accent, zerolinewidth: 1.5 });
    if (data.base_bytes !== null && data.bundle_bytes !== null) {
      const each = (share) => 10 ** (whole[0] + (share / 60) * (whole[1] - whole[0]));
      const ratios = data.entry_bytes === null ? [null] : [...new Set(points.map((point) => Math.round(point.elements / point.entries)))].slice(0, 4);
      for (const ratio of ratios) {
        const cost = ratio === null ? data.bundle_bytes : data.entry_bytes + ratio * data.element_bytes;
        const at = Array.from({ length: 61 }, (_, nth) => each(nth)).filter((size) => size * MIB > data.base_bytes * 1.01);
        traces.push({ type: "scatter", mode: "lines", name: ratio === null ? "fitted" : `1:${ratio}`, x: at, y: at.map((size) => (size * MIB - data.base_bytes) / cost), line: { color: colour.accent, width: 1.5 }, hoverinfo: "name" });
      }
      if (data.published_base_bytes !== null) {
        const at = Array.from({ length: 61 }, (_, nth) => each(nth)).filter((size) => size * MIB > data.base_bytes * 1.01);
        const less = at.map((size) => (data.published_base_bytes + (data.published_bundle_bytes * (size * MIB - data.base_bytes)) / data.bundle_bytes) / MIB - size);
        traces.push({ type: "scatter", mode: "lines", name: "published", x: at, y: less, yaxis: "y2", line: { color: colour.ink, width: 1, dash: "dash" }, hovertemplate: "published: %{y:+.2f} MiB<extra></extra>" });
      }
    }
    const used = points.filter((each) => !each.left_out);
    const most = Math.max(...used.map((each) => Math.abs(each.residual_bytes ?? 0) / MIB), 0.05) * 1.25;
    layout.yaxis2.range = [-most, most];
    for (const [some, marker] of [
      [points.filter((each) => each.left_out), { size: 7, color: colour.paper, line: { color: colour.muted, width: 1.25 } }],
      [used, { size: 7, color: colour.accent, opacity: 0.75 }],
    ]) {
      const x = some.map((each) => each.size_bytes / MIB);
      traces.push({ type: "scatter", mode: "markers", x, y: some.map((each) => each.entries), text: some.map(text), marker, hovertemplate: "%{text}<br>%{x:,.0f} MiB, %{y:,} entries<extra></extra>" });
      traces.push({ type: "scatter", mode: "markers", x, y: some.map((each) => (each.residual_bytes === null ? null : each.residual_bytes / MIB)), text: some.map(text), yaxis: "y2", marker, hovertemplate: "%{text}<br>%{y:+.2f} MiB<extra></extra>" });
    }
    return { traces, layout };
  };

  const milliseconds = (at) => (at instanceof Date ? at.getTime() : typeof at === "number" ? at : Date.parse(`${String(at).replace(" ", "T")}Z`));
  const minute = (at) => new Date(at).toISOString().slice(0, 16).replace("T", " ");
  const TIME = { read: milliseconds, write: (at) => new Date(at), words: (from, to) => `${minute(from)} – ${minute(to)} UTC` };
  const SIZE = { read: Number, write: (at) => at, words: (from, to) => `${Math.round(10 ** from)} – ${Math.round(10 ** to)} MiB` };
  const KINDS = {
    structure: { axis: TIME, of: (data) => (data.points.length ? data : null), draw: (data, width, root) => figure(data, "structure", width, root) },
    queue: { axis: TIME, of: (data) => (data.points.length ? data : null), draw: (data, width, root) => figure(data, "queue", width, root) },
    forecast: { axis: TIME, of: (data) => data.forecasts.find((each) => each.peaks.length || each.bands.length) || null, draw: outlook, redraws: true },
    fit: { axis: SIZE, of: (data) => (data.points.some((each) => each.size_bytes > 0 && each.entries > 0) ? data : null), draw: fitted },
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
    const { axis, of, draw: drawing, redraws } = KINDS[root.dataset.kind];
    const [answer] = await Promise.all([fetch(root.dataset.source, { headers: { accept: "application/json" } }), load(root.dataset.script, root.dataset.guards)]);
    if (!answer.ok) throw new Error(`the figures were answered with ${answer.status}`);
    const data = of(await answer.json());
    if (!data) return;
    let whole = null;
    let range = null;

    const draw = async () => {
      const { traces, layout } = drawing(data, root.clientWidth, root, range);
      whole ??= layout.xaxis.range.map(axis.read);
      if (range) layout.xaxis.range = range.map(axis.write);
      await window.Plotly.react(plot, traces, layout, { displayModeBar: false, displaylogo: false, doubleClick: false, scrollZoom: false });
    };
    plot.hidden = false;
    await draw();
    drawn.hidden = true;
    tools.hidden = false;

    const shown = () => plot.layout.xaxis.range.map(axis.read);
    const show = async (from, to) => {
      range = [from, to];
      if (redraws) await draw();
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
