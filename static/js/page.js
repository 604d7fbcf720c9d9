/* Small comforts on any page: copy buttons, explanations that open when a link leads to them, printing them all. */
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
    const before = word.data;
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
  addEventListener("hashchange", openTarget);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#why-"]');
    if (link && link.hash === location.hash) openTarget();
  });

  /* On paper nothing can be opened: explanations are printed open. */
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
    closed = [];
  });

  document.addEventListener("cfplan:swapped", (event) => showCopyButtons(event.target));
  showCopyButtons(document);
  openTarget();
})();
