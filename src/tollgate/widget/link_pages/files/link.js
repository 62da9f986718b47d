// @ts-check
// The page of a payment link: amounts and dates in the shopper's notation, a message when the form does not load, and other
// tabs that learn of a payment. It touches nothing of the form.

const FIRST_LOOK_MS = 4000;
const LAST_LOOK_MS = 60000;
const RELOADED_FOR = "payment-link-reloaded-for";

// The note that scripts are off stands in the page until one runs, so it also shows where something blocks them.
document.documentElement.classList.add("scripted");
// This stands here and not at the end, because the form's script may fail before the page is read.
window.addEventListener("error", ({ target }) => isFormScript(target) && whenRead(showFailure), true);
// A picture that does not load would show the browser's sign for it, or an empty frame.
window.addEventListener("error", ({ target }) => target instanceof Element && hidePicture(target), true);
// A page that comes back from the browser's memory may show a form for what is paid.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
// The page calls it with the form's options, to which functions and the shopper's time zone are added here.
window.completeOptions = completeOptions;
whenRead(start);

/** @param {EventTarget | null} target */
function isFormScript(target) {
  return target instanceof Element && target.id === "form-script";
}

/** @param {() => void} task */
function whenRead(task) {
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", task, { once: true });
  } else {
    task();
  }
}

/** @param {Element} target */
function hidePicture(target) {
  if (target instanceof HTMLElement && target.matches(".logo, .backdrop")) {
    target.hidden = true;
  }
}

function start() {
  const language = document.documentElement.lang;
  const amounts = /** @type {NodeListOf<HTMLDataElement>} */ (document.querySelectorAll("data.money"));
  const buttons = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-prints]"));
  amounts.forEach((place) => showMoney(place, language));
  document.querySelectorAll("time").forEach(showTime);
  buttons.forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => window.print());
  });
  if (document.querySelector("[data-looks-again]")) {
    lookAgain(FIRST_LOOK_MS);
  }
  tellOtherTabs();
}

/**
 * @param {{ errorMessages: Record<string, string>, onError?: (error: Error) => void }} options
 * @param {{ text: string, retryAt: string }} limit
 */
function completeOptions(options, { text, retryAt }) {
  options.errorMessages.attemptsUsedUp = text.replace("{date}", () => renderTime(retryAt));
  options.onError = (error) => error.name === "InvalidCheckoutIdError" && reloadOnce();
}

/** Reloads the page, which makes another checkout. Once for each checkout, so that a page that fails again stays and says so. */
function reloadOnce() {
  const { src } = /** @type {HTMLScriptElement} */ (document.getElementById("form-script"));
  try {
    if (sessionStorage.getItem(RELOADED_FOR) === src) {
      return;
    }
    sessionStorage.setItem(RELOADED_FOR, src);
  } catch {
    return;
  }
  location.reload();
}

/**
 * Looks whether the payment is still waiting. The page itself stays, with focus and reading position, until it is not.
 * @param {number} pause
 */
function lookAgain(pause) {
  setTimeout(async () => {
    if (await isStillWaiting()) {
      lookAgain(Math.min(pause * 1.5, LAST_LOOK_MS));
    } else {
      location.reload();
    }
  }, pause);
}

async function isStillWaiting() {
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    const isPage = (answer.headers.get("content-type") || "").startsWith("text/html");
    // A proxy between has error pages of its own, and those decide nothing.
    return answer.status >= 500 || !isPage || (await answer.text()).includes("data-looks-again");
  } catch {
    return true;
  }
}

/**
 * @param {HTMLDataElement} place
 * @param {string} language
 */
function showMoney(place, language) {
  const format = new Intl.NumberFormat(language, { style: "currency", currency: place.dataset.currency });
  place.textContent = format.format(Number(place.value));
}

/** @param {HTMLTimeElement} place */
function showTime(place) {
  place.textContent = renderTime(place.dateTime);
}

/**
 * Renders a time in the zone of the shopper's own clock.
 * @param {string} moment
 */
function renderTime(moment) {
  const { lang } = document.documentElement;
  // An English page is read by Britons too: the browser knows the country, as long as it speaks the page's language.
  const locale = navigator.languages.find((tag) => tag.split("-")[0] === lang.split("-")[0]) || lang;
  return new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "short" }).format(new Date(moment));
}

function showFailure() {
  /** @type {HTMLElement} */ (document.querySelector(".failed")).hidden = false;
}

function tellOtherTabs() {
  const waiting = /** @type {HTMLElement | null} */ (document.querySelector("[data-link]"));
  const paid = /** @type {HTMLElement | null} */ (document.querySelector("[data-paid]"));
  if (!("BroadcastChannel" in window) || !(waiting || paid)) {
    return;
  }
  const channel = new BroadcastChannel(`payment-link-${waiting ? waiting.dataset.link : paid?.dataset.paid}`);
  if (paid) {
    channel.postMessage("paid");
  } else {
    channel.onmessage = () => location.reload();
  }
}
