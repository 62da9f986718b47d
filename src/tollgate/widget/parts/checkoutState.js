// @ts-check
// The state of the checkout while and after a payment attempt, and what it means for a form.

import { isCurrent } from "./attempt.js";
import { fetchState } from "./configuration.js";
import { notifyError } from "./hooks.js";
import { leadToResult } from "./leaving.js";
import { showMessage } from "./messages.js";
import { showPaid } from "./paid.js";
import { wait } from "./state.js";
/** @import { Attempt, Widget } from "../types/page.d.ts" */
/** @import { CheckoutNow } from "../types/service.d.ts" */

export const BUSY_LOOKS_MAX = 8;
export const BUSY_LOOK_MS = 1500;

/**
 * Fetches the state of the checkout when nothing is under way any more, as far as one may wait for that.
 * @param {Attempt} attempt
 */
export async function fetchFinalState(attempt) {
  let now = await fetchState();
  for (let look = 1; look < BUSY_LOOKS_MAX && now && now.state === "busy"; look += 1) {
    await wait(BUSY_LOOK_MS);
    if (attempt.isLeaving || !isCurrent(attempt)) {
      break;
    }
    now = await fetchState();
  }
  return now;
}

/**
 * Follows the state of the checkout, and returns whether the form may be used.
 * @param {Widget} widget
 * @param {CheckoutNow | null} now
 * @param {string} [description]
 */
export function followState(widget, now, description) {
  if (now && now.state === "paid") {
    leadToResult(now.returnUrl, widget.resultTarget, showPaid);
    return false;
  }
  if (now && now.state === "gone") {
    showMessage(widget, widget.translator.translate("sessionGone"));
    notifyError("InvalidCheckoutIdError", description || "the checkout has ended");
  } else if (now && now.attemptsLeft === 0) {
    showMessage(widget, widget.translator.translate("attemptsUsedUp"));
  }
  return true;
}
