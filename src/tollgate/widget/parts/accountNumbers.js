// @ts-check
// Numbers of bank accounts: how they are written in groups while they are typed, and what is sent of them.

import { readDigit } from "../input/digits.js";
import { findCaret, readTyping, setInput } from "../input/typing.js";
import { page } from "./state.js";
/** @import { Field, InputField } from "../types/page.d.ts" */

const IBAN_LENGTH_MAX = 34;
const GROUP = 4;
const BIC = /^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/;

/**
 * Returns a number as it is sent. People paste it with blanks, dots, dashes, in small letters, and with "IBAN" in front.
 * @param {string} text
 */
export function squeeze(text) {
  const plain = [...text].map((character) => readDigit(character) || character).join("");
  return plain.replace(/[^\p{L}\p{N}]/gu, "").toUpperCase().replace(/^IBAN(?=[A-Z]{2}\d)/, "");
}

/**
 * Returns the numbers of bank accounts among the fields as they are sent.
 * @param {Field[]} fields
 */
export function squeezeNumbers(fields) {
  const numbers = fields.filter((field) => ["accountIban", "accountBic"].includes(field.name) && !field.isEmpty());
  return Object.fromEntries(numbers.map((field) => [field.names[0], squeeze(/** @type {InputField} */ (field).control.value)]));
}

/**
 * Whether a text consists of letters, digits and what people put between them. Anything else begins no number of any kind.
 * @param {string} text
 */
export function isNumberLike(text) {
  return /^[\p{L}\p{N}\p{Cf}\p{Pd}\s./]+$/u.test(text);
}

/** @param {string} text */
export function isBic(text) {
  return BIC.test(squeeze(text));
}

/** @param {string} text */
export function isPartOfBic(text) {
  return /^[A-Z]{0,6}$|^[A-Z]{6}[A-Z0-9]{0,4}$/.test(squeeze(text)) && isNumberLike(text);
}

/** @param {string} iban */
function findIbanLength(iban) {
  const rows = Object.values(page.configuration.brands).map(({ ibanLengths }) => (ibanLengths || {})[iban.slice(0, 2)]);
  return rows.find(Boolean);
}

/**
 * Checks the length that the country has, where the service has told it, and the check digits of ISO 13616.
 * @param {string} text
 */
export function isIban(text) {
  const iban = squeeze(text);
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban) || iban.length !== (findIbanLength(iban) || iban.length)) {
    return false;
  }
  const moved = iban.slice(4) + iban.slice(0, 4);
  const digits = moved.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return [...digits].reduce((remainder, digit) => (remainder * 10 + Number(digit)) % 97, 0) === 1;
}

/** @param {string} text */
export function isPartOfIban(text) {
  const iban = squeeze(text);
  const isBegun = /^[A-Z]{0,2}$|^[A-Z]{2}\d{1,2}$|^[A-Z]{2}\d{2}[A-Z0-9]*$/.test(iban);
  return isBegun && iban.length < (findIbanLength(iban) || 15);
}

/** @param {string} iban */
function groupIban(iban) {
  return iban.replace(/.{4}(?=.)/g, "$& ");
}

/**
 * Writes an IBAN in fours and keeps the caret behind the same character. Deleting a blank deletes the character beyond it.
 * @param {HTMLInputElement} control
 */
export function groupWhileTyping(control) {
  let written = control.value;
  const write = (/** @type {Event} */ event) => {
    const { kind, isComposing } = readTyping(event);
    if (isComposing) {
      return;
    }
    let iban = squeeze(control.value);
    let before = Math.min(squeeze(control.value.slice(0, findCaret(control))).length, iban.length);
    if (iban === squeeze(written) && /^deleteContent(Back|For)ward$/.test(kind)) {
      before -= kind === "deleteContentBackward" && before ? 1 : 0;
      iban = iban.slice(0, before) + iban.slice(before + 1);
    }
    written = groupIban(iban.slice(0, IBAN_LENGTH_MAX));
    setInput(control, { text: written, caret: before + Math.max(0, Math.ceil(before / GROUP) - 1) });
  };
  control.addEventListener("input", write);
  control.addEventListener("change", write);
}
