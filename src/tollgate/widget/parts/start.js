// @ts-check
// Waits for the page, finds its forms now and later, and mounts them.

import { refreshLooks } from "./cardFields.js";
import { receivePolicyViolation } from "./frames.js";
import { receiveReturn } from "./leaving.js";
import { forgetRemoved, mountAll } from "./mounting.js";
import { UNLOADED, followElements, mountedElements, takeAllBack } from "./places.js";
import { watchPresses } from "./pressing.js";
import { publicApi } from "./publicApi.js";
import { source } from "./source.js";
import { listen, onUnload, page, wait } from "./state.js";
import { resumeFromCache } from "./submit.js";

const RUN = Symbol.for("wpwl.run");

function whenDomIsThere() {
  if (document.readyState !== "loading") {
    return Promise.resolve();
  }
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

function findForms() {
  const elements = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".paymentWidgets"));
  const waiting = [...elements].filter((element) => !mountedElements.has(element));
  const fresh = waiting.filter((element) => !element.hasAttribute(UNLOADED));
  return fresh.length ? fresh : waiting;
}

function scan() {
  if (page.isUnloaded) {
    return;
  }
  forgetRemoved();
  const forms = findForms();
  forms.forEach((form) => mountedElements.add(form));
  if (forms.length) {
    mountAll(forms);
  }
}

/** Looks for forms when the page changes; once, however much it changes at once. */
function watchForForms() {
  let isDue = false;
  const observer = new MutationObserver((records) => {
    followElements(records);
    if (!isDue) {
      isDue = true;
      setTimeout(() => {
        isDue = false;
        scan();
      });
    }
  });
  observer.observe(document.documentElement, { childList: true, subtree: true });
  onUnload(() => observer.disconnect());
}

function start() {
  // Pages that load the script again drop the name in the window themselves.
  const earlier = document[RUN];
  if (earlier && !earlier.isUnloaded) {
    if (earlier.checkout.id === source.checkoutId) {
      window.wpwl = earlier;
      return;
    }
    earlier.unload();
  }
  window.wpwl = document[RUN] = publicApi;
  onUnload(takeAllBack);
  watchPresses();
  listen(window, "message", receiveReturn);
  listen(document, "securitypolicyviolation", receivePolicyViolation);
  listen(window, "pageshow", (/** @type {PageTransitionEvent} */ event) => event.persisted && resumeFromCache());
  listen(matchMedia("(prefers-color-scheme: dark)"), "change", refreshLooks);
  // The page's own handlers of the same event come first, so that options set there count.
  whenDomIsThere()
    .then(() => wait(0))
    .then(() => {
      scan();
      watchForForms();
    });
}

start();
