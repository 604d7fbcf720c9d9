/* The remembered theme. Loaded in <head> without defer, so that a page is never drawn in the wrong one first. */
(() => {
  "use strict";
  const KEY = "cfplan-theme";
  const NEXT = { auto: "light", light: "dark", dark: "auto" };
  const root = document.documentElement;

  const remembered = () => {
    try {
      const kept = localStorage.getItem(KEY);
      return kept === "light" || kept === "dark" ? kept : "auto";
    } catch {
      return "auto"; // storage is switched off
    }
  };

  const apply = (theme) => {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };

  let theme = remembered();
  apply(theme);

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("page-theme");
    if (!button) return;
    const value = button.querySelector("[data-value]");
    const show = () => (value.textContent = theme);
    show();
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = NEXT[theme];
      apply(theme);
      show();
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        /* remembered for this page only */
      }
    });
  });
})();
