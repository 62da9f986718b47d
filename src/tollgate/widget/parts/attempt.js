// @ts-check
// One attempt to pay: what it has opened, which forms it holds back, and how it ends.

import { removeDialog } from "./dialog.js";
import { sendToFrame } from "./frames.js";
import { setBusy, showMessage } from "./messages.js";
import { page } from "./state.js";
/** @import { Attempt, Widget } from "../types/page.d.ts" */

/**
 * @param {Widget} widget
 * @returns {Attempt}
 */
export function makeAttempt(widget) {
  return {
    widget,
    id: "",
    popup: null,
    dialog: null,
    closeWallet: null,
    finishWallet: null,
    cancel: null,
    focused: null,
    inertNodes: [],
    informed: [],
    isConfirmed: Boolean(widget.isConfirmed),
    isSent: false,
    isLeaving: false,
    isCut: false,
    isDecided: false,
    isDoubtful: false,
  };
}

/** @param {Attempt} attempt */
export function closePopup(attempt) {
  if (attempt.popup) {
    attempt.popup.close();
    attempt.popup = null;
  }
}

/**
 * Makes the fields and the other forms inert while a payment is made: nothing can be changed, and nothing else be pressed.
 * @param {Attempt} attempt
 */
export function makeInert(attempt) {
  const { widget } = attempt;
  if (attempt.inertNodes.length) {
    return;
  }
  const children = /** @type {HTMLElement[]} */ ([...widget.form.children]);
  const own = children.filter((node) => !node.contains(widget.button));
  const others = listOthers(attempt).map(({ block, container }) => block || container);
  attempt.inertNodes = [...own, ...others].filter((node) => !node.inert);
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  // What is inert loses the focus, so a shopper who pressed Enter in a field is kept within the form.
  if (attempt.inertNodes.some((node) => node.contains(focused))) {
    attempt.focused = focused;
    widget.button.focus();
  }
  attempt.inertNodes.forEach((node) => {
    node.inert = true;
  });
}

/**
 * Ends that: before anything in the form gets the focus, and at every end. A focus that is elsewhere by now stays there.
 * @param {Attempt} attempt
 */
export function endInert(attempt) {
  const { focused, inertNodes, widget } = attempt;
  inertNodes.forEach((node) => {
    node.inert = false;
  });
  attempt.inertNodes = [];
  attempt.focused = null;
  if (focused && document.activeElement === widget.button) {
    focused.focus();
  }
}

/**
 * Makes the form that pays busy, and keeps the others of the page from paying meanwhile.
 * @param {Attempt} attempt
 */
export function hold(attempt) {
  setBusy(attempt.widget, true);
  listOthers(attempt).forEach(({ button }) => button.setAttribute("aria-disabled", "true"));
}

/** @param {Attempt} attempt */
function listOthers(attempt) {
  return page.widgets.filter((widget) => widget !== attempt.widget);
}

/**
 * Whether the attempt is still the page's own. One that was ended meanwhile, by unloading or by coming back to a cached page,
 * may not touch the form any more: the next one may be under way in it.
 * @param {Attempt} attempt
 */
export function isCurrent(attempt) {
  return page.attempt === attempt;
}

/** @param {Attempt} attempt */
export function endAttempt(attempt) {
  closePopup(attempt);
  removeDialog(attempt);
  attempt.closeWallet?.();
  attempt.cancel?.remove();
  setBusy(attempt.widget, false);
  endInert(attempt);
  listOthers(attempt).forEach(({ button }) => button.setAttribute("aria-disabled", "false"));
  attempt.informed.forEach((widget) => showMessage(widget, ""));
  if (isCurrent(attempt)) {
    page.attempt = null;
  }
}

/** @param {Widget} widget */
export function clearCodes(widget) {
  widget.frames.filter((frame) => frame.field === "cvv").forEach((frame) => sendToFrame(frame, { type: "clear" }));
}
