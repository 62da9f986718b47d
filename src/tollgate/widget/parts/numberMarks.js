// @ts-check
// The marks of the accepted brands inside the number's field. As the number is typed they fade to that of its brand; the
// select is shown only where the number does not tell the brand.

import { makeMark } from "./brands.js";
import { make, setHidden } from "./dom.js";
import { page } from "./state.js";
/** @import { CardWidget, FieldGroup, FoundBrands } from "../types/page.d.ts" */

/**
 * @param {CardWidget} widget
 * @param {FieldGroup} field
 */
export function addNumberMarks(widget, { wrapper }) {
  const { codes } = widget;
  widget.marks = codes.map((code) => ({ code, element: makeMark(code, null, "wpwl-brand-accepted") }));
  wrapper.append(make("div", "wpwl-marks", { "aria-hidden": "true" }, ...widget.marks.map(({ element }) => element)));
  followMarks(widget, { detected: [], active: null });
}

/**
 * Shows the marks for what was detected in the number, or was detected last where only the choice has changed.
 * @param {CardWidget} widget
 * @param {FoundBrands} [found]
 */
export function followMarks(widget, found = widget.found) {
  const { brandField, codes, marks } = widget;
  widget.found = found;
  if (!marks || !found) {
    return;
  }
  const { detected, active } = found;
  const fitting = active ? [brandField.control.value] : detected.length ? detected : codes;
  marks.forEach(({ code, element }) => element.classList.toggle("wpwl-brand-off", !fitting.includes(code)));
  const choices = listChoices(codes, detected, active);
  for (const option of brandField.control.options) {
    option.hidden = option.disabled = !choices.includes(option.value);
  }
  setHidden(brandField.group, choices.length < 2);
}

/**
 * Lists the brands that the shopper has to choose from: those that share the number, or all where numbers do not tell brands.
 * @param {string[]} codes
 * @param {string[]} detected
 * @param {string | null} active
 */
function listChoices(codes, detected, active) {
  const isTold = (/** @type {string} */ code) => page.configuration.brands[code].prefixes.length || page.configuration.brands[code].shares.length;
  if (!page.settings.brandDetection || !codes.every(isTold)) {
    return codes;
  }
  return active ? detected : [];
}
