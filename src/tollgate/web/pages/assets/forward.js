// @ts-check
// Sends the page's one form on. The button stays for shoppers without scripts, and comes back if nothing happened.
// In a shop's page, whose policy need not know any bank, the bank is shown in a frame of this page.

const PATIENCE_MS = 8000;
const form = /** @type {HTMLFormElement} */ (document.querySelector("form[data-forward]"));
const button = /** @type {HTMLElement} */ (form.querySelector("button"));
const busy = /** @type {HTMLElement} */ (form.querySelector("[data-busy]"));

/** @param {boolean} isBusy */
function show(isBusy) {
  busy.hidden = !isBusy;
  button.hidden = isBusy;
}

const bank = /** @type {HTMLIFrameElement | null} */ (document.querySelector("iframe[data-bank]"));
if (bank && window.parent !== window) {
  form.target = bank.name;
  bank.hidden = false;
}

// Browsers leave this page out of their history, but not always: a shopper who meets it there wants to pass it by.
const [arrival] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
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
