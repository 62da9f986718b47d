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

show(true);
setTimeout(() => show(false), PATIENCE_MS);
// A field may be called "submit", and then form.submit is that field.
HTMLFormElement.prototype.submit.call(form);
