// @ts-check
// Fills in what the browser knows of itself, waits for the issuer's hidden frame, and sends the form on, once.

import { isJavaEnabled, readBrowserLanguage, readColorDepth } from "../modules/browser.js";

const FRAME_PATIENCE_MS = 10000;

/** @type {Record<string, () => string | number | boolean>} */
const ANSWERS = {
  language: readBrowserLanguage,
  screen_height: () => screen.height,
  screen_width: () => screen.width,
  color_depth: readColorDepth,
  timezone: () => new Date().getTimezoneOffset(),
  java_enabled: isJavaEnabled,
  javascript_enabled: () => true,
};

const form = /** @type {HTMLFormElement} */ (document.querySelector("form[data-collect]"));
const frameForm = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-frame]"));
const done = /** @type {HTMLInputElement | null} */ (form.querySelector("input[data-done]"));
let isSent = false;

function describe() {
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("input[data-ask]"));
  for (const field of fields) {
    field.value = String(ANSWERS[String(field.dataset.ask)]());
  }
}

/** @param {"Y" | "N"} outcome */
function send(outcome) {
  if (isSent) return;
  isSent = true;
  if (done) done.value = outcome;
  HTMLFormElement.prototype.submit.call(form);
}

/**
 * Whether the frame has come back to our own address; an address of others cannot be read.
 * @param {HTMLIFrameElement} frame
 * @param {string | undefined} until
 */
function hasComeBack(frame, until) {
  if (!until) return true;
  try {
    return Boolean(frame.contentWindow?.location.pathname.startsWith(until));
  } catch {
    return false;
  }
}

/** @param {HTMLFormElement} toIssuer */
function visitIssuer(toIssuer) {
  const frame = /** @type {HTMLIFrameElement} */ (document.querySelector("iframe.away"));
  frame.addEventListener("load", () => {
    if (hasComeBack(frame, toIssuer.dataset.until)) send("Y");
  });
  setTimeout(() => send("N"), FRAME_PATIENCE_MS);
  HTMLFormElement.prototype.submit.call(toIssuer);
}

/** @type {HTMLElement} */ (form.querySelector("[data-busy]")).hidden = false;
/** @type {HTMLElement} */ (form.querySelector("button")).hidden = true;
describe();
if (frameForm) visitIssuer(frameForm);
else send("N");
