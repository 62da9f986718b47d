// @ts-check
// A frame in a dialog over the page: the shopper's bank asks who pays, or a provider is shown within the page.
// The browser's own dialog keeps the focus inside and gives it back afterwards.

import { make, makeId, setStyles } from "./dom.js";
import { callHook } from "./hooks.js";
import { page } from "./state.js";
/** @import { Attempt, Dialog, Widget } from "../types/page.d.ts" */

/**
 * @param {Attempt} attempt
 * @param {string} url
 * @param {string} title
 * @param {string} [loadHook]
 */
export async function visitInDialog(attempt, url, title, loadHook) {
  const dialog = openDialog(attempt.widget, url, title, loadHook);
  attempt.dialog = dialog;
  await dialog.closed;
  removeDialog(attempt);
}

/**
 * @param {Widget} widget
 * @param {string} url
 * @param {string} title
 * @param {string} [loadHook]
 * @returns {Dialog}
 */
function openDialog(widget, url, title, loadHook) {
  const { translator } = widget;
  const id = makeId("dialog");
  const close = make("button", "wpwl-dialog-close", { type: "button", "aria-label": translator.translate("close") }, "×");
  const heading = make("h2", "wpwl-dialog-title", { id }, title);
  const frame = make("iframe", "wpwl-target wpwl-dialog-frame", {
    name: "cnpIframe",
    title,
    src: url,
    // The bank behind the service's page is of yet another origin, and may ask for the shopper's passkey.
    allow: "payment *; publickey-credentials-get *",
  });
  setStyles(frame, { width: page.settings.challengeWidth, height: page.settings.challengeHeight });
  const element = make(
    "dialog",
    "wpwl-dialog",
    { "aria-labelledby": id, lang: translator.tag, dir: translator.dir },
    make("div", "wpwl-dialog-head", {}, heading, close),
    frame,
  );
  frame.addEventListener("load", () => loadHook && callHook(loadHook, frame));
  document.body.append(element);
  let finish = () => {};
  const closed = new Promise((resolve) => {
    finish = () => resolve(undefined);
  });
  element.addEventListener("close", finish);
  close.addEventListener("click", () => element.close());
  showModally(element);
  return { element, closed, finish };
}

/** @param {HTMLDialogElement} dialog */
function showModally(dialog) {
  if (typeof dialog.showModal === "function") {
    dialog.showModal();
    return;
  }
  // Older browsers have no dialogs of their own.
  dialog.setAttribute("open", "");
  dialog.setAttribute("role", "dialog");
  dialog.close = () => {
    dialog.dispatchEvent(new Event("close"));
  };
}

/** @param {Attempt} attempt */
export function removeDialog(attempt) {
  if (attempt.dialog) {
    attempt.dialog.element.remove();
    attempt.dialog.finish();
    attempt.dialog = null;
  }
}
