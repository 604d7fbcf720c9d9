/* The grid of queues: arrow keys, pasted blocks, rows, and undo. Without this script, the buttons of the form add and
   remove rows, and queues are pasted into the field below the grid. */
(() => {
  "use strict";
  const form = document.getElementById("plan");
  if (!form) return;

  const MOST_STEPS = 100; // of undo
  const YES = ["yes", "y", "true", "1", "x"];
  const NO = ["no", "n", "false", "0", ""];

  const inputIn = (cell) => cell?.querySelector("input, select");
  const rowOf = (input) => input.closest("tr.queue");
  const rowsIn = (body) => [...body.querySelectorAll(":scope > tr.queue")];
  const bodyOf = (part) => part.closest(".queues").querySelector(".grid > tbody");
  const addButton = (grid) => grid.querySelector('button[value^="add:"]');
  const inputsOf = (row) => [...row.cells].map(inputIn).filter(Boolean);
  const isText = (input) => input?.matches('input:not([type="checkbox"])');
  const isBlank = (row) => inputsOf(row).every((input) => !isText(input) || !input.value.trim());
  const visible = (inputs) => inputs.filter((input) => input.checkVisibility());
  const isUsed = (row) => inputsOf(row).some((input) => input.type !== "checkbox" && input.value.trim());

  const valueOf = (input) => (input.type === "checkbox" ? (input.checked ? "yes" : "no") : input.value);
  const put = (input, text) => {
    if (input.type === "checkbox") input.checked = text === "yes";
    else input.value = text;
    before.set(input, text);
  };

  /* ---- undo ---- */

  /* A step is a list of changes: a value, or a row that was added or removed. */
  const done = [];
  const before = new WeakMap(); // the value of a field when it got the focus

  const show = (words) => {
    const last = done.at(-1);
    for (const button of form.querySelectorAll("button.undo")) {
      button.hidden = false;
      button.disabled = !last;
      button.textContent = last ? `Undo: ${last.words}` : "Undo";
    }
    if (words === undefined) return;
    for (const place of form.querySelectorAll(".did")) place.textContent = place.closest(".queues") === words.grid ? words.text : "";
  };

  const tell = (grid, text) => show({ grid, text });

  const changed = (names) => {
    for (const grid of form.querySelectorAll(".queues")) {
      const count = rowsIn(bodyOf(grid)).filter(isUsed).length;
      const words = grid.closest(".structure").querySelector(":scope > summary > .muted");
      words.textContent = `${count} ${count === 1 ? "queue" : "queues"}`;
    }
    form.dispatchEvent(new CustomEvent("cfplan:changed", { detail: names }));
  };

  const record = (grid, words, changes) => {
    done.push({ grid, words, changes });
    if (done.length > MOST_STEPS) done.shift();
    show();
  };

  const takeOut = (row) => {
    const place = { body: row.parentElement, next: nextRow(row) };
    if (row.nextElementSibling?.matches(".said")) row.nextElementSibling.remove();
    row.remove();
    return place;
  };
  const nextRow = (row) => {
    let next = row.nextElementSibling;
    while (next && !next.matches(".queue")) next = next.nextElementSibling;
    return next;
  };
  const putBack = (row, { body, next }) => body.insertBefore(row, next?.parentElement === body ? next : null);

  const undo = () => {
    const step = done.pop();
    if (!step) return;
    let goal = null;
    for (const change of [...step.changes].reverse()) {
      if (change.added) takeOut(change.added);
      else if (change.removed) putBack(change.removed, change.place);
      else put(change.input, change.from);
      goal = change.input ?? (change.removed && inputIn(change.removed.cells[0])) ?? goal;
    }
    if (goal?.isConnected) goal.focus();
    else (inputIn(rowsIn(bodyOf(step.grid)).at(-1)?.cells[0]) ?? addButton(step.grid)).focus();
    changed(step.changes.map((change) => change.input?.name).filter(Boolean));
    tell(step.grid, `Undone: ${step.words}.`);
  };

  form.addEventListener("focusin", ({ target }) => {
    if (target.closest(".grid") && target.name) before.set(target, valueOf(target));
  });
  form.addEventListener("change", ({ target }) => {
    if (!target.closest(".grid") || !target.name) return;
    const from = before.get(target) ?? "";
    const to = valueOf(target);
    if (from === to) return;
    before.set(target, to);
    record(target.closest(".queues"), `change of ${target.ariaLabel}`, [{ input: target, from }]);
    changed([]);
  });

  /* ---- rows ---- */

  let sample = form.querySelector("tr.queue"); // copied for new rows
  const numberOf = (row) => Number(row.id.slice(row.id.lastIndexOf("/") + 1));
  const used = new Map(); // the highest number that a row of a structure has had, since undo brings rows back

  const newRow = (body) => {
    const at = body.dataset.at;
    const number = Math.max(used.get(at) ?? -1, ...rowsIn(body).map(numberOf)) + 1;
    used.set(at, number);
    const row = sample.cloneNode(true);
    row.id = `${at}/${number}`;
    for (const cell of row.cells) {
      cell.classList.remove("is-wrong");
      const input = inputIn(cell);
      if (!input) continue;
      const key = input.name.slice(input.name.lastIndexOf("/"));
      input.id = input.name = row.id + key;
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
      if (input.type === "checkbox") input.checked = false;
      else if (input.matches("select")) input.selectedIndex = 0;
      else input.value = "";
    }
    const out = row.querySelector(".out button");
    out.value = `remove:${row.id}`;
    out.querySelector(".vh").textContent = "Remove queue";
    // Queues of one structure usually have the same persistence.
    const last = rowsIn(body).at(-1);
    const persistent = (of) => inputsOf(of).find((input) => input.name.endsWith("/persistent"));
    if (last) persistent(row).checked = persistent(last).checked;
    body.append(row);
    return row;
  };

  const addRow = (body) => {
    const row = newRow(body);
    record(body.closest(".queues"), "added row", [{ added: row }]);
    inputIn(row.cells[0]).focus();
    changed([]);
  };

  const removeRow = (row) => {
    const body = row.parentElement;
    const grid = body.closest(".queues");
    const name = inputIn(row.cells[0]).value.trim();
    used.set(body.dataset.at, Math.max(used.get(body.dataset.at) ?? -1, ...rowsIn(body).map(numberOf)));
    const rows = rowsIn(body);
    const near = rows[rows.indexOf(row) + 1] ?? rows[rows.indexOf(row) - 1];
    const words = name ? `removal of ${name}` : "removal of a row";
    record(grid, words, [{ removed: row, place: takeOut(row) }]);
    (near ? inputIn(near.cells[0]) : addButton(grid)).focus();
    changed([]);
    tell(grid, `Removed ${name || "a row"}.`);
  };

  form.addEventListener("click", (event) => {
    const button = event.target.closest(".queues button");
    if (!button) return;
    if (button.matches(".undo")) {
      undo();
    } else if (button.closest("tr.queue")) {
      event.preventDefault();
      removeRow(rowOf(button));
    } else if (button.value.startsWith("add:") && sample) {
      event.preventDefault();
      addRow(bodyOf(button));
    }
  });

  form.addEventListener("input", ({ target }) => {
    if (!target.closest(".grid .q-name")) return;
    rowOf(target).querySelector(".out .vh").textContent = `Remove ${target.value.trim() || "queue"}`;
  });

  /* ---- keys ---- */

  const go = (input) => {
    if (!input) return false;
    input.focus();
    if (isText(input)) input.select();
    input.scrollIntoView({ block: "nearest", inline: "nearest" });
    return true;
  };

  const beside = (input, step) => {
    const inputs = visible(inputsOf(rowOf(input)));
    return inputs[inputs.indexOf(input) + step];
  };
  const above = (input, step) => {
    const rows = rowsIn(bodyOf(input));
    const row = rows[rows.indexOf(rowOf(input)) + step];
    return row && inputIn(row.cells[input.closest("td, th").cellIndex]);
  };

  const isWhole = (input) => input.selectionStart === 0 && input.selectionEnd === input.value.length;
  const atStart = (input) => !isText(input) || isWhole(input) || (input.selectionStart === 0 && input.selectionEnd === 0);
  const atEnd = (input) => {
    const end = isText(input) ? input.value.length : 0;
    return !isText(input) || isWhole(input) || (input.selectionStart === end && input.selectionEnd === end);
  };

  /* Up, down, left and right change the option of a list, as everywhere. */
  const MOVES = {
    ArrowUp: (input) => above(input, -1),
    ArrowDown: (input) => above(input, 1),
    ArrowLeft: (input) => atStart(input) && beside(input, -1),
    ArrowRight: (input) => atEnd(input) && beside(input, 1),
  };

  form.addEventListener("keydown", (event) => {
    const input = event.target;
    if (event.isComposing || event.altKey) return;
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if (isUndo) {
      const isElsewhere = input.matches("input, textarea, select") && !input.closest(".grid");
      // What is being typed in a field is undone by the browser.
      const isTyping = isText(input) && before.get(input) !== undefined && before.get(input) !== input.value;
      if (isElsewhere || isTyping || !done.length) return;
      event.preventDefault();
      undo();
      return;
    }
    if (!input.closest("tr.queue") || input.matches("button, select") || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") {
      event.preventDefault();
      if (go(above(input, event.shiftKey ? -1 : 1)) || event.shiftKey || isBlank(rowOf(input))) return;
      addRow(bodyOf(input));
    } else if (!event.shiftKey && MOVES[event.key]) {
      const goal = MOVES[event.key](input);
      if (goal && go(goal)) event.preventDefault();
    }
  });

  /* ---- paste ---- */

  const keyOf = (input) => input.name.slice(input.name.lastIndexOf("/") + 1);

  /* Cells with tabs or line ends may be quoted, as spreadsheets copy them. */
  const cellsIn = (text) => {
    const rows = [[]];
    const pattern = /(?:"((?:[^"]|"")*)"|([^\t\n]*))(\t|\n|$)/gy;
    let found;
    while (pattern.lastIndex < text.length && (found = pattern.exec(text))) {
      rows.at(-1).push((found[1]?.replaceAll('""', '"') ?? found[2]).replace(/\s+/g, " ").trim());
      if (found[3] === "\n") rows.push([]);
    }
    return rows.filter((row) => row.length);
  };

  /* The text that a field gets, or null if the field cannot have it. */
  const fitting = (input, text) => {
    if (input.type === "checkbox") {
      const word = text.toLowerCase();
      return YES.includes(word) ? "yes" : NO.includes(word) ? "no" : null;
    }
    if (!input.matches("select")) return text.length <= input.maxLength ? text : null;
    const options = [...input.options];
    const word = text.toLowerCase();
    return options.find((option) => [option.value, option.text].some((each) => each.toLowerCase() === word))?.value ?? null;
  };

  const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

  /* Too many rows, or columns that the grid does not have: the field for pasted queues reads them. */
  const passOn = (grid, text, reason) => {
    const box = grid.closest(".structure").querySelector("textarea[name$='/paste']");
    box.closest("details").open = true;
    box.focus();
    if (box.value.trim()) {
      tell(grid, `${reason} Nothing was pasted, because “Paste many queues” still has a text.`);
      return;
    }
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
    tell(grid, `${reason} They are under “Paste many queues”: press “Add these queues” there.`);
  };

  const pasteBlock = (input, text) => {
    const body = bodyOf(input);
    const grid = body.closest(".queues");
    let lines = cellsIn(text);
    const all = inputsOf(rowOf(input)).map(keyOf);
    const labels = inputsOf(rowOf(input)).map((each) => each.ariaLabel.toLowerCase());
    const first = all.indexOf(keyOf(input));
    const columnOf = (cell) => Math.max(all.indexOf(cell.toLowerCase()), labels.indexOf(cell.toLowerCase()));
    let columns = null;
    if (lines[0].filter((cell) => columnOf(cell) >= 0).length >= 2) {
      columns = lines[0].map(columnOf);
      if (columns.includes(-1) || lines.length < 2) {
        passOn(grid, text, "These queues have columns that the grid does not have.");
        return;
      }
      lines = lines.slice(1);
    } else {
      const shown = visible(inputsOf(rowOf(input))).map(keyOf);
      const from = shown.indexOf(keyOf(input));
      const width = Math.max(...lines.map((line) => line.length));
      // A block that is wider than the table continues in the columns behind "More", never nowhere.
      columns = width <= shown.length - from ? shown.slice(from).map((key) => all.indexOf(key)) : all.slice(first).map((_, step) => first + step);
    }
    const start = rowsIn(body).indexOf(rowOf(input));
    const most = Number(grid.querySelector(".grid").dataset.most);
    if (start + lines.length > most) {
      const keys = columns.slice(0, Math.max(...lines.map((line) => line.length))).map((column) => all[column]);
      passOn(grid, [keys, ...lines].map((line) => line.join("\t")).join("\n"), `${lines.length} queues are too many for the grid.`);
      return;
    }
    const changes = [];
    const names = [];
    const left = [];
    lines.forEach((line, step) => {
      let row = rowsIn(body)[start + step];
      if (!row) {
        row = newRow(body);
        changes.push({ added: row });
      }
      const inputs = inputsOf(row);
      line.forEach((cell, at) => {
        const target = inputs[columns[at]];
        const value = target ? fitting(target, cell) : null;
        if (value === null) {
          if (cell) left.push(cell);
          return;
        }
        const from = valueOf(target);
        if (from === value) return;
        changes.push({ input: target, from });
        put(target, value);
        names.push(target.name);
        if (target.closest(".x")) grid.querySelector(":scope > .columns").open = true;
      });
      row.querySelector(".out .vh").textContent = `Remove ${inputs[0].value.trim() || "queue"}`;
    });
    const size = plural(lines.length, "row", "rows");
    record(grid, `paste of ${size}`, changes);
    changed(names);
    const lost = left.length
      ? ` ${plural(left.length, "value does", "values do")} not fit and ${left.length === 1 ? "was" : "were"} left out: ${left.slice(0, 3).join(", ")}${left.length > 3 ? ", …" : ""}.`
      : "";
    tell(grid, `Pasted ${size}.${lost}`);
  };

  form.addEventListener("paste", (event) => {
    const input = event.target.closest?.("tr.queue input, tr.queue select");
    if (!input) return;
    const text = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n").replace(/\n+$/, "");
    if (!/[\t\n]/.test(text)) return; // one value, which the browser inserts
    event.preventDefault();
    pasteBlock(input, text);
  });

  show();
})();
