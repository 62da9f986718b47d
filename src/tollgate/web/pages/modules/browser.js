// @ts-check
// Facts about the browser, as the messages of the card schemes have room for them.

const COLOR_DEPTHS = [48, 32, 24, 16, 15, 8, 4, 1];
const USUAL_COLOR_DEPTH = 24;
const LANGUAGE_LENGTH_MAX = 8;

/** Returns the language; of one that is too long only the first word is understood. */
export function readBrowserLanguage() {
  const { language } = navigator;
  return language.length > LANGUAGE_LENGTH_MAX ? language.split("-")[0] : language;
}

export function readColorDepth() {
  return COLOR_DEPTHS.find((depth) => depth <= screen.colorDepth) || USUAL_COLOR_DEPTH;
}

export function isJavaEnabled() {
  return typeof navigator.javaEnabled === "function" && navigator.javaEnabled();
}
