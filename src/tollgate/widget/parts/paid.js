// @ts-check
// The note that stands in the place of the forms when the checkout is paid.

import { endAttempt } from "./attempt.js";
import { make } from "./dom.js";
import { closeFrame } from "./frames.js";
import { showAt } from "./places.js";
import { page } from "./state.js";
/** @import { Translator } from "../types/page.d.ts" */

/**
 * @param {Translator} translator
 * @param {HTMLElement} message
 */
export function makeNote(translator, message) {
  return make("div", "wpwl-container wpwl-container-message", { lang: translator.tag, dir: translator.dir }, message);
}

/** @param {Translator} translator */
export function makePaidNote(translator) {
  return makeNote(translator, make("div", "wpwl-status wpwl-status-paid", { role: "status" }, translator.translate("alreadyPaid")));
}

/** Shows the note in the place of every form, so that nobody pays again. */
export function showPaid() {
  const { widgets, attempt } = page;
  page.isPaid = true;
  if (attempt) {
    endAttempt(attempt);
  }
  widgets.flatMap((widget) => widget.frames).forEach(closeFrame);
  page.widgets = [];
  for (const place of new Set(widgets.map((widget) => widget.place))) {
    showAt(place.element, [makePaidNote(place.translator)]);
  }
}
