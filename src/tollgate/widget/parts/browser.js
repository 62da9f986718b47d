// @ts-check
// What a bank wants to know of the browser before it decides whether to ask the shopper anything.

import { isJavaEnabled, readBrowserLanguage, readColorDepth } from "../../web/pages/modules/browser.js";
import { page } from "./state.js";
/** @import { Parameters } from "../types/frames.d.ts" */

/** @returns {Parameters} */
export function describeBrowser() {
  const facts = {
    language: readBrowserLanguage(),
    screenHeight: screen.height,
    screenWidth: screen.width,
    timezone: new Date().getTimezoneOffset(),
    javaEnabled: isJavaEnabled(),
    javascriptEnabled: true,
    screenColorDepth: readColorDepth(),
    challengeWindow: page.settings.challengeWindow,
    userAgent: navigator.userAgent,
  };
  const known = Object.entries(facts).filter(([, value]) => value !== "" && value !== undefined);
  return Object.fromEntries(known.map(([name, value]) => [`customer.browser.${name}`, String(value)]));
}
