// @ts-check
// The name of a card holder: how it is normalized and validated.

import { readDigits } from "./digits.js";
/** @import { Validation } from "../types/frames.d.ts" */

const HOLDER_LENGTH_MIN = 3;
const HOLDER_LENGTH_MAX = 128;
const HOLDER_DIGITS_MAX = 11; // A card number typed into the wrong field is longer.

/** @param {string} text */
export function readHolder(text) {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}

/**
 * @param {string} text
 * @returns {Validation}
 */
export function validateHolder(text) {
  const holder = readHolder(text);
  const length = [...holder].length;
  const isPotentiallyValid = length <= HOLDER_LENGTH_MAX && readDigits(holder).length <= HOLDER_DIGITS_MAX;
  const isValid = isPotentiallyValid && length >= HOLDER_LENGTH_MIN && /\p{L}/u.test(holder);
  const isBegun = length < HOLDER_LENGTH_MIN && /^$|\p{L}/u.test(holder);
  const kind = isPotentiallyValid && isBegun ? "incomplete" : "invalid";
  return { isValid, isPotentiallyValid, kind, error: isValid ? null : "cardHolderError" };
}
