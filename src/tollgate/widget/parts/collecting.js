// @ts-check
// Collects what a form sends to the service. Card numbers and security codes are sent by their frames alone.

import { describeBrowser } from "./browser.js";
import { page } from "./state.js";
/** @import { Parameters } from "../types/frames.d.ts" */
/** @import { Widget } from "../types/page.d.ts" */

/**
 * Returns what the page knows of the shopper and no field asks for. What a field says wins, even where it was emptied.
 * @param {HTMLFormElement} form
 */
function collectCustomer(form) {
  const unseen = Object.entries(page.settings.customer).filter(([name]) => !form.elements.namedItem(name));
  return Object.fromEntries(unseen);
}

/**
 * Returns what the page's own inputs say; they stand in one form and count for every form of their place. But a box that
 * stores the account means the account beside it.
 * @param {Widget} widget
 * @returns {Parameters}
 */
function collectAdopted({ place, form }) {
  if (!place.host || place.host.form === form) {
    return {};
  }
  const elements = /** @type {HTMLInputElement[]} */ ([...place.host.form.elements]);
  const controls = elements.filter((control) => place.adopted.some((node) => node.contains(control)));
  const names = new Set(controls.map(({ name }) => name));
  if (controls.some(({ name, type }) => name === "createRegistration" && type !== "hidden")) {
    names.delete("createRegistration");
  }
  return Object.fromEntries(Object.entries(collectInputs(place.host.form)).filter(([name]) => names.has(name)));
}

// Only frames may fill some of these names; the others mean nothing to the service.
const NEVER_SENT = ["card.number", "card.cvv", "card.expiry", "pay"];

/**
 * @param {HTMLFormElement} form
 * @returns {Parameters}
 */
function collectInputs(form) {
  const pairs = [...new FormData(form)].filter(([name, value]) => value !== "" && !NEVER_SENT.includes(name));
  return Object.fromEntries(pairs.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}

/**
 * @param {Widget} widget
 * @returns {Parameters}
 */
export function collectFields(widget) {
  const brand = widget.readBrand();
  widget.fields.forEach((field) => field.fillHidden?.());
  return {
    ...collectCustomer(widget.form),
    ...collectAdopted(widget),
    ...collectInputs(widget.form),
    ...describeBrowser(),
    ...(brand ? { paymentBrand: brand } : {}),
    ...widget.addFields?.(),
    shopOrigin: window.origin,
  };
}
