// @ts-check
// The search field: it loads the index once, shows what is found, and leads there by keyboard. The server is not asked.
import { findEntries, readIndex, splitWords } from "../modules/ranking.js";

const SHOWN_MAX = 30;
const field = document.querySelector("#find");
const list = document.querySelector("#found");
const count = document.querySelector("#found-count");

/** @type {Promise<ReturnType<typeof readIndex>> | null} */
let loading = null;

/** Loads the index when it is first needed; a browser keeps it until the next release. */
function loadIndex() {
  loading ??= fetch(field?.getAttribute("data-index") ?? "")
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)))))
    .then(readIndex);
  return loading;
}

/**
 * Returns a text with what was typed marked in it.
 * @param {string} text
 * @param {string[]} words
 * @returns {(string | HTMLElement)[]}
 */
function markWords(text, words) {
  const pattern = words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, "")).join("|");
  return text.split(new RegExp(`(${pattern})`, "giu")).map((part, place) => {
    if (place % 2 === 0) {
      return part;
    }
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

/**
 * @param {string} className
 * @param {(string | HTMLElement)[]} inside
 */
function makeSpan(className, inside) {
  const span = document.createElement("span");
  span.className = className;
  span.append(...inside);
  return span;
}

/**
 * @param {ReturnType<typeof readIndex>[number]} entry
 * @param {number} place
 * @param {string[]} words
 */
function makeOption(entry, place, words) {
  const option = document.createElement("a");
  option.id = `found-${place}`;
  option.href = entry.path;
  option.tabIndex = -1;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  const where = entry.kind === "Text" && entry.page !== entry.title ? entry.page : entry.kind;
  option.append(makeSpan("where", [where]), makeSpan("title", markWords(entry.title, words)));
  if (entry.note !== "") {
    option.append(makeSpan("note", markWords(entry.note, words)));
  }
  option.addEventListener("click", () => closeList());
  return option;
}

function listOptions() {
  return /** @type {HTMLElement[]} */ ([...(list?.querySelectorAll("[role=option]") ?? [])]);
}

/** @param {boolean} isOpen */
function setOpen(isOpen) {
  list?.toggleAttribute("hidden", !isOpen);
  field?.setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) {
    field?.removeAttribute("aria-activedescendant");
  }
}

function closeList() {
  setOpen(false);
  announce("");
}

/**
 * Says what was found to readers who cannot see the list, and to all where there is none.
 * @param {string} text
 * @param {boolean} isShown
 */
function announce(text, isShown = false) {
  if (count !== null) {
    count.textContent = text;
    count.className = isShown ? "found-none" : "unseen";
  }
}

/** @param {string} text */
async function showFound(text) {
  const words = splitWords(text);
  if (words.length === 0) {
    closeList();
    return;
  }
  let found;
  try {
    found = findEntries(await loadIndex(), text);
  } catch {
    loading = null;
    announce("The search could not be loaded. Type again to try again.", true);
    return;
  }
  if (!(field instanceof HTMLInputElement) || field.value !== text) {
    return;
  }
  list?.replaceChildren(...found.slice(0, SHOWN_MAX).map((entry, place) => makeOption(entry, place, words)));
  setOpen(found.length > 0);
  const first = listOptions()[0];
  if (first !== undefined) {
    choose(first);
  }
  const isNone = found.length === 0;
  announce(isNone ? "Nothing found. Use fewer words, or others." : `${found.length} found`, isNone);
}

/** @param {HTMLElement} option */
function choose(option) {
  for (const each of listOptions()) {
    each.setAttribute("aria-selected", String(each === option));
  }
  field?.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

/** @param {KeyboardEvent} event */
function followKey(event) {
  const options = listOptions();
  const isOpen = field?.getAttribute("aria-expanded") === "true";
  const place = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "Escape" && isOpen) {
    event.preventDefault();
    closeList();
  } else if (isOpen && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : options.length - 1;
    choose(options[(place + step) % options.length]);
  } else if (isOpen && event.key === "Enter") {
    event.preventDefault();
    options[place]?.click();
  } else if (!isOpen && event.key === "ArrowDown" && field instanceof HTMLInputElement) {
    void showFound(field.value);
  }
}

if (field instanceof HTMLInputElement) {
  field.addEventListener("focus", () => {
    loadIndex().catch(() => {
      loading = null;
    });
  });
  field.addEventListener("input", () => void showFound(field.value));
  field.addEventListener("keydown", followKey);
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && field.parentElement?.contains(event.target) === false) {
      closeList();
    }
  });
  const asked = new URLSearchParams(window.location.search).get("q");
  if (asked !== null) {
    field.value = asked;
    field.focus();
    void showFound(asked);
  }
}
