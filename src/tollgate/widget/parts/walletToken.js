// @ts-check
// Requests the token of a wallet before anything is sent, and tells the wallet's sheet how the payment ended.

import { hold, isCurrent } from "./attempt.js";
import { fetchState } from "./configuration.js";
import { followUncertain, showNotCharged } from "./unfinished.js";
/** @import { Answer, Attempt, Widget } from "../types/page.d.ts" */

/**
 * Requests a token, and returns whether there is one. The sheet is opened within the shopper's click wherever the page does
 * not make it wait.
 * @param {Attempt} attempt
 * @param {NonNullable<Widget["requestToken"]>} requestToken
 * @param {true | Promise<boolean>} isAllowed
 */
export function obtainToken(attempt, requestToken, isAllowed) {
  const { widget } = attempt;
  const ask = async () => {
    widget.token = await requestToken(attempt);
    if (isCurrent(attempt)) {
      await (widget.token ? hold(attempt) : followCancelled(attempt));
    }
    return Boolean(widget.token);
  };
  return isAllowed === true ? ask() : isAllowed.then((isSo) => isSo && isCurrent(attempt) && ask());
}

/**
 * Follows a cancelled sheet. Nothing was sent, but the checkout may have ended or be paid in another window.
 * @param {Attempt} attempt
 */
async function followCancelled(attempt) {
  const now = await fetchState();
  if (isCurrent(attempt) && now && now.state === "open") {
    showNotCharged(attempt.widget, now);
  } else {
    followUncertain(attempt, now);
  }
}

/**
 * Tells a sheet that stays open until the service has answered how the payment ended.
 * @param {Attempt} attempt
 * @param {Answer} answer
 */
export function finishSheet({ finishWallet }, { body }) {
  if (finishWallet) {
    finishWallet(/^000\./.test(body?.result?.code || ""));
  }
}
