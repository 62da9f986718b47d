// Sends the page's one form on. The button stays for whoever has no scripts, and comes back if nothing happened.
// In a shop's page, whose policy need not know any bank, the bank is shown in a frame of this page.
"use strict";

const PATIENCE_MS = 8000;
const form = document.querySelector("form[data-forward]");
const button = form.querySelector("button");
const busy = form.querySelector("[data-busy]");

function show(isBusy) {
  busy.hidden = !isBusy;
  button.hidden = isBusy;
}

const bank = document.querySelector("iframe[data-bank]");
if (bank && window.parent !== window) {
  form.target = bank.name;
  bank.hidden = false;
}

// Browsers leave this page out of their history, but not always: whoever meets it there wants to pass it by.
const [arrival] = performance.getEntriesByType("navigation");
const isPassing = arrival !== undefined && arrival.type === "back_forward" && history.length > 1;

window.addEventListener("pageshow", (event) => event.persisted && history.back());
show(true);
setTimeout(() => show(false), PATIENCE_MS);
if (isPassing) {
  history.back();
} else {
  // A field may be called "submit", and then form.submit is that field.
  HTMLFormElement.prototype.submit.call(form);
}
