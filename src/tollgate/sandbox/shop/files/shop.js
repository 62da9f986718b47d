// @ts-check
// The small comforts of the demo shop: sums that follow the quantities, buttons that copy, choices that show at once,
// and the event that is shown when it arrives.
// Without it every page works all the same.

const SHOWN_MS = 1500;
const LOOK_EVERY_MS = 1000;
const LOOKS_MAX = 60;

/** @param {number} hundredths */
function renderPrice(hundredths) {
  return `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}`;
}

/** @param {HTMLFormElement} cart */
function followQuantities(cart) {
  const lines = /** @type {HTMLElement[]} */ ([...cart.querySelectorAll("[data-price]")]);
  const sums = lines.map((line) => {
    const quantity = Number.parseInt(line.querySelector("input")?.value || "", 10) || 0;
    const sum = Number(line.dataset.price) * quantity;
    setText(line.querySelector("output"), renderPrice(sum));
    return sum;
  });
  setText(cart.querySelector("#total"), renderPrice(sums.reduce((total, sum) => total + sum, 0)));
}

/**
 * @param {Element | null} element
 * @param {string} text
 */
function setText(element, text) {
  if (element) {
    element.textContent = text;
  }
}

/** @param {HTMLElement} button */
async function copy(button) {
  const element = /** @type {HTMLElement} */ (document.getElementById(String(button.dataset.copies)));
  const text = element.dataset.text || element.textContent || "";
  // Pages without TLS on another machine have no clipboard; then the text is marked for the keyboard.
  const isCopied = navigator.clipboard ? await navigator.clipboard.writeText(text).then(() => true, () => false) : false;
  if (!isCopied) {
    getSelection()?.selectAllChildren(element);
    return;
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
}

for (const cart of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form.cart"))) {
  cart.addEventListener("input", () => followQuantities(cart));
  // The back button brings quantities back without an event of theirs.
  window.addEventListener("pageshow", () => followQuantities(cart));
}

for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-copies]"))) {
  button.addEventListener("click", () => copy(button));
}

for (const select of /** @type {NodeListOf<HTMLSelectElement>} */ (document.querySelectorAll(".language select"))) {
  select.form?.classList.add("applied-at-once");
  select.addEventListener("change", () => select.form?.submit());
}

/**
 * Ends the checkout. The page stays as it is, so that one sees what the form tells a shopper whose checkout has ended.
 * @param {HTMLFormElement} form
 */
async function expire(form) {
  const body = new URLSearchParams();
  new FormData(form).forEach((value, name) => body.append(name, String(value)));
  body.set("act", "expire");
  const isDone = await fetch(form.action, { method: "POST", body, redirect: "manual" }).then(() => true, () => false);
  const said = isDone ? "The checkout has ended. Pay to see what the shopper is told." : "The shop cannot be reached.";
  setText(document.getElementById("expired"), said);
}

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form.choices"))) {
  form.classList.add("applied-at-once");
  form.addEventListener("change", () => form.submit());
  form.addEventListener("submit", (event) => {
    if (event.submitter instanceof HTMLButtonElement && event.submitter.value === "expire") {
      event.preventDefault();
      expire(form);
    }
  });
}

/**
 * Asks for the section about the event until the event has arrived.
 * @param {HTMLElement} section
 */
async function followArrival(section) {
  let shown = section;
  for (let look = 0; look < LOOKS_MAX && shown.dataset.follows; look++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const text = await fetch(shown.dataset.follows).then((reply) => (reply.ok ? reply.text() : ""), () => "");
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById(section.id);
    // What has not changed is not announced again to those who listen to the page.
    if (fresh && fresh.textContent !== shown.textContent) {
      shown.replaceWith(fresh);
      shown = fresh;
    }
  }
}

for (const section of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-follows]"))) {
  followArrival(section);
}
