// @ts-check
// Attempts without a known outcome: abandoned by the shopper, or never answered by the service.

import { closePopup, isCurrent } from "./attempt.js";
import { BUSY_LOOKS_MAX, BUSY_LOOK_MS, fetchFinalState, followState } from "./checkoutState.js";
import { getJson, learnAmount, makeRefusal, readTrouble } from "./configuration.js";
import { showTrouble } from "./connection.js";
import { notifyError } from "./hooks.js";
import { showMessage } from "./messages.js";
import { checkoutAddress } from "./source.js";
import { page, wait } from "./state.js";
/** @import { Attempt, ReportedError, Widget } from "../types/page.d.ts" */
/** @import { CheckoutNow } from "../types/service.d.ts" */

/**
 * Follows an attempt whose bank or provider the shopper has closed. The service gives the attempt up first, so that what is
 * said then is true: nothing was charged, and nothing will be.
 * @param {Attempt} attempt
 */
export async function followAbandoned(attempt) {
  const isKnown = attempt.isDecided || attempt.isDoubtful;
  const now = isKnown ? await fetchFinalState(attempt) : await abandon(attempt);
  const { widget } = attempt;
  if (attempt.isLeaving || !isCurrent(attempt)) {
    return false;
  }
  if (now && (isKnown || ["paid", "gone"].includes(now.state))) {
    return followState(widget, now);
  }
  if (now && now.state === "open") {
    showNotCharged(widget, now);
    return true;
  }
  page.isOutcomeUnknown = true;
  return followUncertain(attempt, now);
}

/**
 * Gives an attempt up. One that is being completed this moment cannot be given up, so it is waited for.
 * @param {Attempt} attempt
 */
async function abandon(attempt) {
  let now = null;
  for (let look = 0; look < BUSY_LOOKS_MAX && !attempt.isLeaving && isCurrent(attempt); look += 1) {
    now = await askToAbandon(attempt);
    if (!now || now.state !== "busy") {
      return now;
    }
    await wait(BUSY_LOOK_MS);
  }
  return now;
}

/**
 * @param {Attempt} attempt
 * @returns {Promise<CheckoutNow | null>}
 */
async function askToAbandon(attempt) {
  try {
    const { status, body } = await getJson(checkoutAddress("abandoned"), { attempt: attempt.id });
    const result = body.result || {};
    if (result.code === "800.700.100") {
      return { state: "busy" };
    }
    if (status !== 200) {
      return readTrouble(makeRefusal(status, result));
    }
    learnAmount(body);
    return body;
  } catch (error) {
    return readTrouble(/** @type {ReportedError} */ (error));
  }
}

/**
 * @param {Widget} widget
 * @param {CheckoutNow} now
 */
export function showNotCharged(widget, { attemptsLeft }) {
  const keys = ["notCharged", ...(attemptsLeft === 0 ? ["attemptsUsedUp"] : [])];
  showMessage(widget, keys.map((key) => widget.translator.translate(key)).join(" "), attemptsLeft !== 0);
  widget.message.focus();
}

/**
 * Follows an attempt that nobody answered. The payment may have been made all the same, so the service is asked before
 * anybody tries again.
 * @param {Attempt} attempt
 */
export async function followSilence(attempt) {
  const { widget } = attempt;
  page.isOutcomeUnknown = true;
  notifyError(widget.submitter() ? "PciIframeSubmitError" : "WidgetError", "the service did not answer", {
    brand: widget.readBrand(),
    event: "submit",
  });
  closePopup(attempt);
  return followUncertain(attempt, await fetchFinalState(attempt));
}

/**
 * Follows an attempt whose outcome is still unknown: the service is asked at the next press of the button, or when the
 * connection is back.
 * @param {Attempt} attempt
 * @param {CheckoutNow | null} now
 */
export function followUncertain(attempt, now) {
  const { widget } = attempt;
  if (!isCurrent(attempt)) {
    return false;
  }
  if (now && ["paid", "gone"].includes(now.state)) {
    return followState(widget, now);
  }
  if (now) {
    showMessage(widget, widget.translator.translate(now.state === "busy" ? "paidElsewhere" : "unexpectedError"));
  } else {
    showTrouble(widget);
  }
  return true;
}
