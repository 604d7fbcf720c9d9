/* Small comforts on any page: copy buttons, explanations that load and open when a link leads to them, printing them all. */
(() => {
  "use strict";

  const canCopy = Boolean(navigator.clipboard);
  const showCopyButtons = (root) => {
    if (!canCopy) return;
    for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copy);
    const word = button.firstChild;
    const before = (button.dataset.words ??= word.data); // it may say "Copied" from the click before
    const link = text.querySelector(":scope > a.text");
    if (link && !(await loadText(link))) return; // the link stays, and shows the reason when it is followed
    try {
      await navigator.clipboard.writeText(text.textContent);
      word.data = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      word.data = "Selected";
    }
    setTimeout(() => (word.data = before), 1500);
  });

  /* A link to an explanation opens it, in browsers that do not do so by themselves too. */
  const openTarget = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = target && target.closest("details");
    if (!details) return;
    details.open = true;
    details.querySelector("summary").focus({ preventScroll: true });
  };
  /* What used to be on one page is now on several tabs: a link to such a part leads to its tab. */
  const leadToTab = () => {
    const id = location.hash.slice(1);
    if (!id || document.getElementById(decodeURIComponent(id))) return;
    for (const tab of document.querySelectorAll("a[data-parts]")) {
      const holds = tab.dataset.parts.split(" ").some((beginning) => id.startsWith(beginning));
      if (holds && !tab.hasAttribute("aria-current")) location.replace(tab.href + location.hash);
    }
  };
  addEventListener("hashchange", openTarget);
  addEventListener("hashchange", leadToTab);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#why-"]');
    if (link && link.hash === location.hash) openTarget();
  });

  /* Figures whose explanation is on a page of its own are links to it. Here they open in place, and the link moves inside. */
  const fold = (root) => {
    for (const link of root.querySelectorAll(".figures > a")) {
      const [details, summary, box, inside] = ["details", "summary", "div", "a"].map((tag) => document.createElement(tag));
      details.className = "figure";
      summary.append(...link.childNodes);
      box.className = "why";
      box.id = link.id;
      inside.className = "explanation";
      inside.href = link.getAttribute("href");
      inside.textContent = `Explanation of ${summary.firstChild.textContent.trim()}`;
      box.append(inside);
      details.append(summary, box);
      link.replaceWith(details);
    }
  };
  window.cfplanFigures = { fold };

  /* Explanations that the page does not contain are on a page of their own: the link in each of them leads there. That
     page has them all, so opening the first one loads the others too. Without this script, the link is followed. */
  const addressOf = (link) => link.pathname + link.search;
  const fill = (text, address) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const link of document.querySelectorAll("a.explanation")) {
      const box = link.parentElement;
      const explained = addressOf(link) === address && page.getElementById(box.id);
      if (!explained) continue;
      if (link === document.activeElement) link.closest("details").querySelector("summary").focus();
      box.className = explained.className;
      box.replaceChildren(...explained.childNodes);
    }
  };
  let underway = ""; // the address that is being loaded
  const loadOpened = async () => {
    const link = document.querySelector("details[open] > .why > a.explanation");
    if (!link || addressOf(link) === underway) return;
    const address = (underway = addressOf(link));
    try {
      const response = await fetch(address, { headers: { accept: "text/html" } });
      if (response.ok) fill(await response.text(), address);
    } catch {
      // The link stays, and shows the reason when it is followed.
    } finally {
      if (underway === address) underway = "";
    }
  };

  /* Texts that the page does not contain are loaded one by one, each from the link in its place. */
  const fillText = (link, text) => {
    const box = link.parentElement;
    if (link === document.activeElement) box.focus();
    box.textContent = text;
  };
  const isText = (type) => (type ?? "").startsWith("text/plain"); // an error, or the page to sign in, is HTML
  const fetchText = async (link) => {
    try {
      const response = await fetch(link.href);
      if (!response.ok || !isText(response.headers.get("content-type"))) return false;
      fillText(link, await response.text());
      return true;
    } catch {
      return false;
    } finally {
      textsUnderway.delete(link);
    }
  };
  const textsUnderway = new Map(); // by the link, what its request will return
  const loadText = (link) => {
    if (!textsUnderway.has(link)) textsUnderway.set(link, fetchText(link));
    return textsUnderway.get(link);
  };
  const loadOpenedTexts = () => document.querySelectorAll("details[open] > pre > a.text").forEach(loadText);

  const onToggle = () => {
    loadOpened();
    loadOpenedTexts();
  };
  document.addEventListener("toggle", onToggle, true); // the event does not bubble

  /* On paper nothing can be opened: explanations and texts are printed open. */
  let closed = [];
  const answerTo = (address) => {
    // The browser prints when the handler returns, so it has to wait for the answer.
    const request = new XMLHttpRequest();
    request.open("GET", address, false);
    request.send();
    return request;
  };
  addEventListener("beforeprint", () => {
    const link = document.querySelector("a.explanation");
    if (link) {
      const answer = answerTo(addressOf(link));
      if (answer.status === 200) fill(answer.responseText, addressOf(link));
    }
    for (const each of document.querySelectorAll("pre > a.text")) {
      const answer = answerTo(each.href);
      if (answer.status === 200 && isText(answer.getResponseHeader("content-type"))) fillText(each, answer.responseText);
    }
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
    closed = [];
  });

  document.addEventListener("cfplan:swapped", (event) => {
    showCopyButtons(event.target);
    onToggle(); // what was opened stays open
  });
  showCopyButtons(document);
  fold(document);
  openTarget();
  leadToTab();
})();
