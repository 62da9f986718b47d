// @ts-check
// Detects the brand of a number and validates a number, by the same rows and rules as the server. The rows (BRAND_ROWS)
// come from the service and not from the page: a page that chose the ranges could ask for a number digit by digit.

import { FOURS, addUp } from "../../input/digits.js";
import { has } from "../../input/records.js";
/** @import { FrameOptions, Validation } from "../../types/frames.d.ts" */

const KEY_DIGITS = 8;
const LENGTH_MIN = 8;
const LENGTH_MAX = 32; // Where a brand's row names no lengths, these are the limits of the interface.
const USUAL_LENGTH_MAX = 19;

/**
 * `51-55` to the first key inside and the first key after.
 * @param {string} prefix
 * @param {string} code
 */
function readRange(prefix, code) {
  const [low, high = low] = prefix.split("-");
  const width = 10 ** (KEY_DIGITS - low.length);
  return { code, digits: low.length, start: Number(low) * width, end: (Number(high) + 1) * width };
}

const OWN_RANGES = Object.fromEntries(
  Object.entries(BRAND_ROWS).map(([code, row]) => [code, row.prefixes.map((prefix) => readRange(prefix, code))])
);

const ALL_RANGES = Object.values(OWN_RANGES)
  .flat()
  .sort((one, other) => other.digits - one.digits);

const RANGES = Object.fromEntries(
  Object.entries(BRAND_ROWS).map(([code, row]) => [code, [code, ...row.shares].flatMap((name) => OWN_RANGES[name])])
);

/** @param {string} code */
export function findRow(code) {
  return has(BRAND_ROWS, code) ? BRAND_ROWS[code] : null;
}

/**
 * Returns the first key that digits may still become, and the first one after.
 * @param {string} digits
 */
function spanKeys(digits) {
  const known = digits.slice(0, KEY_DIGITS);
  const width = 10 ** (KEY_DIGITS - known.length);
  const start = Number(known) * width;
  return { start, end: start + width };
}

/**
 * Returns the brand whose own range the number falls in; a co-brand has none, so its network wins.
 * @param {string} number
 */
function detectBrand(number) {
  if (!/^[0-9]+$/.test(number)) return null;
  const key = spanKeys(number).start;
  const range = ALL_RANGES.find(({ start, end }) => start <= key && key < end);
  return range ? range.code : null;
}

/** @param {string} number */
function passesLuhn(number) {
  let sum = 0;
  for (let place = 0; place < number.length; place += 1) {
    const digit = Number(number[number.length - 1 - place]);
    sum += place % 2 === 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
  }
  return sum % 10 === 0;
}

/**
 * @param {string} code
 * @param {string} number
 */
function acceptsNumber(code, number) {
  const row = findRow(code);
  if (row === null || (row.lengths.length > 0 && !row.lengths.includes(number.length))) return false;
  const key = spanKeys(number).start;
  if (RANGES[code].length > 0 && !RANGES[code].some(({ start, end }) => start <= key && key < end)) return false;
  return !row.luhn || passesLuhn(number);
}

/**
 * Whether a number is whole: its brand and the interface accept it.
 * @param {string} code
 * @param {string} number
 */
function isWholeNumber(code, number) {
  return number.length >= LENGTH_MIN && number.length <= LENGTH_MAX && acceptsNumber(code, number);
}

/**
 * Whether every number that begins like this is the brand's (`isSure`), or some are.
 * @param {string} code
 * @param {string} digits
 * @param {boolean} isSure
 */
function isInReach(code, digits, isSure) {
  const span = spanKeys(digits);
  return RANGES[code].some(({ start, end }) =>
    isSure ? start <= span.start && span.end <= end : start < span.end && span.start < end
  );
}

/** @param {string} code */
function findLengthMax(code) {
  const lengths = BRAND_ROWS[code].lengths;
  return lengths.length > 0 ? Math.max(...lengths) : LENGTH_MAX;
}

/**
 * Whether more digits can still make a number of this brand.
 * @param {string} code
 * @param {string} digits
 */
function canGrow(code, digits) {
  const isReachable = RANGES[code].length === 0 || isInReach(code, digits, false);
  return isReachable && digits.length < findLengthMax(code);
}

/**
 * Lists the brands by which a number is validated: the chosen one, or all of the form where the number itself tells.
 * @param {FrameOptions} options
 */
function listTargets({ accepted, brand, detects }) {
  if (brand !== null && (!detects || accepted.length === 0)) return [brand];
  return accepted.length > 0 ? accepted : Object.keys(BRAND_ROWS);
}

/**
 * Returns how long a number that begins like this may become.
 * @param {string} digits
 * @param {FrameOptions} options
 */
export function limitLength(digits, options) {
  const reachable = listTargets(options).filter(
    (code) => RANGES[code].length === 0 || isInReach(code, digits, false)
  );
  return reachable.length > 0 ? Math.max(...reachable.map(findLengthMax)) : USUAL_LENGTH_MAX;
}

/**
 * Ranks a brand: those that the page prefers come first, then the longest own range, then the form's order.
 * @param {string} code
 * @param {string} digits
 * @param {FrameOptions} options
 */
function rankBrand(code, digits, { accepted, priority }) {
  const preferred = priority.indexOf(code);
  const span = spanKeys(digits);
  const own = OWN_RANGES[code].filter(({ start, end }) => start <= span.start && span.end <= end);
  return [preferred < 0 ? priority.length : preferred, -Math.max(0, ...own.map((range) => range.digits)), accepted.indexOf(code)];
}

/**
 * Returns the brands of the form that the digits may belong to, and the one to take: none as long as that is open.
 * @param {string} digits
 * @param {FrameOptions} options
 */
export function detectAmong(digits, options) {
  if (digits === "") return { detected: [], active: null };
  const sure = options.accepted.filter((code) => isInReach(code, digits, true));
  if (sure.length === 0) {
    return { detected: options.accepted.filter((code) => isInReach(code, digits, false)), active: null };
  }
  const ranks = new Map(sure.map((code) => [code, rankBrand(code, digits, options)]));
  const detected = sure.sort((one, other) => compareRanks(ranks.get(one) ?? [], ranks.get(other) ?? []));
  return { detected, active: detected[0] };
}

/**
 * @param {number[]} one
 * @param {number[]} other
 */
function compareRanks(one, other) {
  const place = one.findIndex((rank, index) => rank !== other[index]);
  return place < 0 ? 0 : one[place] - other[place];
}

/**
 * Chooses the blocks in which digits are shown: those of the chosen brand if it accepts them, else of their own brand.
 * @param {string} digits
 * @param {FrameOptions} options
 */
export function chooseGrouping(digits, options) {
  const { active } = detectAmong(digits, options);
  const chosen = options.brand !== null && isInReach(options.brand, digits, false) ? options.brand : null;
  const row = findRow((options.detects ? active : chosen) || chosen || detectBrand(digits) || "");
  return row === null ? FOURS : row.grouping;
}

/**
 * @param {string} digits
 * @param {FrameOptions} options
 * @returns {Validation}
 */
export function validateNumber(digits, options) {
  const targets = listTargets(options);
  const isValid = targets.some((code) => isWholeNumber(code, digits));
  const isPotentiallyValid = isValid || digits === "" || targets.some((code) => canGrow(code, digits));
  const isShort = digits.length < (addUp(chooseGrouping(digits, options)) || addUp(FOURS));
  const kind = isPotentiallyValid && isShort ? "incomplete" : "invalid";
  return { isValid, isPotentiallyValid, kind, error: isValid ? null : findNumberFault(digits, options) };
}

/**
 * Returns the fault of a number. A good number of a brand that this form does not accept has another fault than a mistyped
 * one.
 * @param {string} digits
 * @param {FrameOptions} options
 */
function findNumberFault(digits, { accepted }) {
  const owner = detectBrand(digits);
  const isGood = owner !== null && isWholeNumber(owner, digits);
  const isTaken = accepted.some((code) => isWholeNumber(code, digits));
  return isGood && !isTaken && accepted.length > 0 ? "cardBinError" : "cardNumberError";
}
