// @ts-check
// The button that pays: its text, with the amount as the form's language writes it, and its looks.

import { getParent, setHidden } from "./dom.js";
import { isClosed } from "./methods.js";
import { page } from "./state.js";
/** @import { Translator, Widget } from "../types/page.d.ts" */

/** @param {Translator} translator */
export function renderAmount(translator) {
  const { amount, currency } = page.configuration;
  if (!amount || !currency) {
    return "";
  }
  try {
    return new Intl.NumberFormat(translator.tag, { style: "currency", currency }).format(amount);
  } catch {
    return `${amount} ${currency}`;
  }
}

/**
 * Renders the usual text of the button. A page's own label wins, in which the place of a missing amount stays empty.
 * @param {Translator} translator
 */
export function renderPayLabel(translator) {
  const amount = renderAmount(translator);
  const text = amount && !translator.isOwn("submit") ? translator.translate("payAmount", { amount }) : translator.translate("submit", { amount });
  return text.trim();
}

/**
 * Writes the text on the button again, unless the page has written on it. Methods that share a button share its text, which
 * is that of the open one.
 * @param {Widget} widget
 */
export function labelButton(widget) {
  const { button, labelled } = widget;
  const label = button.querySelector(".wpwl-button-text");
  if (label && label.textContent === labelled.text && !isClosed(widget)) {
    labelled.text = widget.renderLabel();
    label.textContent = labelled.text;
  }
}

/** @param {Widget} widget */
export function startPaying(widget) {
  const { form } = widget;
  if (typeof form.requestSubmit === "function") {
    form.requestSubmit();
  } else {
    form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  }
}

const WALLET_CLASSES = { applePay: "wpwl-apple-pay-button", googlePay: "wpwl-google-pay-button" };

/**
 * Gives the button the looks that its wallet asks for. Several methods may share one button, which looks as the open one
 * wants.
 * @param {Widget} widget
 */
export function styleButton({ button, looks, ownButton }) {
  button.classList.toggle("wpwl-button-wallet", Boolean(looks));
  Object.entries(WALLET_CLASSES).forEach(([name, word]) => button.classList.toggle(word, name === looks));
  getParent(button).querySelectorAll(".wpwl-wallet-own").forEach((other) => other.remove());
  if (ownButton) {
    button.after(ownButton);
  }
  // Whether the page itself hides our button is its own affair.
  if (ownButton || button.hidden) {
    setHidden(button, Boolean(ownButton));
  }
}
