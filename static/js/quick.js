/* The answer follows the typing. Without this script the form is sent and answered as any other. */
(() => {
  "use strict";
  const WAIT_MS = 250;
  const form = document.getElementById("quick");
  const answer = document.getElementById("answer");
  const summary = document.getElementById("summary");
  if (!form || !answer || !summary) return;

  let timer = 0;
  let underway = null; // the controller of the request whose answer is awaited

  const address = () => {
    const query = new URLSearchParams(new FormData(form));
    return `${form.getAttribute("action")}?${query}`;
  };

  /* What was opened stays open when the figures change. */
  const openIn = (root) => [...root.querySelectorAll("details")].map((details) => [keyOf(details), details.open]);
  const keyOf = (details) =>
    details.dataset.output || details.querySelector("[id]")?.id || details.querySelector("summary").textContent;

  const swapField = (mine, theirs) => {
    mine.className = theirs.className;
    mine.querySelector(":scope > .wrong")?.remove();
    const wrong = theirs.querySelector(":scope > .wrong");
    if (wrong) mine.querySelector(":scope > .box").after(wrong);
    const [input, other] = [mine, theirs].map((each) => each.querySelector("input, textarea"));
    for (const name of ["aria-invalid", "aria-describedby"]) {
      const value = other.getAttribute(name);
      if (value === null) input.removeAttribute(name);
      else input.setAttribute(name, value);
    }
  };

  const swapAnswer = (fresh) => {
    const opened = new Map(openIn(answer));
    window.cfplanFigures?.fold(fresh);
    for (const details of fresh.querySelectorAll("details")) {
      const was = opened.get(keyOf(details));
      if (was !== undefined) details.open = was;
    }
    const focused = answer.contains(document.activeElement) ? document.activeElement.id : "";
    answer.replaceChildren(...fresh.childNodes);
    answer.toggleAttribute("data-answered", fresh.hasAttribute("data-answered"));
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    answer.dispatchEvent(new CustomEvent("cfplan:swapped", { bubbles: true }));
  };

  /* Figures stay where they are while a field is half typed, and say that they are of before. */
  const keepAnswer = () => {
    if (answer.querySelector(":scope > .outdated")) return;
    const note = document.createElement("p");
    note.className = "notice warning outdated";
    note.textContent = "These figures belong to the previous input.";
    answer.prepend(note);
  };

  const say = (words, className) => {
    summary.className = className;
    if (summary.textContent !== words) summary.textContent = words;
  };

  const swap = (page) => {
    const fresh = page.getElementById("answer");
    if (fresh.hasAttribute("data-answered") || !answer.hasAttribute("data-answered")) swapAnswer(fresh);
    else keepAnswer();
    for (const mine of form.querySelectorAll(".field[data-field]")) {
      const theirs = page.querySelector(`.field[data-field="${mine.dataset.field}"]`);
      if (theirs) swapField(mine, theirs);
    }
    const said = page.getElementById("summary");
    say(said.textContent, said.className);
  };

  const apologize = (words) => {
    if (answer.hasAttribute("data-answered")) keepAnswer();
    say(words, "summary is-stale");
  };

  const ask = async () => {
    underway?.abort();
    const mine = (underway = new AbortController());
    const url = address();
    answer.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(url, { headers: { accept: "text/html" }, signal: mine.signal });
      const text = await response.text();
      if (mine !== underway) return; // an older question
      const page = new DOMParser().parseFromString(text, "text/html");
      if (!page.getElementById("answer")) {
        apologize(`The service could not answer (status ${response.status}).`);
        return;
      }
      swap(page);
      history.replaceState(null, "", url);
    } catch (error) {
      if (error.name !== "AbortError") apologize("The service does not respond.");
    } finally {
      if (mine === underway) answer.removeAttribute("aria-busy");
    }
  };

  const askSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  };

  form.addEventListener("input", askSoon);
  form.addEventListener("submit", async (event) => {
    if (event.submitter?.hasAttribute("formaction")) return; // leads to another page
    event.preventDefault();
    clearTimeout(timer);
    await ask();
    if (answer.getBoundingClientRect().top > innerHeight / 2) answer.scrollIntoView(); // it is below the form
  });
  addEventListener("online", () => summary.classList.contains("is-stale") && ask());
})();
