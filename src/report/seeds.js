"use strict";
// Searches and sorts the list of seeds, which is there whole without this.
(() => {
  const table = document.getElementById("seed-list");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => {
    const addresses = [...row.querySelectorAll("a")].map((link) => link.href);
    return { row, text: [row.textContent, ...addresses].join(" ").toLowerCase() };
  });
  const make = (name, attributes, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };

  const box = make("input", { type: "search", id: "seed-search", autocomplete: "off", spellcheck: "false" });
  const told = make("span", { role: "status", "aria-live": "polite", class: "small soft" });
  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter((word) => word);
    let found = 0;
    for (const { row, text } of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) found += 1;
    }
    told.textContent = words.length ? `${found} of ${rows.length} shown` : "";
  };
  box.addEventListener("input", search);
  const label = make("label", { for: "seed-search" }, "Search these seeds");
  table.before(make("p", { class: "tools" }, label, " ", box, " ", told));

  // A number as it is written here, or the text; what has neither comes last.
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
    body.append(...keyed.map(({ row }) => row));
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
