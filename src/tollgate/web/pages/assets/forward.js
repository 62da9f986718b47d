// Sends the page's one form on. The button stays for whoever has no scripts, and comes back if nothing happened.
"use strict";

const PATIENCE_MS = 8000;
const form = document.querySelector("form[data-forward]");
const button = form.querySelector("button");
const busy = form.querySelector("[data-busy]");

function show(isBusy) {
  busy.hidden = !isBusy;
  button.hidden = isBusy;
}

show(true);
setTimeout(() => show(false), PATIENCE_MS);
// A field may be called "submit", and then form.submit is that field.
HTMLFormElement.prototype.submit.call(form);
