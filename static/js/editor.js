/* The result follows the typing. Without this script the buttons of the form do all of it. */
(() => {
  "use strict";
  const form = document.getElementById("plan");
  const panel = document.getElementById("panel");
  const summary = document.getElementById("summary");
  if (!form || !panel || !summary) return;

  let wait = 300; // longer for plans that take longer to answer
  let timer = 0;
  let underway = null;
  let isSent = false;
  let isChanged = false;
  // Changes that a button made are not saved either. They count from the first click or key on: a form that was sent before
  // this script ran must leave the page without a question, and browsers ask only users who have used the page.
  for (const use of ["pointerdown", "keydown"]) {
    addEventListener(use, () => (isChanged ||= form.hasAttribute("data-unsaved")), { capture: true, once: true });
  }

  const inputOf = (name) => form.querySelector(`[name="${CSS.escape(name)}"]`);
  const fieldOf = (name) => form.querySelector(`[data-field="${CSS.escape(name)}"]`);
  const cellOf = (name) => inputOf(name)?.closest(".grid td, .grid th");

  /* Opens everything that hides a part of the form. The columns of queues are hidden without being inside of anything. */
  const reveal = (part) => {
    if (part.closest(".grid .x")) part.closest(".queues").querySelector(":scope > .columns").open = true;
    for (let details = part.closest("details"); details; details = details.parentElement.closest("details")) details.open = true;
  };

  const say = (words, className) => {
    summary.className = className;
    if (summary.textContent !== words) summary.textContent = words;
  };

  /* The errors of a queue are below its row, because the cells are too narrow for them. */
  const linesOf = (row) => {
    if (row.nextElementSibling?.matches(".said")) return row.nextElementSibling.cells[0];
    const said = document.createElement("tr");
    said.className = "said";
    said.insertCell().colSpan = row.cells.length;
    row.after(said);
    return said.cells[0];
  };

  const markCell = (cell, words) => {
    const input = cell.querySelector("input, select");
    const id = `${input.id}-error`;
    cell.classList.toggle("is-wrong", Boolean(words));
    if (words) {
      const lines = linesOf(cell.parentElement);
      let line = document.getElementById(id);
      if (!line) {
        const paragraph = document.createElement("p");
        paragraph.className = "wrong";
        line = document.createElement("span");
        line.id = id;
        paragraph.append(`${input.ariaLabel}: `, line);
        lines.append(paragraph);
      }
      line.textContent = words;
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", id);
      reveal(input);
    } else {
      const paragraph = document.getElementById(id)?.parentElement;
      const said = paragraph?.closest(".said");
      paragraph?.remove();
      if (said && !said.querySelector("p")) said.remove();
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    }
  };

  const mark = (field, words) => {
    const input = field.querySelector("input, select, textarea");
    const id = `${input.id}-error`;
    let line = field.querySelector(":scope > .wrong");
    const described = new Set((input.getAttribute("aria-describedby") || "").split(" ").filter(Boolean));
    field.classList.toggle("is-wrong", Boolean(words));
    if (!words) {
      line?.remove();
      described.delete(id);
      input.removeAttribute("aria-invalid");
    } else {
      if (!line) {
        line = document.createElement("p");
        line.className = "wrong";
        line.id = id;
        field.querySelector(":scope > .box, :scope > .choice").after(line);
      }
      line.textContent = words;
      described.add(id);
      input.setAttribute("aria-invalid", "true");
    }
    if (described.size) input.setAttribute("aria-describedby", [...described].join(" "));
    else input.removeAttribute("aria-describedby");
  };

  /* An empty field is not an error before the user has been in it. */
  const touched = new Set();
  const swapProblems = (items) => {
    const wrong = new Map([...items].map((item) => [item.dataset.for, item.textContent]));
    for (const field of form.querySelectorAll("[data-field]")) {
      const name = field.dataset.field;
      const words = wrong.get(name) || "";
      const isKnown = field.classList.contains("is-wrong");
      if (isKnown || !words || touched.has(name)) if (isKnown || words) mark(field, words);
    }
    for (const cell of form.querySelectorAll(".grid .is-wrong")) {
      if (!wrong.has(cell.querySelector("[name]").name)) markCell(cell, "");
    }
    for (const [name, words] of wrong) {
      const cell = touched.has(name) || isTouchedRow(name) ? cellOf(name) : null;
      if (cell) markCell(cell, words);
    }
  };

  /* A rate without minutes is an error of the empty field, next to the one that was filled in. */
  const isTouchedRow = (name) => {
    const at = name.slice(0, name.lastIndexOf("/") + 1);
    return cellOf(name)?.classList.contains("is-wrong") || (PAIRED.test(name) && ["backlog", "put_rate_per_s", "outage_minutes"].some((key) => touched.has(at + key)));
  };
  const PAIRED = /\/queues\/\d+\/(backlog|put_rate_per_s|outage_minutes)$/;

  const keepPanel = (missing) => {
    panel.querySelector(":scope > .outdated")?.remove();
    const note = document.createElement("div");
    note.className = "notice warning outdated";
    note.append(Object.assign(document.createElement("p"), { textContent: "These figures belong to the previous input." }));
    if (missing) note.append(missing);
    panel.prepend(note);
  };

  const swap = (page) => {
    const fresh = page.getElementById("panel");
    const hasAnswer = fresh.hasAttribute("data-answered");
    const hasRefusal = Boolean(fresh.querySelector(".finding"));
    if (hasAnswer || hasRefusal || !panel.hasAttribute("data-answered")) {
      panel.replaceChildren(...fresh.childNodes);
      panel.toggleAttribute("data-answered", hasAnswer);
    } else {
      keepPanel(page.getElementById("missing"));
    }
    swapProblems(page.querySelectorAll("#problems > li"));
    for (const item of page.querySelectorAll("#settings > li")) {
      const words = form.querySelector(`[data-settings="${CSS.escape(item.dataset.for)}"]`);
      if (words) words.textContent = item.textContent;
    }
    const said = page.getElementById("summary");
    say(said.textContent, said.className);
  };

  const apologize = (words) => {
    if (panel.hasAttribute("data-answered")) keepPanel();
    say(words, "summary is-stale");
  };

  const ask = async () => {
    underway?.abort();
    const mine = (underway = new AbortController());
    const began = performance.now();
    panel.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(form.dataset.preview, {
        method: "POST",
        body: new URLSearchParams(new FormData(form)),
        headers: { accept: "text/html" },
        signal: mine.signal,
      });
      const text = await response.text();
      if (mine !== underway) return; // an older question
      const page = new DOMParser().parseFromString(text, "text/html");
      if (!page.getElementById("panel")) {
        apologize(`The service could not answer (status ${response.status}).`);
        return;
      }
      swap(page);
      wait = Math.min(Math.max(300, 2 * (performance.now() - began)), 5000);
    } catch (error) {
      if (error.name !== "AbortError") apologize("The service does not respond. What you typed is still here.");
    } finally {
      if (mine === underway) panel.removeAttribute("aria-busy");
    }
  };

  const askSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, wait);
  };

  form.addEventListener("input", (event) => {
    const name = event.target.name || "";
    isChanged = true;
    if (!name.startsWith("/") || name.includes("/paste")) return;
    touched.add(name);
    askSoon();
  });
  /* Rows that were added or removed, and pasted values. */
  form.addEventListener("cfplan:changed", (event) => {
    isChanged = true;
    for (const name of event.detail) touched.add(name);
    askSoon();
  });

  /* The title of a structure and the names on its buttons follow what is typed. */
  form.addEventListener("input", (event) => {
    const found = /^\/structures\/\d+\/name$/.test(event.target.name) && event.target.closest("details.structure");
    if (found) found.querySelector(":scope > summary > .mono").textContent = event.target.value.toUpperCase() || "New structure";
  });

  const focusOn = document.getElementById("focus-on");
  form.addEventListener("submit", (event) => {
    isSent = true;
    const button = event.submitter;
    // The buttons name a place in the page for browsers without scripts; here the focus says where to go on, and the
    // address stays as it is, so that a reload sends the form again instead of dropping it.
    button?.removeAttribute("formaction");
    const isEnter = button && button.tabIndex < 0; // Enter in a field: this presses the first button, which is hidden
    focusOn.value = isEnter ? document.activeElement?.id || "" : button?.id || "";
    clearTimeout(timer);
    underway?.abort();
  });
  // Only for a page that comes back from the browser's cache: the first pageshow may follow a click on Save.
  addEventListener("pageshow", (event) => {
    if (event.persisted) isSent = false;
  });
  addEventListener("beforeunload", (event) => {
    if (isChanged && !isSent) event.preventDefault();
  });
  addEventListener("online", () => summary.classList.contains("is-stale") && ask());

  /* After a button that added something, typing goes on there; after a refusal, at the list of what is wrong. */
  const named = focusOn.value && (document.getElementById(focusOn.value) || fieldOf(focusOn.value) || inputOf(focusOn.value));
  const goal = named?.matches?.("details") ? named.querySelector("summary") : named;
  if (goal) {
    const folded = goal.matches("summary") ? goal.parentElement.parentElement : goal;
    reveal(folded);
    const go = () => {
      goal.focus({ preventScroll: true });
      goal.scrollIntoView({ block: "center" });
    };
    go();
    addEventListener("load", () => setTimeout(go));
  } else {
    document.getElementById("wrong-list")?.focus();
  }

  /* Findings and errors link to fields, which may be behind "More". */
  form.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#/"]');
    const part = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!part || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", link.hash);
    reveal(part);
    part.focus({ preventScroll: true });
    part.scrollIntoView({ block: "center" });
  });

  /* A finding may name a place that has no field of its own, such as a queue in a text: the nearest one is shown. */
  if (location.hash.startsWith("#/") && !goal) {
    let at = decodeURIComponent(location.hash.slice(1));
    while (at && !document.getElementById(at)) at = at.slice(0, at.lastIndexOf("/"));
    const nearest = document.getElementById(at);
    if (nearest) reveal(nearest);
    nearest?.scrollIntoView({ block: "center" });
    nearest?.focus?.({ preventScroll: true });
  }
})();
