// @ts-check
// The front page: forms are sent in place, news appear as they happen, and the clock runs. The page works without it.

import { renderTime } from "../../../web/pages/assets/times.js";
import { addCopying } from "./copying.js";
import { mergePage } from "./merging.js";
import { followForm } from "./request.js";

const EVERY_MS = 2000;
const EVERY_MS_MAX = 60_000;
const NOTICES_MAX = 3;
const NEWS = "/sandbox/front/news";
const [news, notices, clock] = ["news", "notices", "clock"].map((id) => document.getElementById(id));

let tag = news?.dataset.tag ?? "";
let pauseMs = EVERY_MS;
let timer = 0;
let isOver = false;
let aheadMs = 0;

/**
 * Shows a notice that stays until it is closed.
 * @param {string} text
 * @param {string} tone the class of the notice
 */
function tell(text, tone) {
  const notice = document.createElement("p");
  const words = document.createElement("span");
  const close = document.createElement("button");
  notice.className = tone;
  words.textContent = text;
  close.type = "button";
  close.className = "close";
  close.textContent = "Close";
  close.addEventListener("click", () => {
    notice.remove();
    document.getElementById("main")?.focus();
  });
  notice.append(words, close);
  notices?.prepend(notice);
  for (const older of [...(notices?.children ?? [])].slice(NOTICES_MAX)) {
    older.remove();
  }
}

/**
 * Takes what is new from a page or a part of it.
 * @param {string} text
 * @returns {Document}
 */
function take(text) {
  const newer = new DOMParser().parseFromString(text, "text/html");
  const part = newer.getElementById("news");
  if (part !== null) {
    tag = part.dataset.tag ?? "";
    aheadMs = Number(part.dataset.now) - Date.now();
    mergePage(newer);
  }
  return newer;
}

/** Looks for news, less often while the host does not answer, and not at all while nobody looks. */
async function look() {
  window.clearTimeout(timer);
  if (document.hidden || isOver) {
    return;
  }
  try {
    const reply = await fetch(NEWS, { headers: { "If-None-Match": tag } });
    pauseMs = reply.ok || reply.status === 304 ? EVERY_MS : Math.min(pauseMs * 2, EVERY_MS_MAX);
    if (reply.ok) {
      take(await reply.text());
    } else if (reply.status === 403) {
      isOver = true;
      tell("You are not signed in any more: open the page again to see what happens.", "fault");
    }
  } catch {
    pauseMs = Math.min(pauseMs * 2, EVERY_MS_MAX);
  }
  window.clearTimeout(timer);
  timer = window.setTimeout(look, pauseMs);
}

/**
 * Shows what a form was answered with.
 * @param {Document} newer
 * @param {boolean} isDone
 */
function showAnswer(newer, isDone) {
  const [answer, newerAnswer] = [document.getElementById("answer"), newer.querySelector("#answer:has(pre)")];
  if (answer !== null && newerAnswer !== null) {
    answer.replaceChildren(...newerAnswer.childNodes);
    // On a phone the request stands between the button and the answer.
    answer.scrollIntoView({ block: "nearest" });
  }
  const [key, newerKey] = [document.getElementById("try-key"), newer.getElementById("try-key")];
  if (key instanceof HTMLInputElement && newerKey instanceof HTMLInputElement) {
    key.value = newerKey.value;
  }
  for (const notice of newer.querySelectorAll("#notices > p")) {
    tell((notice.textContent ?? "").trim(), notice.className);
  }
  if (!isDone) {
    const why = [...newer.querySelectorAll("main .sheet p:first-of-type")].map((each) => each.textContent ?? "");
    tell(`Not done: ${why.join(" ") || "the host answered with an error"}`, "fault");
  }
}

/**
 * Sends a form and shows the answer in place. A form that is on its way is not sent again.
 * @param {HTMLFormElement} form
 */
async function sendForm(form) {
  if (form.getAttribute("aria-busy") === "true") {
    return;
  }
  form.setAttribute("aria-busy", "true");
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", "Waiting for the answer");
  if (form === tried) {
    form.append(bar);
  }
  const address = form.getAttribute("action") ?? "";
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    body.append(name, String(value));
  }
  try {
    const reply = await fetch(address, { method: "POST", body });
    showAnswer(take(await reply.text()), reply.ok);
    if (form.isConnected === false && document.activeElement === document.body) {
      document.getElementById("payments-table")?.focus();
    }
  } catch {
    tell("The host did not answer: try again.", "fault");
  }
  bar.remove();
  form.removeAttribute("aria-busy");
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form instanceof HTMLFormElement && form.hasAttribute("data-sends")) {
    event.preventDefault();
    void sendForm(form);
  }
});

const tried = document.getElementById("try");
const told = document.getElementById("copied");
if (tried instanceof HTMLFormElement && told !== null) {
  followForm(tried);
  addCopying(told);
}
aheadMs = Number(news?.dataset.now) - Date.now();
window.setInterval(() => {
  const moment = new Date(Date.now() + aheadMs);
  const shown = clock?.querySelector("time");
  if (shown) {
    shown.textContent = renderTime(moment);
    shown.title = `${moment.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  }
}, 1000);
document.addEventListener("visibilitychange", () => void look());
timer = window.setTimeout(look, pauseMs);
