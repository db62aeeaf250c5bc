"use strict";
// Filters, sorts and switches languages. Everything it acts on is in the page already: it creates no markup.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);

  for (const element of all("[data-script]")) element.hidden = false;
  for (const element of all(".static")) element.hidden = true;

  // Language: the style shows the texts whose lang is that of <html>.
  const languages = all("[data-lang]");
  const page = document.documentElement;
  const inLanguage = (element) => element.dataset[page.lang.startsWith("zh") ? "zh" : "en"];
  const speak = (language) => {
    page.lang = language;
    document.title = inLanguage(document.querySelector("title"));
    for (const button of languages) button.setAttribute("aria-pressed", String(button.dataset.lang === language));
    count();
  };
  for (const button of languages) button.addEventListener("click", () => speak(button.dataset.lang));

  // Operators: rows are read once; searching looks at all their text, details included, in both languages.
  const list = byId("op-list");
  const text = (element, selector) => element.querySelector(selector).textContent.trim();
  const rows = list === null ? [] : all(".op", list).map((element, order) => ({
    element, order,
    verdict: element.dataset.verdict,
    phase: element.dataset.phase,
    keys: {
      verdict: order,
      operator: text(element, ".operator .name"),
      dtypes: text(element, ".dtypes"),
      phase: element.dataset.phase,
      calls: Number(element.dataset.calls),
      where: text(element, ".where"),
    },
    haystack: null,
  }));
  const chosen = { verdict: new Set(), phase: new Set() };
  const search = byId("search");
  let shown = rows.length;

  function count() {
    const status = byId("shown");
    if (status === null) return;
    const number = (value) => value.toLocaleString("en");
    status.textContent = inLanguage(status).replace("{shown}", number(shown)).replace("{total}", number(rows.length));
  }

  const matches = (row, words) => {
    if (chosen.verdict.size && !chosen.verdict.has(row.verdict)) return false;
    if (chosen.phase.size && !chosen.phase.has(row.phase)) return false;
    if (words.length === 0) return true;
    row.haystack ??= row.element.textContent.toLowerCase();
    return words.every((word) => row.haystack.includes(word));
  };

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = 0;
    for (const row of rows) {
      const match = matches(row, words);
      row.element.hidden = !match;
      shown += Number(match);
    }
    byId("nothing").hidden = shown > 0;
    count();
  };

  const sorters = all("[data-sort]");
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const sort = (button) => {
    const key = button.dataset.sort;
    const numeric = "numeric" in button.dataset;
    // Numbers start with the largest, words with the first; a second click turns it round.
    const first = numeric ? "down" : "up";
    const direction = button.dataset.direction === first ? (numeric ? "up" : "down") : first;
    const sign = direction === "up" ? 1 : -1;
    const order = (a, b) => typeof a === "number" ? a - b : compare(a, b);
    rows.sort((a, b) => sign * order(a.keys[key], b.keys[key]) || a.order - b.order);
    list.append(...rows.map((row) => row.element));
    mark(button, direction);
  };
  const mark = (active, direction) => {
    for (const button of sorters) {
      button.setAttribute("aria-pressed", String(button === active));
      if (button === active) button.dataset.direction = direction;
      else delete button.dataset.direction;
    }
  };

  const toggle = (button) => {
    const values = chosen[button.dataset.filter];
    const pressed = !values.has(button.dataset.value);
    if (pressed) values.add(button.dataset.value);
    else values.delete(button.dataset.value);
    button.setAttribute("aria-pressed", String(pressed));
    filter();
  };

  const reset = () => {
    search.value = "";
    for (const button of all("[data-filter]")) {
      chosen[button.dataset.filter].clear();
      button.setAttribute("aria-pressed", "false");
    }
    filter();
  };

  const open = (state) => {
    for (const row of rows) if (!row.element.hidden) row.element.open = state;
  };

  // A link to an operator shows it, even if the filter had hidden it.
  const follow = () => {
    const row = rows.find((each) => `#${each.element.id}` === location.hash);
    if (row === undefined) return;
    if (row.element.hidden) reset();
    row.element.open = true;
    row.element.scrollIntoView();
  };

  if (rows.length > 0) {
    let pending = 0;
    search.addEventListener("input", () => {
      cancelAnimationFrame(pending);
      pending = requestAnimationFrame(filter);
    });
    for (const button of all("[data-filter]")) button.addEventListener("click", () => toggle(button));
    for (const button of sorters) button.addEventListener("click", () => sort(button));
    byId("reset").addEventListener("click", reset);
    byId("open-all").addEventListener("click", () => open(true));
    byId("close-all").addEventListener("click", () => open(false));
    addEventListener("hashchange", follow);
    mark(sorters[0], "up");
    follow();
  }
  speak(page.lang);
})();
