// @ts-check
// Postal codes, written as their country does. Only those of countries that the service has a row for are validated.

import { isNumberLike, squeeze } from "./accountNumbers.js";
import { page } from "./state.js";
/** @import { TextControl } from "../types/page.d.ts" */

/** @param {TextControl} control */
function findPostcodeRow({ form }) {
  const country = /** @type {TextControl | null | undefined} */ (form?.elements.namedItem("billing.country"));
  const row = country && page.configuration.postcodes[country.value];
  return row ? { pattern: new RegExp(`^(?:${row[0]})$`), joint: row[1], shortest: row[2] } : null;
}

/** @param {string} text */
function squeezePostcode(text) {
  return squeeze(text).replace(/[^A-Z0-9]/g, "");
}

/**
 * @param {string} text
 * @param {TextControl} control
 */
export function isPostcode(text, control) {
  const row = findPostcodeRow(control);
  return !row || row.pattern.test(squeezePostcode(text));
}

/**
 * @param {string} text
 * @param {TextControl} control
 */
export function isPartOfPostcode(text, control) {
  const code = squeezePostcode(text);
  return isNumberLike(text) && code === squeeze(text) && code.length < (findPostcodeRow(control)?.shortest ?? 0);
}

/**
 * Writes a postal code as its country does when the shopper leaves the field.
 * @param {TextControl} control
 */
export function spellPostcode(control) {
  const spell = () => {
    const row = findPostcodeRow(control);
    const found = row?.pattern.exec(squeezePostcode(control.value));
    if (row && found) {
      control.value = found.slice(1).filter(Boolean).join(row.joint);
    }
  };
  control.addEventListener("change", spell);
  control.addEventListener("blur", spell);
}
