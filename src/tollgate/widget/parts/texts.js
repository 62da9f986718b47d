// @ts-check
// Chooses the language of a form and translates into it. Texts that the page brings along (labels, errorMessages) win.

import { has } from "../input/records.js";
import { page } from "./state.js";
/** @import { GivenOptions, Translator } from "../types/page.d.ts" */

const DEFAULT_LANGUAGE = "en";

/**
 * Finds a language by its name: "zh-Hans-CN" is looked for as a whole first, then without its last words.
 * @param {unknown} name
 */
function findLanguage(name) {
  const words = String(name || "").trim().toLowerCase().replace(/_/g, "-").split("-");
  const names = words.map((_, place) => words.slice(0, words.length - place).join("-"));
  return names.map((each) => (has(TEXTS, each) ? each : has(ALIASES, each) ? ALIASES[each] : "")).find(Boolean);
}

/** @param {...unknown} requested */
function chooseLanguage(...requested) {
  return requested.map(findLanguage).find(Boolean) || DEFAULT_LANGUAGE;
}

/**
 * @param {string} code
 * @returns {Record<string, string>}
 */
function readTexts(code) {
  return Object.fromEntries(TEXT_KEYS.map((key, place) => [key, TEXTS[code][place]]));
}

/**
 * @param {string} code
 * @param {GivenOptions} options
 * @returns {Translator}
 */
function makeTranslator(code, options) {
  const own = { ...onlyTexts(options.labels), ...onlyTexts(options.errorMessages) };
  const texts = { ...readTexts(code), ...own };
  return {
    translate: (key, values = {}) =>
      Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, () => value), texts[key] || ""),
    isOwn: (key) => has(own, key),
    code,
    tag: texts.tag,
    dir: texts.dir,
  };
}

/**
 * @param {unknown} given
 * @returns {Record<string, string>}
 */
function onlyTexts(given) {
  return Object.fromEntries(Object.entries(given || {}).filter(([, text]) => typeof text === "string"));
}

/** @param {HTMLElement} element */
export function chooseTranslator(element) {
  return makeTranslator(chooseLanguage(page.settings.locale, element.lang, document.documentElement.lang), page.options);
}
