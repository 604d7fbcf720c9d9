/* The bars of uploads: one for the transfer, one for the reading. Without this script forms and a refresh do the same. */
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

  const send = (form, file, before, total, begun) => {
    const query = new URLSearchParams({ name: file.name });
    for (const name of ["kind", "observed_at", "zone"]) {
      const value = form.elements[name].value.trim();
      if (value) query.set(name, value);
    }
    const request = new XMLHttpRequest();
    const done = new Promise((resolve, reject) => {
      request.upload.addEventListener("progress", (event) => {
        const sent = before + event.loaded;
        const rate = sent / Math.max((performance.now() - begun) / 1000, 0.001);
        setBar("bar-transfer", total ? sent / total : 1, `${amount(sent)} of ${amount(total)}, ${amount(Math.round(rate))} a second`);
      });
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

  const takeOver = (form) => {
    const [box, cancel, refused] = ["transfer", "cancel", "refused"].map((id) => document.getElementById(id));
    const button = document.getElementById("send");
    let current = null;
    cancel.addEventListener("click", () => current?.abort());
    addEventListener("beforeunload", (event) => {
      if (current) event.preventDefault();
    });

    form.addEventListener("submit", async (event) => {
      const files = [...form.elements.file.files];
      if (!files.length || form.elements.text.value) return; // a text goes with the form itself
      event.preventDefault();
      if (current) return;
      refused.hidden = true;
      box.hidden = false;
      button.disabled = true;
      const total = files.reduce((sum, file) => sum + file.size, 0);
      const begun = performance.now();
      let before = 0;
      let last = null;
      try {
        for (const file of files) {
          const { request, done } = send(form, file, before, total, begun);
          current = request;
          last = await done;
          before += file.size;
        }
        current = null;
        setBar("bar-transfer", 1, `${amount(total)}, complete`);
        const said = last.stored === "identical" ? "identical" : "created";
        location.assign(files.length > 1 ? `${form.dataset.pages}?said=created` : `${form.dataset.pages}/${last.id}?said=${said}`);
      } catch (error) {
        current = null;
        box.hidden = true;
        button.disabled = false;
        refused.textContent = error.message;
        refused.hidden = false;
        button.focus();
      }
    });
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

    const takeOver = (fresh) => {
      const changes = [];
      for (const row of list.querySelectorAll("tbody tr")) {
        const now = fresh.getElementById(row.id)?.querySelector("td.state");
        const before = row.querySelector("td.state");
        if (!now || now.innerHTML === before.innerHTML) continue;
        const word = (cell) => cell.textContent.trim().split(",")[0];
        if (word(now) !== word(before)) changes.push(`${row.querySelector("th").textContent.trim()}: ${word(now)}`);
        before.replaceChildren(...[...now.childNodes].map((node) => document.importNode(node, true)));
      }
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
  const bars = document.getElementById("bars");
  if (bars?.dataset.events && window.EventSource) follow(bars);
})();
