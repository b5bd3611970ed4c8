"use strict";
// Searches and sorts the list of seeds. The list is complete without this script.
(() => {
  const table = document.getElementById("seed-list");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => {
    const addresses = [...row.querySelectorAll("a")].map((link) => link.href);
    const cells = [...row.cells].map((cell) => cell.textContent);
    const text = [...cells, ...addresses].join(" ");
    return { row, text: text.replace(/\s+/g, " ").toLowerCase() };
  });
  const make = (name, attributes, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };

  const box = make("input", {
    type: "search", id: "seed-search", autocomplete: "off", spellcheck: "false",
    placeholder: 'example.org "core 1"', title: 'Words, or a "phrase in quotes"',
  });
  const status = make("span", { role: "status", "aria-live": "polite", class: "small soft" });
  // Phrases in quotes and numbers match whole words; other terms also match within words.
  const finder = ([, quoted, word]) => {
    if (word && !/^\d+$/.test(word)) return (text) => text.includes(word);
    const term = (quoted ?? word).trim();
    const ends = (letter, end) => (/[\p{L}\p{N}]/u.test(letter) ? end : "");
    const before = ends(term.charAt(0), "(?<![\\p{L}\\p{N}-]|\\p{N}[.,])");
    const after = ends(term.slice(-1), "(?![\\p{L}\\p{N}-]|[.,]\\p{N})");
    const phrase = new RegExp(before + term.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") + after, "u");
    return (text) => phrase.test(text);
  };
  const write = (count) => count.toLocaleString("en");
  const { all, data } = table.dataset;
  const search = () => {
    const finders = [...box.value.toLowerCase().matchAll(/"([^"]+)"?|([^\s"]+)/g)].map(finder);
    let found = 0;
    for (const { row, text } of rows) {
      row.hidden = !finders.every((finds) => finds(text));
      if (!row.hidden) found += 1;
    }
    const of = data ? `the first ${write(rows.length)} of ${write(Number(all))}` : write(rows.length);
    const rest = data ? `; the others are in ${data}` : "";
    status.textContent = finders.length ? `${write(found)} of ${of} shown${rest}` : "";
  };
  box.addEventListener("input", search);
  const label = make("label", { for: "seed-search" }, "Search these seeds");
  table.before(make("p", { class: "tools" }, label, " ", box, " ", status));

  // The number or the text of a cell; null, which sorts last, if it is empty.
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    if (text === "" || text === "–") return null;
    const number = Number(text.replaceAll(",", ""));
    return Number.isNaN(number) ? text : number;
  };
  const order = (a, b) => {
    if (a === null || b === null) return 0;
    if (typeof a === "number" && typeof b === "number") return a - b;
    const [x, y] = [String(a), String(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  };
  const heads = [...table.tHead.rows[0].cells];
  const sort = (column, down) => {
    const keyed = rows.map(({ row }) => ({ row, key: value(row, column) }));
    keyed.sort((a, b) => {
      if ((a.key === null) !== (b.key === null)) return a.key === null ? 1 : -1;
      return down ? order(b.key, a.key) : order(a.key, b.key);
    });
    // Moving rows is ten times as fast while the body is detached.
    body.remove();
    body.append(...keyed.map(({ row }) => row));
    table.append(body);
    heads.forEach((head, at) => {
      if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  heads.forEach((head, column) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      sort(column, now ? now === "ascending" : head.dataset.first === "most");
    });
    head.append(button);
  });
  heads[0].setAttribute("aria-sort", "ascending");
  table.classList.add("sortable");
})();
