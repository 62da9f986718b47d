// The small comforts of the demo shop: sums that follow the quantities, buttons that copy, choices that show at once.
// Without it every page works all the same.
"use strict";

const SHOWN_MS = 1500;

function renderPrice(hundredths) {
  return `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}`;
}

function followQuantities(cart) {
  const lines = Array.from(cart.querySelectorAll("[data-price]"));
  const sums = lines.map((line) => {
    const quantity = Number.parseInt(line.querySelector("input").value, 10) || 0;
    const sum = Number(line.dataset.price) * quantity;
    line.querySelector("output").textContent = renderPrice(sum);
    return sum;
  });
  cart.querySelector("#total").textContent = renderPrice(sums.reduce((total, sum) => total + sum, 0));
}

async function copy(button) {
  const element = document.getElementById(button.dataset.copies);
  const text = element.dataset.text || element.textContent;
  // Pages without TLS on another machine have no clipboard; then the text is marked for the keyboard.
  const isCopied = navigator.clipboard ? await navigator.clipboard.writeText(text).then(() => true, () => false) : false;
  if (!isCopied) {
    getSelection().selectAllChildren(element);
    return;
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
}

for (const cart of document.querySelectorAll("form.cart")) {
  cart.addEventListener("input", () => followQuantities(cart));
  // The back button brings quantities back without telling anybody.
  window.addEventListener("pageshow", () => followQuantities(cart));
}

for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", () => copy(button));
}

for (const select of document.querySelectorAll(".language select")) {
  select.form.classList.add("applied-at-once");
  select.addEventListener("change", () => select.form.submit());
}

// The page stays as it is, so that one sees what the form tells a shopper whose checkout has ended meanwhile.
async function expire(form) {
  const said = document.getElementById("expired");
  const body = new URLSearchParams(new FormData(form));
  body.set("act", "expire");
  const isDone = await fetch(form.action, { method: "POST", body, redirect: "manual" }).then(() => true, () => false);
  said.textContent = isDone ? "The checkout has ended. Pay to see what the shopper is told." : "The shop cannot be reached.";
}

for (const form of document.querySelectorAll("form.choices")) {
  form.classList.add("applied-at-once");
  form.addEventListener("change", () => form.submit());
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.value === "expire") {
      event.preventDefault();
      expire(form);
    }
  });
}
