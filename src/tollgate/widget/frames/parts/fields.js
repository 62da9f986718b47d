// @ts-check
// The four fields of a card: how each writes what is typed, validates it, and names what it sends. Nothing here touches
// the document.

import { deleteAcross, groupDigits, placeAfter, readDigits } from "../../input/digits.js";
import { deleteAtSlash, setExpiry, validateExpiry } from "../../input/expiry.js";
import { readHolder, validateHolder } from "../../input/holder.js";
import { chooseGrouping, findRow, limitLength, validateNumber } from "./brands.js";
/** @import { CardFieldRow, FrameFieldName, FrameOptions, Today, Validation } from "../../types/frames.d.ts" */

const CVV_LENGTHS = [3, 4];

/** @param {string | null} brand */
function listCvvLengths(brand) {
  const row = findRow(brand || "");
  return row === null ? CVV_LENGTHS : [row.cvvLength];
}

/**
 * @param {string} digits
 * @param {string | null} brand
 * @returns {Validation}
 */
function validateCvv(digits, brand) {
  const lengths = listCvvLengths(brand);
  const isValid = lengths.includes(digits.length);
  const isPotentiallyValid = digits.length <= Math.max(...lengths);
  const kind = isPotentiallyValid ? "incomplete" : "invalid";
  return { isValid, isPotentiallyValid, kind, error: isValid ? null : "cvvError" };
}

/**
 * Writes digits anew and leaves the caret behind the same digit as before.
 * @param {string} text
 * @param {number} caret
 * @param {number} lengthMax
 * @param {(digits: string) => string} write
 */
function setDigits(text, caret, lengthMax, write) {
  const digits = readDigits(text).slice(0, lengthMax);
  const written = write(digits);
  return { text: written, caret: placeAfter(written, Math.min(readDigits(text.slice(0, caret)).length, digits.length)) };
}

/** @type {Record<FrameFieldName, CardFieldRow>} */
export const FIELDS = {
  number: {
    fault: "cardNumberError",
    isDigits: true,
    deleteAt: deleteAcross,
    count: (text) => readDigits(text).length,
    set: (text, caret, options) =>
      setDigits(text, caret, limitLength(readDigits(text), options), (digits) =>
        options.formats ? groupDigits(digits, chooseGrouping(digits, options)) : digits
      ),
    validate: (text, options) => validateNumber(readDigits(text), options),
    values: (text) => ({ "card.number": readDigits(text) }),
  },
  cvv: {
    fault: "cvvError",
    isDigits: true,
    deleteAt: deleteAcross,
    count: (text) => readDigits(text).length,
    set: (text, caret, options) =>
      setDigits(text, caret, Math.max(...listCvvLengths(options.brand)), (digits) => digits),
    validate: (text, options) => validateCvv(readDigits(text), options.brand),
    values: (text) => ({ "card.cvv": readDigits(text) }),
  },
  holder: {
    fault: "cardHolderError",
    isDigits: false,
    deleteAt: () => null,
    count: (text) => [...text].length,
    set: (text, caret) => ({ text, caret }),
    validate: validateHolder,
    values: (text) => ({ "card.holder": readHolder(text) }),
  },
  expiry: {
    fault: "expiryError",
    isDigits: true,
    deleteAt: deleteAtSlash,
    count: (text) => readDigits(text).length,
    set: (text, caret, _options, isDeleting) => setExpiry(text, caret, isDeleting),
    validate: (text, _options, now) => validateExpiry(text, now),
    values: (text, now) => {
      const { month, year } = validateExpiry(text, now);
      return { "card.expiryMonth": month, "card.expiryYear": year };
    },
  },
};

/**
 * Returns what the page may know of a field: whether it is right, never what stands in it.
 * @param {FrameFieldName} field
 * @param {string} text
 * @param {FrameOptions} options
 * @param {Today} now
 */
export function validateField(field, text, options, now) {
  const isEmpty = FIELDS[field].count(text) === 0;
  if (isEmpty && options.allowsEmpty) return { isEmpty, isValid: true, isPotentiallyValid: true, kind: null, error: null };
  const { isValid, isPotentiallyValid, kind, error } = FIELDS[field].validate(text, options, now);
  return { isEmpty, isValid, isPotentiallyValid, kind: isValid ? null : kind, error };
}
