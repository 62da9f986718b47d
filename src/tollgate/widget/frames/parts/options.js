// @ts-check
// What the page may ask of a frame, member by member. Styles are a list of harmless properties with harmless values:
// nothing that loads, covers, or reads anything.

import { has, isRecord } from "../../input/records.js";
import { findRow } from "./brands.js";
/** @import { FrameOptions } from "../../types/frames.d.ts" */

export const TEXT_LENGTH_MAX = 300;
const CODES_MAX = 100;
const STYLE_LENGTH_MAX = 160;
const LANGUAGE = /^[A-Za-z0-9-]{0,300}$/;
const CHECKOUT_ID = /^[0-9A-F]{32}\.[a-z0-9-]{1,63}$/;
const STYLE_VALUE = /^[\w\s#%.,()'"+/-]+$/;
const STYLE_FUNCTIONS = new Set("rgb rgba hsl hsla hwb lab lch oklab oklch calc".split(" "));

const STYLE_NAMES = new Set([
  "background-color", "caret-color", "color", "font", "font-family", "font-feature-settings", "font-kerning",
  "font-size", "font-size-adjust", "font-stretch", "font-style", "font-variant", "font-variant-numeric", "font-weight",
  "letter-spacing", "line-height", "opacity", "padding", "padding-block", "padding-bottom", "padding-inline",
  "padding-inline-end", "padding-inline-start", "padding-left", "padding-right", "padding-top", "text-align",
  "text-indent", "text-shadow", "text-transform", "word-spacing",
]);

const COLOR_NAMES = ["text", "placeholder", "error", "background"];

/** @param {unknown} value */
function readFlag(value) {
  return typeof value === "boolean" ? value : undefined;
}

/**
 * Returns a text; the end of one that is too long is cut off.
 * @param {unknown} value
 */
function readText(value) {
  if (typeof value !== "string") return undefined;
  return value.length <= TEXT_LENGTH_MAX ? value : `${value.slice(0, TEXT_LENGTH_MAX - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/**
 * Makes a reader of texts that match a pattern as a whole.
 * @param {RegExp} pattern
 */
function readMatching(pattern) {
  return (/** @type {unknown} */ value) => (typeof value === "string" && pattern.test(value) ? value : undefined);
}

/** @param {unknown} value */
function readRecord(value) {
  return isRecord(value) ? value : undefined;
}

/**
 * @param {unknown} value
 * @returns {value is string}
 */
function isBrandCode(value) {
  return typeof value === "string" && findRow(value) !== null;
}

/**
 * Returns the known codes of a list, each once.
 * @param {unknown} value
 */
function readCodeList(value) {
  return Array.isArray(value) && value.length <= CODES_MAX ? [...new Set(value.filter(isBrandCode))] : undefined;
}

/** @type {{ [Name in keyof FrameOptions]-?: (value: unknown) => FrameOptions[Name] | undefined }} */
const OPTION_READERS = {
  lang: readMatching(LANGUAGE),
  dir: readMatching(/^(ltr|rtl)$/),
  scheme: readMatching(/^(light|dark)$/),
  label: readText,
  placeholder: readText,
  hint: readText,
  brand: (value) => (value === null || isBrandCode(value) ? value : undefined),
  accepted: readCodeList,
  priority: readCodeList,
  detects: readFlag,
  formats: readFlag,
  masks: readFlag,
  allowsEmpty: readFlag,
  required: readFlag,
  autofocus: readFlag,
  styles: readRecord,
  placeholderStyles: readRecord,
  colors: readRecord,
  checkoutId: readMatching(CHECKOUT_ID),
  resource: readMatching(/^(payment|registration)$/),
};

/** @type {FrameOptions} */
export const OPTION_DEFAULTS = {
  brand: null,
  accepted: [],
  priority: [],
  detects: false,
  formats: true,
  masks: false,
  allowsEmpty: false,
  required: true,
  resource: "payment",
};

/**
 * Returns the options as they are from now on. Members that are unknown or have the wrong form change nothing.
 * @param {FrameOptions} options
 * @param {unknown} given
 * @returns {FrameOptions}
 */
export function mergeOptions(options, given) {
  if (!isRecord(given)) return options;
  const named = Object.entries(OPTION_READERS).filter(([name]) => has(given, name));
  const taken = named.map(([name, read]) => [name, read(given[name])]).filter(([, value]) => value !== undefined);
  return { ...options, ...Object.fromEntries(taken) };
}

/**
 * @param {readonly [string, unknown]} pair
 * @returns {pair is readonly [string, string]}
 */
function isHarmlessPair(pair) {
  const value = pair[1];
  if (typeof value !== "string" || value.length > STYLE_LENGTH_MAX || !STYLE_VALUE.test(value)) return false;
  return (value.match(/[\w-]*\s*\(/g) || []).every((opening) => STYLE_FUNCTIONS.has(opening.slice(0, -1).toLowerCase()));
}

/**
 * Returns the styles that may be set, as pairs of name and value; `fontSize` and `font-size` are the same.
 * @param {Record<string, unknown>} styles
 */
export function listStyles(styles) {
  return Object.entries(styles)
    .map(([name, value]) => /** @type {readonly [string, unknown]} */ ([name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value]))
    .filter(isHarmlessPair)
    .filter(([name]) => STYLE_NAMES.has(name));
}

/** @param {Record<string, unknown>} colors */
export function listColors(colors) {
  return COLOR_NAMES.filter((name) => has(colors, name))
    .map((name) => /** @type {readonly [string, unknown]} */ ([`--${name}`, colors[name]]))
    .filter(isHarmlessPair);
}
