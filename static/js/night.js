/* The progress bar of a run. Without this script, a refresh does the same. */
(() => {
  "use strict";
  const bars = document.getElementById("bars");
  if (!bars?.dataset.events || !window.EventSource) return;
  const bar = document.getElementById("bar");
  const words = document.getElementById("bar-words");
  const sentence = document.getElementById("bar-sentence");
  const stage = document.getElementById("bar-stage");
  let told = "";

  const show = (job) => {
    const isKnown = job.state === "running" && job.total > 1;
    const share = Math.min(job.done, job.total) / job.total;
    if (isKnown) bar.value = Math.floor(1000 * share);
    else bar.removeAttribute("value");
    words.textContent = isKnown ? `${Math.floor(100 * share)} %` : job.state === "queued" ? "waiting" : "in progress";
    sentence.textContent = job.sentence;
    if (job.stage !== told) {
      told = job.stage;
      stage.textContent = job.sentence; // read out once for each stage, not at every task
    }
  };

  const source = new EventSource(bars.dataset.events);
  source.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  source.addEventListener("end", () => {
    source.close();
    location.replace(location.pathname); // the page with what was found
  });
  addEventListener("pagehide", () => source.close());
})();
