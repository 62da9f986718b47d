// @ts-check
// The style sheets, and how a frame looks: a page's rules do not reach into it, so what they make of a field is read here
// and sent to the frame.

import { make } from "./dom.js";
import { readObject } from "./reading.js";
import { assetAddress } from "./source.js";
import { onUnload, page, wait } from "./state.js";
/** @import { FrameFieldName } from "../types/frames.d.ts" */
/** @import { FrameLooks, Settings } from "../types/page.d.ts" */

const STYLE_FILES = {
  card: ["widget.css", "marks.css", "dialog.css", "wallets.css"],
  plain: ["marks.css", "plain.css", "wallets.css"],
  logos: ["widget.css", "marks.css", "dialog.css", "wallets.css", "logos.css"],
  none: [],
};

const STYLE_PATIENCE_MS = 3000;

const COPIED_STYLES = [
  "font-family",
  "font-size",
  "font-style",
  "font-weight",
  "letter-spacing",
  "line-height",
  "text-align",
  "text-transform",
];

/** @param {Settings} settings */
export function loadStyles({ style, layout }) {
  const first = document.head.firstChild;
  const names = [...STYLE_FILES[style], ...(layout === "accordion" && style !== "none" ? ["accordion.css"] : [])];
  return Promise.race([Promise.all(names.map((name) => loadStyle(name, first))), wait(STYLE_PATIENCE_MS)]);
}

/**
 * Loads a style sheet in front of all others, so that the shop's rules of equal weight win.
 * @param {string} name
 * @param {Node | null} before
 * @returns {Promise<void>}
 */
function loadStyle(name, before) {
  return new Promise((resolve) => {
    const link = make("link", "wpwl-stylesheet", { rel: "stylesheet", href: assetAddress(name) });
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      // The next form loads it again.
      link.remove();
      page.styled = null;
      resolve();
    });
    document.head.insertBefore(link, before);
    onUnload(() => link.remove());
  });
}

/** @param {string} color */
function isTransparent(color) {
  return !color || color === "transparent" || /^rgba\(.*, 0\)$/.test(color);
}

/** @param {CSSStyleDeclaration} computed */
function readScheme(computed) {
  const offered = computed.colorScheme || "normal";
  if (offered.includes("dark") && offered.includes("light")) {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  return offered.includes("dark") ? "dark" : "light";
}

/**
 * Reads the color of placeholders from an input; where the form has frames alone, from one that stands beside a frame for
 * this moment.
 * @param {HTMLElement} element
 * @param {HTMLInputElement | null} sample
 */
function readPlaceholderColor(element, sample) {
  if (sample) {
    return getComputedStyle(sample, "::placeholder").color;
  }
  const input = make("input", "wpwl-control", { placeholder: " " });
  element.after(input);
  const { color } = getComputedStyle(input, "::placeholder");
  input.remove();
  return color;
}

/**
 * @param {HTMLElement} element
 * @param {HTMLInputElement | null} sample
 */
function readColors(element, sample) {
  const computed = getComputedStyle(element);
  return {
    text: computed.color,
    placeholder: readPlaceholderColor(element, sample) || computed.color,
    error: computed.color,
    background: isTransparent(computed.backgroundColor) ? "transparent" : computed.backgroundColor,
  };
}

/**
 * @param {HTMLElement} element
 * @param {HTMLInputElement | null} sample
 * @param {FrameLooks} given
 */
export function readFrameLooks(element, sample, given) {
  const computed = getComputedStyle(element);
  const copied = Object.fromEntries(COPIED_STYLES.map((name) => [name, computed.getPropertyValue(name)]));
  return {
    colors: readColors(element, sample),
    scheme: readScheme(computed),
    styles: { ...copied, ...given.styles },
    placeholderStyles: given.placeholderStyles,
  };
}

// `iframeStyles` names frames as pages do: "card-number", "cvv-placeholder".
const STYLE_NAMES = { number: "card-number", cvv: "cvv", holder: "card-holder", expiry: "expiry" };

/** @param {FrameFieldName} field */
export function readGivenStyles(field) {
  const given = page.settings.iframeStyles;
  const name = STYLE_NAMES[field];
  return { styles: readObject(given[name]) || {}, placeholderStyles: readObject(given[`${name}-placeholder`]) || {} };
}
