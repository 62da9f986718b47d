// Waits for the page, finds its forms now and later, and mounts them.
const RUN = Symbol.for("wpwl.run");

function whenDomIsThere() {
  if (document.readyState !== "loading") {
    return Promise.resolve();
  }
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

function findForms() {
  const waiting = [...document.querySelectorAll(".paymentWidgets")].filter((element) => !TAKEN.has(element));
  const fresh = waiting.filter((element) => !element.hasAttribute(UNLOADED));
  return fresh.length ? fresh : waiting;
}

function scan() {
  if (page.isUnloaded) {
    return;
  }
  forgetRemoved();
  const forms = findForms();
  forms.forEach((form) => TAKEN.add(form));
  if (forms.length) {
    mountAll(forms);
  }
}

// However much a page changes at once, it is looked through once.
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
  window.wpwl = document[RUN] = face;
  onUnload(takeAllBack);
  watchPresses();
  listen(window, "message", hearReturn);
  listen(document, "securitypolicyviolation", hearViolation);
  listen(window, "pageshow", (event) => event.persisted && comeBack());
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
