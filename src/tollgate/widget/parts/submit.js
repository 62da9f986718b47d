// @ts-check
// The steps of one attempt: validate the fields, ask the page, send, follow the answer. A page has one attempt at a time,
// however often somebody clicks.

import { followAnswer } from "./answers.js";
import { clearCodes, endAttempt, hold, isCurrent, makeAttempt, makeInert } from "./attempt.js";
import { validateFrames } from "./cardFields.js";
import { fetchFinalState, followState } from "./checkoutState.js";
import { collectFields } from "./collecting.js";
import { fetchState } from "./configuration.js";
import { isShown, validateAll } from "./fields.js";
import { ANSWER_PATIENCE_MS, askFrame } from "./frames.js";
import { askHook, callHook, hookSelf, notifyError, readErrorMessage } from "./hooks.js";
import { setBusy, showMessage } from "./messages.js";
import { openMethodOf } from "./opening.js";
import { openPopup, wantsPopup } from "./popup.js";
import { checkoutAddress } from "./source.js";
import { page } from "./state.js";
import { sumUp, wasAllowed } from "./summary.js";
import { followUncertain } from "./unfinished.js";
import { finishSheet, obtainToken } from "./walletToken.js";
/** @import { Parameters } from "../types/frames.d.ts" */
/** @import { Answer, Attempt, Permission, Widget } from "../types/page.d.ts" */

/** @param {Widget} widget */
export async function pay(widget) {
  if (page.attempt || page.isUnloaded) {
    explainHeldPayment(widget);
    return;
  }
  const attempt = makeAttempt(widget);
  page.attempt = attempt;
  let isOver = true;
  try {
    openMethodOf(widget);
    isOver = await tryToPay(attempt);
  } catch (error) {
    if (isCurrent(attempt)) {
      // A method that could not be opened would keep its message hidden.
      const { open } = widget.place;
      showMessage(open ? open.widget : widget, widget.translator.translate("unexpectedError"));
    }
    notifyError("WidgetError", readErrorMessage(error), { brand: widget.readBrand(), event: "submit" });
  } finally {
    if (isOver && isCurrent(attempt)) {
      endAttempt(attempt);
    }
  }
}

/**
 * Tries to pay, and returns whether the form is the shopper's again.
 * @param {Attempt} attempt
 */
async function tryToPay(attempt) {
  if (page.isOutcomeUnknown) {
    hold(attempt);
    const now = await fetchFinalState(attempt);
    if (!isCurrent(attempt) || !now || now.state !== "open") {
      return followUncertain(attempt, now);
    }
    page.isOutcomeUnknown = false;
  }
  if ((await mayPay(attempt)) && isCurrent(attempt)) {
    announce(attempt);
    const answer = await send(attempt.widget);
    finishSheet(attempt, answer);
    return followAnswer(attempt, answer);
  }
  return true;
}

/**
 * Says that the payment is being processed. This is said when it is about to be sent, not while the page is asked.
 * @param {Attempt} attempt
 */
function announce(attempt) {
  const { popup, widget } = attempt;
  const text = widget.translator.translate("processing");
  attempt.isSent = true;
  makeInert(attempt);
  setBusy(widget, true, text);
  if (popup && !popup.closed) {
    popup.document.title = text;
    popup.document.body.textContent = text;
  }
}

/**
 * Says why nothing happens when the button of another form is pressed meanwhile.
 * @param {Widget} widget
 */
function explainHeldPayment(widget) {
  const { attempt } = page;
  if (attempt && attempt.isSent && attempt.widget !== widget && !page.isUnloaded) {
    showMessage(widget, widget.translator.translate(attempt.cancel ? "waitingForProvider" : "processing"));
    attempt.informed.push(widget);
  }
}

/**
 * Whether the payment may be sent. Nothing is awaited unless it must be: a window can be opened only within the shopper's click.
 * @param {Attempt} attempt
 * @returns {Permission}
 */
function mayPay(attempt) {
  const { widget } = attempt;
  showMessage(widget, "");
  if (widget.fields.some((field) => field.frame && isShown(field))) {
    return validateFrames(attempt).then(() => mayPayValidated(attempt));
  }
  return mayPayValidated(attempt);
}

/**
 * @param {Attempt} attempt
 * @returns {Permission}
 */
function mayPayValidated(attempt) {
  const { widget } = attempt;
  if (!isCurrent(attempt)) {
    return false;
  }
  if (!validateAll(widget.translator, widget.fields)) {
    return false;
  }
  const isAllowed = wasAllowed(attempt) || askHook(widget.hook, widget);
  if (isAllowed === false) {
    return false;
  }
  if (page.settings.useSummaryPage && !attempt.isConfirmed) {
    return sumUp(widget, isAllowed);
  }
  if (widget.requestToken) {
    return obtainToken(attempt, widget.requestToken, isAllowed);
  }
  hold(attempt);
  makeInert(attempt);
  if (wantsPopup(widget)) {
    attempt.popup = openPopup();
  }
  return isAllowed;
}

/**
 * @param {Widget} widget
 * @returns {Promise<Answer>}
 */
async function send(widget) {
  const frame = widget.submitter();
  const fields = collectFields(widget);
  const answer = frame ? askFrame(frame, { type: "submit", fields }, ANSWER_PATIENCE_MS) : post(fields);
  callHook("onAfterSubmit", hookSelf(widget));
  return answer;
}

/**
 * Posts what holds no card data: stored cards without a security code, bank accounts, other brands.
 * @param {Parameters} fields
 * @returns {Promise<Answer>}
 */
async function post(fields) {
  try {
    const reply = await fetch(checkoutAddress(page.configuration.kind), {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(fields),
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    return { type: "answer", status: reply.status, body: await reply.json() };
  } catch {
    return { type: "answer", status: 0, body: null };
  }
}

/** Resets a page that the back button has brought back as it was left: busy, and with a security code that was used. */
export async function resumeFromCache() {
  if (page.attempt) {
    endAttempt(page.attempt);
  }
  page.widgets.forEach(clearCodes);
  const now = await fetchState();
  for (const widget of now ? page.widgets : []) {
    if (!followState(widget, now)) {
      return;
    }
  }
}
