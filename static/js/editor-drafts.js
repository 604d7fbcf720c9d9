/* Drafts of the editor: unsaved changes, kept in this browser for each plan and version until they are saved or
   discarded. A draft is never restored without a click. The page of a saved plan loads this script too, and removes the
   drafts that have been saved. */
(() => {
  "use strict";
  // Users who share a browser do not see each other's drafts.
  const user = document.body.dataset.user;
  const PREFIX = `cfplan-draft:${user ? `${user}:` : ""}`;
  const MOST_CHARACTERS = 1_000_000; // of one draft: browsers give a site about five million
  const MOST_DRAFTS = 10;
  const WAIT_MS = 800;

  const storage = (() => {
    try {
      return window.localStorage;
    } catch {
      return null; // switched off
    }
  })();
  if (!storage) return;

  const read = (key) => {
    try {
      const draft = JSON.parse(storage.getItem(key));
      return Array.isArray(draft?.fields) && draft.at > 0 ? { key, ...draft } : null;
    } catch {
      return null;
    }
  };
  const remove = (key) => {
    try {
      storage.removeItem(key);
    } catch {
      // nothing was kept
    }
  };
  const drafts = () =>
    Object.keys(storage)
      .filter((key) => key.startsWith(`${PREFIX}/`))
      .map(read)
      .filter(Boolean)
      .sort((one, other) => other.at - one.at);

  const form = document.getElementById("plan");

  /* The page that follows a successful save. */
  if (!form) {
    if (!new URLSearchParams(location.search).get("saved")) return;
    for (const draft of drafts()) {
      if (draft.isSent && (draft.path === `${location.pathname}/edit` || draft.path.endsWith("/new-plan"))) remove(draft.key);
    }
    return;
  }

  const path = new URL(form.action).pathname;
  const base = form.elements.base.value;
  const own = `${PREFIX}${path}@${base}#${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  const offer = document.getElementById("draft");
  const state = document.getElementById("draft-state");
  let timer = 0;
  let isGone = false; // sent: what is stored from here on would be older than the answer

  const fieldsNow = () => [...new FormData(form)].filter(([name]) => !["do", "focus", "etag", "base"].includes(name));
  /* In UTC, as all times of the application. */
  const moment = (at) => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

  const say = (words) => {
    state.hidden = false;
    state.textContent = words;
  };

  const keep = (isSent = false) => {
    clearTimeout(timer);
    timer = 0;
    const draft = { path, base, etag: form.elements.etag.value, at: Date.now(), isSent, fields: fieldsNow() };
    const text = JSON.stringify(draft);
    if (text.length > MOST_CHARACTERS) {
      remove(own);
      say("No draft is kept: the plan is too large for the browser's storage.");
      return;
    }
    try {
      storage.setItem(own, text);
    } catch {
      say("No draft is kept: the browser's storage is full.");
      return;
    }
    for (const old of drafts().slice(MOST_DRAFTS)) remove(old.key);
    say(`Draft kept in this browser, ${moment(draft.at)}.`);
  };

  const keepSoon = () => {
    isGone = false;
    clearTimeout(timer);
    timer = setTimeout(keep, WAIT_MS);
  };
  form.addEventListener("input", keepSoon);
  form.addEventListener("cfplan:changed", keepSoon);
  const keepNow = () => timer && !isGone && keep();
  addEventListener("pagehide", keepNow);
  document.addEventListener("visibilitychange", () => document.hidden && keepNow());
  form.addEventListener("submit", () => {
    const wasKept = timer || read(own) || form.hasAttribute("data-unsaved");
    if (wasKept) keep(true);
    isGone = true;
  });

  /* ---- offers ---- */

  const same = (draft) => JSON.stringify(draft.fields) === JSON.stringify(fieldsNow());
  const isPosted = form.hasAttribute("data-unsaved");
  const found = [];
  for (const draft of drafts().filter((each) => each.path === path)) {
    // What was sent is in the form that came back, or was saved.
    if (same(draft) || (isPosted && draft.isSent)) remove(draft.key);
    else found.push(draft);
  }
  if (isPosted) keep();

  const show = () => {
    const draft = found[0];
    offer.hidden = !draft;
    if (!draft) return;
    const isOlder = Number(draft.base) < Number(base);
    const older = isOlder ? ` It is based on version ${draft.base}; version ${base} has been saved since. If you restore and save it, a page shows both changes.` : "";
    offer.classList.toggle("warning", isOlder);
    offer.firstElementChild.textContent = `This browser has a draft that was not saved, ${moment(draft.at)}.${older}`;
  };

  const restore = (draft) => {
    const send = document.createElement("form");
    send.method = "post";
    send.action = form.action;
    send.hidden = true;
    const all = [...draft.fields, ["etag", draft.etag], ["base", draft.base], ["do", "restore"]];
    for (const [name, value] of all) {
      const box = document.createElement("textarea"); // keeps the line ends
      box.name = name;
      box.value = value;
      send.append(box);
    }
    try {
      storage.setItem(draft.key, JSON.stringify({ ...draft, isSent: true }));
    } catch {
      // The storage is full: the draft is restored all the same, and stays on offer.
    }
    document.body.append(send);
    send.submit();
  };

  offer.addEventListener("click", (event) => {
    const action = event.target.closest("[data-draft]")?.dataset.draft;
    if (action === "restore") restore(found[0]);
    if (action !== "discard") return;
    remove(found.shift().key);
    show();
    if (found.length) offer.querySelector("[data-draft=restore]").focus();
    else document.getElementById("page-content").focus();
  });
  show();
})();
