/* A slider beside each field that has a range. Without this script the fields are typed in. */
(() => {
  "use strict";
  for (const field of document.querySelectorAll("[data-slider]")) {
    const box = field.querySelector(".box");
    const input = box?.querySelector("input");
    if (!input) continue;
    const [lowest, highest, step, planned] = field.dataset.slider.split(" ");
    const slider = document.createElement("input");
    slider.type = "range";
    slider.className = "slider";
    slider.min = lowest;
    slider.max = highest;
    slider.step = step;
    slider.setAttribute("aria-label", `${field.querySelector("label").textContent}, slider`);
    const follow = () => {
      const typed = input.value.trim();
      const value = typed === "" ? planned : typed;
      if (!Number.isFinite(Number(value))) return;
      slider.value = value;
      slider.setAttribute("aria-valuetext", `${value} ${field.querySelector(".unit")?.textContent ?? ""}`.trim());
    };
    follow();
    input.addEventListener("input", follow);
    slider.addEventListener("input", () => {
      input.value = slider.value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    box.after(slider);
  }
})();
