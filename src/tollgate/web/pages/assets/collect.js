// Fills in what the browser knows of itself, waits for the issuer's hidden frame, and sends the form on, once.
"use strict";

const FRAME_PATIENCE_MS = 10000;
const LANGUAGE_LENGTH_MAX = 8; // Longer ones are not understood there, but their first word is.
const COLOR_DEPTHS = [48, 32, 24, 16, 15, 8, 4, 1]; // The only answers that the messages of the schemes know.

const ANSWERS = {
  language: () => shorten(navigator.language),
  screen_height: () => screen.height,
  screen_width: () => screen.width,
  color_depth: () => COLOR_DEPTHS.find((depth) => depth <= screen.colorDepth),
  timezone: () => new Date().getTimezoneOffset(),
  java_enabled: () => typeof navigator.javaEnabled === "function" && navigator.javaEnabled(),
  javascript_enabled: () => true,
};

const form = document.querySelector("form[data-collect]");
const frameForm = document.querySelector("form[data-frame]");
const done = form.querySelector("input[data-done]");
let isSent = false;

function shorten(language) {
  return language.length > LANGUAGE_LENGTH_MAX ? language.split("-")[0] : language;
}

function describe() {
  for (const field of form.querySelectorAll("input[data-ask]")) {
    field.value = String(ANSWERS[field.dataset.ask]());
  }
}

function send(outcome) {
  if (isSent) return;
  isSent = true;
  if (done) done.value = outcome;
  HTMLFormElement.prototype.submit.call(form);
}

/** Whether the frame has come back to the address of ours; an address of others cannot be read. */
function hasComeBack(frame, until) {
  if (!until) return true;
  try {
    return frame.contentWindow.location.pathname.startsWith(until);
  } catch {
    return false;
  }
}

function visitIssuer() {
  const frame = document.querySelector("iframe.away");
  frame.addEventListener("load", () => {
    if (hasComeBack(frame, frameForm.dataset.until)) send("Y");
  });
  setTimeout(() => send("N"), FRAME_PATIENCE_MS);
  HTMLFormElement.prototype.submit.call(frameForm);
}

form.querySelector("[data-busy]").hidden = false;
form.querySelector("button").hidden = true;
describe();
if (frameForm) visitIssuer();
else send("N");
