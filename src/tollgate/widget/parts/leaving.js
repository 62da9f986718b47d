// @ts-check
// Brings the shopper to the result page, once the service says where that is: in an answer, or in a message of one of its
// pages in a frame or a window.

import { isRecord } from "../input/records.js";
import { isOfWeb, navigate, readAddress } from "./addresses.js";
import { clearCodes, closePopup, endAttempt, isCurrent } from "./attempt.js";
import { fetchState } from "./configuration.js";
import { showPaid } from "./paid.js";
import { source } from "./source.js";
import { page } from "./state.js";
import { showTick } from "./tick.js";
/** @import { Attempt } from "../types/page.d.ts" */

const APP_PATIENCE_MS = 5000;

/**
 * Opens an address, and returns where: in this page ("here"), in another window while this page stays ("elsewhere"), or not
 * at all (""), where a page may not lead to it. With `isForGood` the back button does not lead to this page again.
 * @param {string} url
 * @param {string} target
 * @param {boolean} [isForGood]
 */
export function leave(url, target, isForGood = false) {
  const address = readAddress(url);
  if (!address) {
    return "";
  }
  const opened = target && !target.startsWith("_") ? window.open(address.href, target) : null;
  if (opened) {
    return opened === window ? "here" : "elsewhere";
  }
  navigate(address.href, target, isForGood);
  if (!isOfWeb(address)) {
    const { attempt } = page;
    setTimeout(() => attempt && isCurrent(attempt) && stayBehind(attempt), APP_PATIENCE_MS);
  }
  return "here";
}

/**
 * Ends the attempt whose result is shown elsewhere. What is paid is not offered here again; anything else may be tried again.
 * @param {Attempt} attempt
 */
async function stayBehind(attempt) {
  const now = await fetchState();
  if (!isCurrent(attempt)) {
    return;
  }
  if (now && now.state === "paid") {
    showPaid();
  } else {
    endAttempt(attempt);
  }
}

/**
 * Leads a shopper who has paid to the result, or calls `stay` where this page stays.
 * @param {string | null | undefined} returnUrl
 * @param {string} target
 * @param {() => void} stay
 */
export function leadToResult(returnUrl, target, stay) {
  const address = readAddress(returnUrl);
  if (!address || leave(address.href, target, true) !== "here" || !isOfWeb(address)) {
    stay();
  }
}

/** @param {MessageEvent} event */
export function receiveReturn(event) {
  const { data } = event;
  if (event.origin !== source.origin || !isRecord(data)) {
    return;
  }
  if (data.tollgate !== "returned" || data.checkoutId !== source.checkoutId || typeof data.url !== "string") {
    return;
  }
  const { attempt } = page;
  if (!readAddress(data.url)) {
    return;
  }
  // A page of the service that is not heard goes to the result itself, and then the shopper would be led there twice.
  const sender = /** @type {Window | null} */ (event.source);
  sender?.postMessage({ tollgate: "heard", checkoutId: source.checkoutId }, source.origin);
  if (!attempt) {
    leave(data.url, "_top");
    return;
  }
  if (attempt.isLeaving) {
    return;
  }
  clearCodes(attempt.widget);
  closePopup(attempt);
  goToResult(attempt, data.url, data.isPaid === true);
}

/**
 * Goes to the result, and returns where it is shown, as `leave` does. An open dialog would cover the tick, so it is closed.
 * @param {Attempt} attempt
 * @param {string} url
 * @param {boolean} isPaid
 */
export async function goToResult(attempt, url, isPaid) {
  const { widget } = attempt;
  attempt.isLeaving = true;
  if (isPaid) {
    attempt.dialog?.element.close();
    attempt.cancel?.remove();
    await showTick(widget, url);
  }
  const left = leave(url, widget.resultTarget);
  if (left === "elsewhere") {
    await stayBehind(attempt);
  }
  return left;
}
