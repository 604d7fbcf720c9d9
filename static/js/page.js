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
  document.addEventListener("toggle", loadOpened, true); // the event does not bubble

  /* On paper nothing can be opened: explanations are printed open. */
  let closed = [];
  addEventListener("beforeprint", () => {
    const link = document.querySelector("a.explanation");
    if (link) {
      // The browser prints when this function returns, so it has to wait for the answer.
      const request = new XMLHttpRequest();
      request.open("GET", addressOf(link), false);
      request.send();
      if (request.status === 200) fill(request.responseText, addressOf(link));
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
    loadOpened(); // what was opened stays open
  });
  showCopyButtons(document);
  openTarget();
  leadToTab();
})();
