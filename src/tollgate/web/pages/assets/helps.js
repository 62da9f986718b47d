// @ts-check
// Small helps for pages of merchants and developers: times in the reader's zone, tables that sort, keys. Pages work without it.

import { showTimes } from "./times.js";

showTimes(document);

/**
 * Returns what a cell is sorted by: its time, its number, or its text.
 * @param {Element | undefined} cell
 * @returns {string | number}
 */
function readCell(cell) {
  const given = cell?.getAttribute("data-value") ?? cell?.querySelector("time")?.getAttribute("datetime");
  const text = (given ?? cell?.textContent ?? "").trim();
  const number = Number(text.replace(/,/g, "").replace(/ [A-Z]{3}$/, ""));
  return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
}

/**
 * Sorts the rows of a table by a column.
 * @param {HTMLTableElement} table
 * @param {HTMLElement} head
 * @param {number} place
 */
function sortBy(table, head, place) {
  const isUp = head.getAttribute("aria-sort") !== "ascending";
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((first, second) => {
    const [left, right] = [readCell(first.cells[place]), readCell(second.cells[place])];
    const order = left < right ? -1 : Number(left > right);
    return isUp ? order : -order;
  });
  for (const other of table.querySelectorAll("th[aria-sort]")) {
    other.removeAttribute("aria-sort");
  }
  head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  body.append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll("thead th"));
  heads.forEach((head, place) => {
    if ((head.textContent ?? "").trim() === "") {
      return;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(/** @type {HTMLTableElement} */ (table), head, place));
    head.append(button);
  });
}

/** Asks before a form that cannot be undone is sent. */
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!window.confirm(form.getAttribute("data-confirm") ?? "")) {
      event.preventDefault();
    }
  });
}

let lastKey = "";
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, dialog[open]")) {
    return;
  }
  const find = document.querySelector("#find");
  const dialog = document.querySelector("dialog.keys");
  if (event.key === "/" && find instanceof HTMLInputElement) {
    event.preventDefault();
    find.focus();
  } else if (event.key === "?" && dialog instanceof HTMLDialogElement) {
    dialog.showModal();
  } else if (lastKey === "g") {
    const word = { o: "/overview", t: "/payments" }[event.key];
    const link = word === undefined ? null : document.querySelector(`nav a[href$="${word}"]`);
    if (link instanceof HTMLAnchorElement) {
      link.click();
    }
  }
  lastKey = event.key;
});

/** On a narrow screen the menu begins closed. */
const menu = document.querySelector("details.menu");
if (menu instanceof HTMLDetailsElement && window.matchMedia("(max-width: 56rem)").matches) {
  menu.open = false;
}
