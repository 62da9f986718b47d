// @ts-check
// The window of a provider. It is opened within the shopper's click, because browsers block any later one, and gets its
// address when the service has answered.

import { closePopup, isCurrent } from "./attempt.js";
import { fetchState } from "./configuration.js";
import { make } from "./dom.js";
import { setBusy } from "./messages.js";
import { page, wait } from "./state.js";
/** @import { Attempt, Widget } from "../types/page.d.ts" */

const POPUP_LOOK_MS = 300;
const CLOSING_MS = 400;
const CUT_MS = 35;
const CUT_LOOK_MS = 3;

// A window that was taken away is followed by asking the service, at first often, then less and less.
const LOST_LOOK_MS = 1000;
const LOST_LOOK_MAX_MS = 10000;
const LOST_PATIENCE_MS = 30 * 60 * 1000;

/**
 * Whether the provider gets a window. Where it would be taken away at once, the provider gets the whole page.
 * @param {Widget} widget
 */
export function wantsPopup(widget) {
  return Boolean(widget.opensPopup) && !window.crossOriginIsolated && !page.losesWindows;
}

export function openPopup() {
  const [width, height] = [Math.min(560, screen.availWidth), Math.min(720, screen.availHeight)];
  const left = Math.round(window.screenX + (window.outerWidth - width) / 2);
  const top = Math.round(window.screenY + (window.outerHeight - height) / 2);
  return window.open("", "", `popup=yes,width=${width},height=${height},left=${left},top=${top}`);
}

/**
 * @param {Attempt} attempt
 * @param {Window} popup
 * @param {string} url
 */
export async function visitInPopup(attempt, popup, url) {
  popup.addEventListener("pagehide", () => noteCut(attempt, popup));
  popup.location.replace(url);
  showWaiting(attempt);
  await untilClosed(attempt);
  // The last message of a window that closes itself may still be on its way.
  await wait(CLOSING_MS);
  if (isLost(attempt)) {
    await untilDecided(attempt);
    page.losesWindows = attempt.isCut || !document.hasFocus();
    // It may still be open behind this page, where the shopper may pay; our own button would have closed it.
    attempt.isDoubtful = Boolean(attempt.popup);
  }
}

/**
 * Waits until the shopper, the provider's last page or our button has closed the window.
 * @param {Attempt} attempt
 */
async function untilClosed(attempt) {
  while (attempt.popup && !attempt.popup.closed && isCurrent(attempt)) {
    await wait(POPUP_LOOK_MS);
  }
}

/**
 * Notes that the shop's policy about openers (COOP) has cut the window off, which is then said to be closed although it is
 * open. This happens as soon as the window arrives anywhere, quicker than anybody could close it.
 * @param {Attempt} attempt
 * @param {Window} popup
 */
async function noteCut(attempt, popup) {
  const leftAt = performance.now();
  while (!popup.closed && performance.now() - leftAt < CUT_MS) {
    await wait(CUT_LOOK_MS);
  }
  attempt.isCut = popup.closed && isSomewhere(popup) && performance.now() - leftAt < CUT_MS;
}

/** @param {Window} popup */
function isSomewhere(popup) {
  try {
    return popup.location.href !== "about:blank";
  } catch {
    // It shows another origin by now.
    return true;
  }
}

/**
 * Whether the window was cut off, which a provider's policy may do later. A shopper who has closed it is back at this page.
 * @param {Attempt} attempt
 */
function isLost(attempt) {
  const { popup, isCut, isLeaving } = attempt;
  return popup !== null && isCurrent(attempt) && !isLeaving && (isCut || (isSomewhere(popup) && !document.hasFocus()));
}

/**
 * Waits until the service knows how the payment ended, or the shopper is back: by our button, or because the window was
 * closed after all and this page has the focus again. A refusal shows when nothing is under way any more; one that comes and
 * goes unseen is told in the window itself.
 * @param {Attempt} attempt
 */
async function untilDecided(attempt) {
  const endsAt = Date.now() + LOST_PATIENCE_MS;
  const isBack = () => !attempt.isCut && document.hasFocus();
  let [dueAt, pause, wasBusy] = [0, LOST_LOOK_MS, false];
  while (attempt.popup && isCurrent(attempt) && !isBack() && Date.now() < endsAt) {
    if (Date.now() >= dueAt) {
      const { state } = (await fetchState()) || { state: "unknown" };
      attempt.isDecided = state === "paid" || state === "gone" || (wasBusy && state === "open");
      if (attempt.isDecided) {
        return;
      }
      wasBusy = state === "busy";
      dueAt = Date.now() + pause;
      pause = Math.min(pause * 1.2, LOST_LOOK_MAX_MS);
    }
    await wait(POPUP_LOOK_MS);
  }
}

/**
 * Says that the shopper is at the provider, and offers a way back.
 * @param {Attempt} attempt
 */
function showWaiting(attempt) {
  const { widget } = attempt;
  setBusy(widget, true, widget.translator.translate("waitingForProvider"));
  const text = widget.translator.translate("useAnotherMethod");
  const button = make("button", "wpwl-button wpwl-button-cancel", { type: "button" }, text);
  button.addEventListener("click", () => closePopup(attempt));
  widget.status.after(button);
  attempt.cancel = button;
}
