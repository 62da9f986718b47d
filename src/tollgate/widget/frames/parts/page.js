// @ts-check
// The one input of this frame: how it looks and is read out, and what typing in it does.

import { readDigits } from "../../input/digits.js";
import { readToday } from "../../input/expiry.js";
import { deleteAtCaret, findCaret, readTyping, setInput } from "../../input/typing.js";
import { detectAmong } from "./brands.js";
import { FIELDS, validateField } from "./fields.js";
import { OPTION_DEFAULTS, listColors, listStyles, mergeOptions } from "./options.js";
import { sendToPage } from "./port.js";
/** @import { FrameFieldName, FrameOptions } from "../../types/frames.d.ts" */

export const input = /** @type {HTMLInputElement} */ (document.querySelector("input"));
const hint = /** @type {HTMLElement} */ (document.querySelector("[data-hint]"));
export const field = /** @type {FrameFieldName} */ (input.dataset.field);
export const placeholderStyle = makePlaceholderStyle();
const canMaskByStyle = placeholderStyle !== null && CSS.supports("-webkit-text-security", "disc");
const BARE_STYLES = { "box-sizing": "border-box", width: "100%", margin: "0" };
export let options = OPTION_DEFAULTS;
let isDeleting = false;
let arranged = "";
let brandsSent = "";
let heightSent = 0;

/** Returns null where the style sheet was not loaded: its rules cannot be read then. */
function makePlaceholderStyle() {
  try {
    const [sheet] = document.styleSheets;
    const rule = sheet.cssRules[sheet.insertRule("input::placeholder {}", sheet.cssRules.length)];
    return /** @type {CSSStyleRule} */ (rule).style;
  } catch {
    return null;
  }
}

/** Makes the input as wide as the frame, and hides what the style sheet would only hide from the eye. */
export function doWithoutSheet() {
  setStyles(document.body.style, [["margin", "0"]]);
  setStyles(input.style, Object.entries(BARE_STYLES));
  hint.hidden = true;
}

export function validate() {
  return validateField(field, input.value, options, readToday());
}

/** Writes what stands in the input in its blocks. */
function arrange() {
  setInput(input, FIELDS[field].set(input.value, findCaret(input), options, isDeleting));
}

function sendChange() {
  const { isValid, isPotentiallyValid, isEmpty, kind } = validate();
  sendToPage({ type: "change", isValid, isPotentiallyValid, isEmpty, kind, length: FIELDS[field].count(input.value) });
}

function sendBrands() {
  if (field !== "number" || !options.detects) return;
  const found = detectAmong(readDigits(input.value), options);
  const text = JSON.stringify(found);
  if (text === brandsSent) return;
  brandsSent = text;
  sendToPage({ type: "brands", ...found });
}

function sendHeight() {
  const { lineHeight, fontSize, paddingTop, paddingBottom } = getComputedStyle(input);
  const line = Number.parseFloat(lineHeight) || 1.5 * Number.parseFloat(fontSize);
  const px = Math.ceil(line + Number.parseFloat(paddingTop) + Number.parseFloat(paddingBottom));
  if (px === heightSent) return;
  heightSent = px;
  sendToPage({ type: "height", px });
}

export function react() {
  arrange();
  arranged = input.value;
  sendBrands();
  sendChange();
}

/** Takes over what browsers and password managers have filled in without an event. */
export function catchUp() {
  if (input.value === arranged) return;
  isDeleting = false;
  react();
}

export function clear() {
  if (input.value === "") return;
  input.value = "";
  react();
}

/**
 * @param {CSSStyleDeclaration} style
 * @param {Iterable<readonly [string, string]>} pairs
 */
function setStyles(style, pairs) {
  for (const [name, value] of pairs) style.setProperty(name, value);
}

/** @param {boolean} isMasked */
function mask(isMasked) {
  input.classList.toggle("is-masked", isMasked && canMaskByStyle);
  input.type = isMasked && !canMaskByStyle ? "password" : "text";
}

/**
 * Turns the input in the direction of the page. Digits are written from left to right everywhere; only their side changes.
 * @param {string} direction
 */
function turn(direction) {
  input.dir = FIELDS[field].isDigits ? "ltr" : direction;
  input.classList.toggle("is-at-right", direction === "rtl");
}

/**
 * Leaves out the usual side of text: where text begins in the page need not be where digits begin here, which `turn` knows.
 * @param {readonly [string, string]} pair
 */
function isNoUsualSide([name, value]) {
  return name !== "text-align" || value !== "start";
}

/** @type {{ [Name in keyof FrameOptions]?: (value: NonNullable<FrameOptions[Name]>) => void }} */
const APPLICATIONS = {
  lang: (value) => {
    document.documentElement.lang = value;
  },
  dir: turn,
  scheme: (value) => {
    document.documentElement.style.colorScheme = value;
  },
  label: (value) => input.setAttribute("aria-label", value),
  placeholder: (value) => {
    input.placeholder = value;
  },
  hint: (value) => {
    hint.textContent = value;
    input.setAttribute("aria-invalid", String(value !== ""));
  },
  masks: (value) => mask(field === "cvv" && value),
  required: (value) => input.setAttribute("aria-required", String(value)),
  colors: (value) => setStyles(document.documentElement.style, listColors(value)),
  styles: (value) => setStyles(input.style, listStyles(value).filter(isNoUsualSide)),
  placeholderStyles: (value) => {
    if (placeholderStyle !== null) setStyles(placeholderStyle, listStyles(value));
  },
};

/** @type {(keyof FrameOptions)[]} */
const DECISIVE_OPTIONS = ["brand", "accepted", "priority", "detects", "formats", "allowsEmpty"];

/**
 * @template {keyof FrameOptions} Name
 * @param {Name} name
 * @param {FrameOptions} before
 */
function applyOption(name, before) {
  const value = options[name];
  if (value !== undefined && value !== null && value !== before[name]) APPLICATIONS[name]?.(value);
}

/** @param {unknown} given */
export function takeOptions(given) {
  const before = options;
  options = mergeOptions(before, given);
  for (const name of /** @type {(keyof FrameOptions)[]} */ (Object.keys(APPLICATIONS))) applyOption(name, before);
  // Another brand may mean other blocks, another length and another fault.
  const isValidatedAgain = DECISIVE_OPTIONS.some((name) => JSON.stringify(options[name]) !== JSON.stringify(before[name]));
  if (isValidatedAgain && input.value !== "") react();
  sendHeight();
}

/** @param {InputEvent} event */
function hopOverSeparator(event) {
  const left = deleteAtCaret(input, event, FIELDS[field].deleteAt);
  if (left === null) return;
  event.preventDefault();
  isDeleting = true;
  setInput(input, left);
  react();
}

export function listenToInput() {
  input.addEventListener("beforeinput", hopOverSeparator);
  input.addEventListener("input", (event) => {
    const typing = readTyping(event);
    // What an input method is still composing must not be changed.
    if (typing.isComposing) return;
    isDeleting = typing.isDeleting;
    react();
  });
  input.addEventListener("compositionend", () => {
    isDeleting = false;
    react();
  });
  input.addEventListener("change", catchUp);
  input.addEventListener("focus", () => sendToPage({ type: "focus" }));
  input.addEventListener("blur", () => {
    catchUp();
    const { isValid, isEmpty, kind } = validate();
    sendToPage({ type: "blur", isValid, isEmpty, kind });
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    sendToPage({ type: "enter" });
  });
  // A page that focuses the frame means its input.
  window.addEventListener("focus", () => input.focus());
}
