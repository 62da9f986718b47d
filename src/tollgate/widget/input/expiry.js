// @ts-check
// The month and year a card ends: how they are read and written while typing, and whether they lie ahead.

import { deleteAcross, placeAfter, readDigit, readDigits } from "./digits.js";
/** @import { Expiry, FaultKind, Today, Validation } from "../types/frames.d.ts" */

const YEARS_AHEAD_MAX = 50;
export const EXPIRY_LENGTH_MAX = 20;
const TYPED_LENGTH_MAX = 3;
const SLASH = " / ";
/** @type {Expiry} */
const UNREAD_EXPIRY = Object.freeze({ month: "", year: "", isUnread: true });

// Dates without a separator that can be read in one way only: `0534`, `052034`, `52034`, `203405`.
const SOLID_EXPIRIES = [
  /^(?<month>[0-9]{2})(?<year>[0-9]{2})$/,
  /^(?<month>[0-9]{2})(?<year>20[0-9]{2})$/,
  /^(?<month>[1-9])(?<year>20[0-9]{2})$/,
  /^(?<year>20[0-9]{2})(?<month>0[1-9]|1[0-2])$/,
];

/**
 * Writes digits of all scripts as ours, and leaves out marks of direction.
 * @param {string} text
 */
function spellExpiry(text) {
  return [...text.replace(/\p{Cf}/gu, "")].map((character) => readDigit(character) || character).join("");
}

/**
 * Reads month and year from what was typed so far. One letter is taken for a slip; several letters, or a whole date,
 * are not guessed at.
 * @param {string} text
 * @returns {Expiry}
 */
function readExpiry(text) {
  const spelled = spellExpiry(text);
  if ((spelled.match(/\p{L}/gu) || []).length > 1) return UNREAD_EXPIRY;
  const plain = spelled.replace(/\p{L}/u, "").trimStart();
  const trimmed = plain.trimEnd();
  if (/^1\s+$/.test(plain)) return { month: "01", year: "" };
  return /^[0-9]*$/.test(trimmed) ? readSolid(trimmed) : readSeparated(trimmed.split(/[^0-9]+/));
}

/**
 * Reads a date without a separator. While somebody is typing, `5` is May, and `13` is January and the beginning of a year.
 * @param {string} digits
 * @returns {Expiry}
 */
function readSolid(digits) {
  if (digits.length <= TYPED_LENGTH_MAX) {
    const whole = Number(digits[0]) > 1 || /^1[3-9]/.test(digits) ? `0${digits}` : digits;
    return { month: whole.slice(0, 2), year: whole.slice(2) };
  }
  const found = SOLID_EXPIRIES.map((pattern) => pattern.exec(digits)).find(Boolean);
  return found?.groups ? { month: found.groups.month.padStart(2, "0"), year: found.groups.year } : UNREAD_EXPIRY;
}

/**
 * Reads a date with a separator, which says what is the month: no digit changes sides any more.
 * @param {string[]} parts
 * @returns {Expiry}
 */
function readSeparated([first, second, ...rest]) {
  if (rest.length > 0) return rest.join("") === "" ? takeBackMonth(first, second) : UNREAD_EXPIRY;
  if (/^20[0-9]{2}$/.test(first) && /^[0-9]{1,2}$/.test(second)) return { month: second.padStart(2, "0"), year: first };
  const isFull = second.startsWith("20");
  if (second.length > 3 && !isFull) return UNREAD_EXPIRY;
  return { month: /^[1-9]$/.test(first) ? `0${first}` : first, year: second.length < 3 ? second : second.slice(0, isFull ? 4 : 2) };
}

/**
 * Reads `01 / 3/`, which the helper has made of a typed `13/`: only the slash tells that a month was meant.
 * @param {string} first
 * @param {string} second
 * @returns {Expiry}
 */
function takeBackMonth(first, second) {
  const month = first.slice(1) + second;
  const wasSplit = /^0[1-9]$/.test(first) && second.length === 1 && Number(month) > 12;
  return wasSplit ? { month, year: "" } : UNREAD_EXPIRY;
}

/**
 * Writes `MM / YY`. The slash comes by itself, except while somebody is deleting. What is not understood stays as it is.
 * @param {string} text
 * @param {boolean} isDeleting
 */
function writeExpiry(text, isDeleting) {
  if (isDeleting) return /^[0-9]*[\s/]*$/.test(spellExpiry(text)) ? readDigits(text) : text;
  const { month, year, isUnread } = readExpiry(text);
  if (isUnread || month.length > 2 || (month.length < 2 && year !== "")) return text.slice(0, EXPIRY_LENGTH_MAX);
  return month.length < 2 ? month : month + SLASH + year;
}

/**
 * Deletes the digit beyond the slash. The slash stays between digits, so that none of them changes sides.
 * @param {string} text
 * @param {number} caret
 * @param {boolean} isForward
 */
export function deleteAtSlash(text, caret, isForward) {
  const left = deleteAcross(text, caret, isForward);
  if (left === null || readDigits(text.slice(caret)) === "") return left;
  if (isForward) {
    const place = caret + [...text.slice(caret)].findIndex((character) => readDigit(character) !== "");
    return { text: text.slice(0, place) + text.slice(place + 1), caret: place };
  }
  return { text: text.slice(0, left.caret) + text.slice(left.caret + 1), caret: left.caret };
}

/**
 * @param {number} month
 * @param {number} year
 * @param {Today} now
 */
function isAhead(month, year, now) {
  return year * 12 + month >= now.year * 12 + now.month && year <= now.year + YEARS_AHEAD_MAX;
}

/** @param {string} month */
export function isMonth(month) {
  return /^(0[1-9]|1[0-2])$/.test(month);
}

/** @param {string} month */
function canBecomeMonth(month) {
  return month.length < 2 ? "01".includes(month) : isMonth(month);
}

/**
 * @param {string} month
 * @param {string} year
 * @param {Today} now
 */
function canBecomeYear(month, year, now) {
  for (let candidate = now.year; candidate <= now.year + YEARS_AHEAD_MAX; candidate += 1) {
    const isSpelled = String(candidate).startsWith(year) || String(candidate).slice(2).startsWith(year);
    if (isSpelled && isAhead(month.length < 2 ? 12 : Number(month), candidate, now)) return true;
  }
  return false;
}

/**
 * @param {string} text
 * @param {Today} now
 * @returns {Validation & { month: string, year: string }}
 */
export function validateExpiry(text, now) {
  const { month, year, isUnread = false } = readExpiry(text);
  const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
  const isPotentiallyValid = !isUnread && canBecomeMonth(month) && canBecomeYear(month, year, now);
  const error = findExpiryFault(month, year, fullYear, now);
  const kind = findExpiryKind(month, year, fullYear, now, isUnread);
  return { isValid: error === null, isPotentiallyValid, error, kind, month, year: String(fullYear) };
}

/**
 * @param {string} month
 * @param {string} year
 * @param {number} fullYear
 * @param {Today} now
 * @param {boolean} isUnread
 * @returns {FaultKind}
 */
function findExpiryKind(month, year, fullYear, now, isUnread) {
  if (isUnread || !canBecomeMonth(month)) return "invalid";
  if (month.length < 2 || year === "" || year.length % 2 === 1) return "incomplete";
  return fullYear * 12 + Number(month) < now.year * 12 + now.month ? "expired" : "invalid";
}

/**
 * @param {string} month
 * @param {string} year
 * @param {number} fullYear
 * @param {Today} now
 */
function findExpiryFault(month, year, fullYear, now) {
  if (!canBecomeMonth(month)) return "expiryMonthError";
  if (month.length < 2 || year === "" || year.length % 2 === 1) return "expiryError";
  if (isAhead(Number(month), fullYear, now)) return null;
  return fullYear === now.year ? "expiryMonthError" : "expiryYearError";
}

/**
 * Writes a date and moves the caret: one at the end follows the slash and the zero that were added, any other counts them in.
 * @param {string} text
 * @param {number} caret
 * @param {boolean} isDeleting
 */
export function setExpiry(text, caret, isDeleting) {
  const written = writeExpiry(text, isDeleting);
  if (written === text) return { text, caret };
  if (caret >= text.length) return { text: written, caret: written.length };
  const added = written.startsWith("0") && !readDigits(text).startsWith("0") ? 1 : 0;
  return { text: written, caret: placeAfter(written, readDigits(text.slice(0, caret)).length + added) };
}

/** @returns {Today} */
export function readToday() {
  const today = new Date();
  return { year: today.getFullYear(), month: today.getMonth() + 1 };
}
