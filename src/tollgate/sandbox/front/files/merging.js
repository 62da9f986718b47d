// @ts-check
// Merges newer parts of a page into the page that is shown: what did not change stays, and so does the focus.

import { showTimes } from "../../../web/pages/assets/times.js";

/**
 * Returns the text of an item as the server sent it: times are compared by their instants, whatever zone they show.
 * @param {Element} item
 * @returns {string}
 */
function readItem(item) {
  const copy = /** @type {Element} */ (item.cloneNode(true));
  for (const time of copy.querySelectorAll("time")) {
    time.textContent = time.getAttribute("datetime");
  }
  return copy.innerHTML;
}

/**
 * Puts a newer item into the place of an older one. The focus stays on what has the same id, or goes to the first link.
 * @param {Element} older
 * @param {Element} newer
 * @param {Element | null} place the item before which it belongs
 */
function replaceItem(older, newer, place) {
  const focused = older.contains(document.activeElement) ? document.activeElement : null;
  const list = older.parentElement;
  older.replaceWith(newer);
  if (newer.nextElementSibling !== place) {
    list?.insertBefore(newer, place);
  }
  if (focused !== null) {
    const heir = (focused.id && document.getElementById(focused.id)) || newer.querySelector("a, button");
    if (heir instanceof HTMLElement) {
      heir.focus();
    }
  }
}

/**
 * Merges the items of a list by their ids, in the order of the newer list; a table that the reader sorted keeps its
 * order, with new rows first.
 * @param {Element} shown
 * @param {Element} fresh
 */
function mergeList(shown, fresh) {
  const wanted = new Set([...fresh.children].map((item) => item.id));
  for (const item of [...shown.children]) {
    if (!wanted.has(item.id)) {
      item.remove();
    }
  }
  const isSorted = shown.closest("table")?.querySelector("[aria-sort]") instanceof HTMLElement;
  let place = shown.firstElementChild;
  for (const item of [...fresh.children]) {
    const older = [...shown.children].find((each) => each.id === item.id);
    if (older === undefined) {
      showTimes(item);
      item.classList.add("fresh");
      shown.insertBefore(item, place);
    } else if (readItem(older) !== readItem(item)) {
      showTimes(item);
      place = place === older ? older.nextElementSibling : place;
      replaceItem(older, item, isSorted ? older.nextElementSibling : place);
    } else if (place === older) {
      place = older.nextElementSibling;
    } else if (!isSorted) {
      shown.insertBefore(older, place);
    }
  }
}

/**
 * Merges all lists of a newer page, and shows or hides what it shows or hides.
 * @param {Document} newer
 */
export function mergePage(newer) {
  for (const list of newer.querySelectorAll("[data-merges]")) {
    const shown = document.getElementById(list.id);
    if (shown !== null) {
      mergeList(shown, list);
    }
  }
  for (const part of newer.querySelectorAll("[data-toggles]")) {
    const shown = document.getElementById(part.id);
    if (shown !== null && part instanceof HTMLElement) {
      shown.hidden = part.hidden;
    }
  }
  const [link, newerLink] = [document.getElementById("inbox-link"), newer.getElementById("inbox-link")];
  link?.setAttribute("href", newerLink?.getAttribute("href") ?? "");
}
