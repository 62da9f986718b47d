// @ts-check
// Messages of a form, and the state of being busy.

import { make, setHidden } from "./dom.js";
import { disableMethods, isClosed } from "./methods.js";
/** @import { Widget } from "../types/page.d.ts" */

/**
 * Shows a message; `isCalm` says that nothing has gone wrong.
 * @param {Widget} widget
 * @param {string} text
 * @param {boolean} [isCalm]
 */
export function showMessage(widget, text, isCalm = false) {
  widget.message.textContent = text;
  widget.message.classList.toggle("wpwl-message-calm", isCalm);
  revealMessage(widget);
}

/**
 * Shows the message of a form, except in a closed method, where it is shown when the method is opened.
 * @param {Widget} widget
 */
export function revealMessage(widget) {
  setHidden(widget.message, widget.message.textContent === "" || isClosed(widget));
}

/**
 * @param {Widget} widget
 * @param {boolean} isBusy
 * @param {string} [text]
 */
export function setBusy(widget, isBusy, text) {
  disableMethods(widget, isBusy);
  widget.form.classList.toggle("wpwl-form-busy", isBusy);
  widget.container.setAttribute("aria-busy", String(isBusy));
  widget.button.classList.toggle("wpwl-button-pay-disabled", isBusy);
  widget.button.setAttribute("aria-disabled", String(isBusy));
  widget.status.textContent = isBusy ? text || "" : "";
  const spinner = widget.button.querySelector(".wpwl-spinner, .wpwl-tick");
  if (isBusy && !spinner) {
    widget.button.append(make("span", "wpwl-spinner", { "aria-hidden": "true" }));
  } else if (!isBusy && spinner) {
    spinner.remove();
  }
}
