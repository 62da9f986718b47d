// @ts-check
// The payment methods of the accordion: which one is open, and that none is changed while a payment is made.

import { getClosest, setHidden } from "./dom.js";
import { page } from "./state.js";
/** @import { Widget } from "../types/page.d.ts" */

export function isAccordion() {
  return page.settings.layout === "accordion";
}

/** @param {Widget} widget */
export function isClosed(widget) {
  const { open } = widget.place;
  return open !== undefined && open.widget !== widget;
}

/**
 * Keeps the shopper from changing the method of a payment that is being made.
 * @param {Widget} widget
 * @param {boolean} isDisabled
 */
export function disableMethods({ place }, isDisabled) {
  for (const { radio } of place.methods || []) {
    radio.disabled = isDisabled;
  }
}

/**
 * Adds fields that the service asked for: to the open method, or in the classic layout above the form's own button.
 * @param {Widget} widget
 * @param {HTMLElement} group
 */
export function addAsked(widget, group) {
  const { open } = widget.place;
  if (!open) {
    getClosest(widget.button, ".wpwl-group-submit").before(group);
    return;
  }
  widget.askedGroup = group;
  (widget.rows ? open.panel : widget.form).append(group);
  setHidden(open.panel, false);
}
