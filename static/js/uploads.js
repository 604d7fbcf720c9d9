/* Uploads: dropped files, progress of each transfer and of the reading. Without this script, forms and a refresh do the same. */
(() => {
  "use strict";
  const GIB = 2 ** 30;
  const MIB = 2 ** 20;
  const STAGES = {
    indexing: "Finding the records",
    decoding: "Decoding",
    committing: "Storing in the usage history",
    summing: "Aggregating by hour",
  };

  const amount = (bytes) => {
    if (bytes < MIB) return `${bytes} bytes`;
    if (bytes < GIB) return `${(bytes / MIB).toFixed(1)} MiB`;
    return `${(bytes / GIB).toFixed(2)} GiB`;
  };

  const setBar = (id, share, words) => {
    const bar = document.getElementById(id);
    if (share === null) bar.removeAttribute("value");
    else bar.value = Math.floor(1000 * share);
    document.getElementById(`${id}-words`).textContent = words;
  };

  /* ---- the transfer ---------------------------------------------------------------------------------------------- */

  const AT_ONCE = 2; // one file is written to disk while the next one is on its way

  /* Sends one file; the promise is that of its answer, and each error says what to do. */
  const send = (form, file, batch, onProgress) => {
    const query = new URLSearchParams({ name: file.name });
    for (const name of ["kind", "observed_at", "zone"]) {
      const value = form.elements[name].value.trim();
      if (value) query.set(name, value);
    }
    if (batch) query.set("batch", batch);
    const request = new XMLHttpRequest();
    const done = new Promise((resolve, reject) => {
      request.upload.addEventListener("progress", (event) => onProgress(event.loaded));
      request.addEventListener("load", () => {
        let answer = {};
        try {
          answer = JSON.parse(request.responseText);
        } catch {
          /* a proxy's own page: the status says enough */
        }
        if (request.status < 300) resolve(answer);
        else reject(new Error(answer.detail || `The service answered with status ${request.status}.`));
      });
      request.addEventListener("error", () => reject(new Error("The connection ended before the upload was complete. Nothing was stored.")));
      request.addEventListener("abort", () => reject(new Error("The upload was canceled. Nothing was stored.")));
    });
    request.open("POST", `${form.dataset.rest}?${query}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader("Accept", "application/json");
    request.send(file);
    return { request, done };
  };

  const newBatch = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  /* A line of the list for each file: its name, a bar, and its state or its error. */
  const lineOf = (file) => {
    const [line, name, bar, words] = ["li", "span", "progress", "span"].map((each) => document.createElement(each));
    name.textContent = file.name;
    name.className = "name";
    bar.max = Math.max(file.size, 1);
    bar.value = 0;
    bar.setAttribute("aria-label", file.name);
    words.className = "words";
    line.append(name, bar, words);
    return { line, bar, words };
  };

  const takeOver = (form) => {
    const [box, cancel, refused, list, retry, sentLink] = ["transfer", "cancel", "refused", "sending", "retry", "sent"].map((id) => document.getElementById(id));
    const button = document.getElementById("send");
    let items = []; // each file with its state: waiting, sending, sent or failed
    let batch = "";
    let isSending = false;

    const show = (item, state, words) => {
      item.state = state;
      item.line.className = state;
      item.words.textContent = words;
    };
    const count = (state) => items.filter((item) => item.state === state).length;
    const showTotal = (begun, before) => {
      const total = items.reduce((sum, item) => sum + item.file.size, 0);
      const sent = items.reduce((sum, item) => sum + item.loaded, 0);
      const rate = (sent - before) / Math.max((performance.now() - begun) / 1000, 0.001);
      const files = items.length > 1 ? `${count("sent")} of ${items.length} files, ` : "";
      const failed = count("failed") ? `${count("failed")} failed, ` : "";
      setBar("bar-transfer", total ? sent / total : 1, `${files}${failed}${amount(sent)} of ${amount(total)}, ${(rate / MIB).toFixed(1)} MiB a second`);
    };

    const sendNext = async (begun, before) => {
      for (let item; isSending && (item = items.find((each) => each.state === "waiting")); ) {
        show(item, "sending", "sending");
        const { request, done } = send(form, item.file, batch, (loaded) => {
          item.loaded = Math.min(loaded, item.file.size);
          item.bar.value = item.loaded;
          showTotal(begun, before);
        });
        item.request = request;
        try {
          item.answer = await done;
          item.loaded = item.file.size;
          item.bar.value = item.bar.max;
          show(item, "sent", item.answer.stored === "identical" ? "sent before" : "sent");
        } catch (error) {
          item.loaded = 0;
          item.bar.value = 0;
          show(item, "failed", error.message);
          // The same answer twice and no file stored: the details of all files are wrong, not these two.
          if (!count("sent") && items.filter((each) => each.words.textContent === error.message).length > 1) isSending = false;
        }
        showTotal(begun, before);
      }
    };

    const sendAll = async () => {
      isSending = true;
      refused.hidden = retry.hidden = sentLink.hidden = true;
      box.hidden = cancel.hidden = false;
      button.disabled = true;
      for (const item of items) if (item.state !== "sent") show(item, "waiting", "waiting");
      const begun = performance.now();
      const before = items.reduce((sum, item) => sum + item.loaded, 0);
      await Promise.all(Array.from({ length: AT_ONCE }, () => sendNext(begun, before)));
      isSending = false;
      const unsent = items.filter((item) => item.state !== "sent");
      if (!unsent.length) {
        const { answer } = items[0];
        location.assign(batch ? `${form.dataset.pages}?batch=${batch}&said=created` : `${form.dataset.pages}/${answer.id}?said=${answer.stored === "identical" ? "identical" : "created"}`);
        return;
      }
      for (const item of unsent) if (item.state === "waiting") show(item, "failed", "not sent");
      const reasons = [...new Set(unsent.map((item) => item.words.textContent).filter((words) => words !== "not sent"))];
      refused.textContent = items.length === 1 ? reasons[0] : `${unsent.length} of ${items.length} files were not sent. ${reasons.length === 1 ? reasons[0] : "The list gives the reasons."}`;
      refused.hidden = false;
      cancel.hidden = true;
      box.hidden = items.length === 1;
      retry.hidden = items.length === 1;
      sentLink.hidden = !count("sent");
      sentLink.href = `${form.dataset.pages}?batch=${batch}`;
      button.disabled = false;
      (items.length === 1 ? button : retry).focus();
    };

    cancel.addEventListener("click", () => {
      isSending = false;
      for (const item of items) if (item.state === "sending") item.request.abort();
    });
    retry.addEventListener("click", sendAll);
    addEventListener("beforeunload", (event) => {
      if (isSending) event.preventDefault();
    });

    form.addEventListener("submit", (event) => {
      const files = [...form.elements.file.files];
      if (!files.length || form.elements.text.value) return; // a text goes with the form itself
      event.preventDefault();
      if (isSending) return;
      items = files.map((file) => ({ file, state: "waiting", loaded: 0, ...lineOf(file) }));
      batch = files.length > 1 ? newBatch() : "";
      list.replaceChildren(...items.map((item) => item.line));
      list.hidden = files.length === 1;
      sendAll();
    });
  };

  /* Files can be dropped anywhere on the zone; they are added to those that were chosen. */
  const acceptDrops = (zone, input) => {
    const said = document.getElementById("chosen");
    const tell = (note = "") => {
      const files = [...input.files];
      const size = amount(files.reduce((sum, file) => sum + file.size, 0));
      said.textContent = files.length ? `${files.length} ${files.length === 1 ? "file" : "files"}, ${size}. ${note}` : note;
    };
    zone.classList.add("is-ready");
    document.getElementById("drop-here").hidden = false;
    for (const name of ["dragenter", "dragover"]) {
      zone.addEventListener(name, (event) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        zone.classList.add("is-over");
      });
    }
    zone.addEventListener("dragleave", (event) => {
      if (!zone.contains(event.relatedTarget)) zone.classList.remove("is-over");
    });
    zone.addEventListener("drop", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      zone.classList.remove("is-over");
      const all = new DataTransfer();
      const isKnown = (file) => [...all.files].some((each) => each.name === file.name && each.size === file.size && each.lastModified === file.lastModified);
      let folders = 0;
      for (const file of input.files) all.items.add(file);
      for (const item of event.dataTransfer.items) {
        if (item.webkitGetAsEntry?.()?.isDirectory) folders += 1;
        else if (item.kind === "file" && !isKnown(item.getAsFile())) all.items.add(item.getAsFile());
      }
      input.files = all.files;
      tell(folders ? "Folders cannot be uploaded: drop the files in them." : "");
    });
    input.addEventListener("change", () => tell());
    tell();
  };

  /* ---- the reading ----------------------------------------------------------------------------------------------- */

  const follow = (bars) => {
    const sentence = document.getElementById("bars-sentence");
    const source = new EventSource(bars.dataset.events);
    const show = (job) => {
      const known = job.state === "running" && job.total > 0;
      const of = job.total > 1 ? `: ${amount(job.done)} of ${amount(job.total)}` : "";
      const words = known ? `${STAGES[job.stage] || job.stage}${of}` : "";
      setBar("bar-reading", known ? Math.min(job.done / job.total, 1) : null, words);
      if (sentence.textContent !== job.sentence) sentence.textContent = job.sentence; // read out once for each stage
      sentence.classList.toggle("vh", known); // to be seen it stands beside the bar
    };
    source.addEventListener("progress", (event) => show(JSON.parse(event.data)));
    source.addEventListener("end", () => {
      source.close();
      location.replace(location.pathname); // the page with the report, or with the question
    });
    addEventListener("pagehide", () => source.close());
  };

  /* ---- the list -------------------------------------------------------------------------------------------------- */

  const EVERY_MS = 2000;
  const LONGEST_MS = 30000;

  /* Asks for the page again while something on it is under way, and takes over the states: nothing moves, and whoever
     is on a link stays there. Uploads that came meanwhile are there when the page is opened again. */
  const keepUp = (list) => {
    const said = document.getElementById("uploads-said");
    let pause = EVERY_MS;

    const replace = (element, other) => element.replaceChildren(...[...other.childNodes].map((node) => document.importNode(node, true)));

    const takeOver = (fresh) => {
      const changes = [];
      for (const row of list.querySelectorAll("tbody tr")) {
        const now = fresh.getElementById(row.id)?.querySelector("td.state");
        const before = row.querySelector("td.state");
        if (!now || now.innerHTML === before.innerHTML) continue;
        const word = (cell) => (cell.querySelector(".sev") || cell).textContent.trim().split(",")[0]; // without the reason
        if (word(now) !== word(before)) changes.push(`${row.querySelector("th").textContent.trim()}: ${word(now)}`);
        replace(before, now);
        const [action, other] = [row, fresh.getElementById(row.id)].map((each) => each.querySelector("td.act"));
        if (action.innerHTML === other.innerHTML) continue; // the state changes at each percent, the action at the end
        const hadFocus = action.contains(document.activeElement);
        replace(action, other);
        if (hadFocus) action.querySelector("a, button").focus();
      }
      for (const batch of document.querySelectorAll("#batches > .batch")) {
        const now = fresh.getElementById(batch.id);
        if (now && now.innerHTML !== batch.innerHTML && !batch.contains(document.activeElement)) replace(batch, now);
      }
      const counts = fresh.querySelectorAll("#states .total");
      document.querySelectorAll("#states .total").forEach((each, at) => {
        if (counts[at]) replace(each, counts[at]);
      });
      if (changes.length) said.textContent = changes.join(". "); // read out when a state changes, not at each percent
      return Boolean(fresh.getElementById("uploads")?.hasAttribute("data-live"));
    };

    const look = async () => {
      let goesOn = true;
      if (!document.hidden) {
        try {
          const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
          if (!answer.ok) throw new Error(answer.status);
          goesOn = takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"));
          pause = EVERY_MS;
        } catch {
          pause = Math.min(pause * 2, LONGEST_MS); // the service is away for a moment
        }
      }
      if (goesOn) setTimeout(look, pause);
    };
    setTimeout(look, EVERY_MS);
  };

  const list = document.getElementById("uploads");
  if (list?.hasAttribute("data-live")) keepUp(list);
  const form = document.getElementById("upload");
  if (form && window.XMLHttpRequest) takeOver(form);
  const zone = document.getElementById("drop");
  if (form && zone && window.DataTransfer) acceptDrops(zone, form.elements.file);
  const bars = document.getElementById("bars");
  if (bars?.dataset.events && window.EventSource) follow(bars);
})();
