/* Comforts of the bar: menus close by themselves, and the key "/" leads to the search box. Both work without this script. */
(() => {
  "use strict";

  const menus = [...document.querySelectorAll("details.nav-menu")];
  const closeExcept = (kept) => {
    for (const menu of menus) if (menu !== kept) menu.open = false;
  };
  // A menu covers the page, so it closes as soon as the reader goes on elsewhere.
  document.addEventListener("click", (event) => closeExcept(event.target.closest("details.nav-menu")));
  for (const menu of menus) {
    menu.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
    });
  }

  const box = document.getElementById("site-search");
  const hint = document.querySelector(".site-search kbd"); // the page with the results has none
  if (hint) hint.hidden = false;
  let before = null; // the element that had the focus

  const isTyping = (element) =>
    element.isContentEditable || (element.matches("input, textarea, select") && !element.matches("[type=checkbox], [type=radio]"));

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    if (event.key === "Escape") {
      const menu = menus.find((each) => each.open);
      if (document.activeElement === box) {
        event.preventDefault(); // the browser would empty the box
        if (before && before.isConnected && before !== document.body) before.focus();
        else box.blur();
      } else if (menu) {
        const hasFocus = menu.contains(document.activeElement);
        menu.open = false;
        if (hasFocus) menu.querySelector("summary").focus();
      }
    } else if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
      event.preventDefault(); // the key must not appear in the box
      before = document.activeElement;
      box.focus();
      box.select();
    }
  });
})();
