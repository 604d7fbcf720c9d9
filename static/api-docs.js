// Starts Swagger UI on the page /api/try. It reads this service's own description and asks no other site.
"use strict";

(() => {
  const place = document.getElementById("api-docs");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;

  // Swagger UI goes dark by a class; the rest of the page by the theme chosen here or in the system.
  const follow = () => {
    const theme = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.classList.toggle("dark-mode", theme === "dark");
  };
  follow();
  dark.addEventListener("change", follow);
  new MutationObserver(follow).observe(root, { attributes: true, attributeFilter: ["data-theme"] });

  // Swagger UI takes every change of the address's fragment for its own; the skip link moves the focus without one.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("page-content").focus();
  });

  SwaggerUIBundle({
    domNode: place,
    url: place.dataset.openapi,
    validatorUrl: null,
    deepLinking: true,
    docExpansion: place.dataset.expansion,
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
  });
})();
