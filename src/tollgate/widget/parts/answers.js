// @ts-check
// What an answer of the service means for the form: the shopper goes on elsewhere, mends a field, or reads why it was refused.

import { readAddress } from "./addresses.js";
import { clearCodes, closePopup, endInert, isCurrent } from "./attempt.js";
import { askForBilling } from "./billing.js";
import { fetchFinalState, followState } from "./checkoutState.js";
import { fetchState } from "./configuration.js";
import { visitInDialog } from "./dialog.js";
import { usualError } from "./faults.js";
import { isShown, showFault } from "./fields.js";
import { callHook, hookSelf, notifyError } from "./hooks.js";
import { goToResult, leave } from "./leaving.js";
import { showMessage } from "./messages.js";
import { visitInPopup, wantsPopup } from "./popup.js";
import { page } from "./state.js";
import { followAbandoned, followSilence, followUncertain } from "./unfinished.js";
/** @import { Answer, Attempt, Field, Widget } from "../types/page.d.ts" */
/** @import { ServiceResult } from "../types/service.d.ts" */

const THROTTLED = "800.120.100";

/** @type {Record<string, string>} */
const CODE_TEXTS = {
  [THROTTLED]: "tooManyAttempts",
  "800.700.100": "paidElsewhere",
};

// Somebody else may have been faster: the checkout is gone or paid, or another attempt is under way.
const OVERTAKEN_CODES = ["200.300.404", "800.700.100"];

/**
 * Follows an answer. Returns true where the form is the shopper's again, false where the page is about to go away. Of an
 * attempt that was ended meanwhile only its result counts, because then there is nothing left to do here.
 * @param {Attempt} attempt
 * @param {Answer} answer
 * @returns {Promise<boolean>}
 */
export async function followAnswer(attempt, answer) {
  const { widget } = attempt;
  if (!isCurrent(attempt) && !hasResult(answer)) {
    return true;
  }
  if (answer.type === "validity") {
    endInert(attempt);
    showFrameFaults(widget, answer.errors);
    return true;
  }
  if (!answer.body) {
    return followSilence(attempt);
  }
  const { next, result } = answer.body;
  attempt.id = String(answer.body.attempt);
  if (next && NEXT_STEPS[next.kind] && readAddress(next.url)) {
    return NEXT_STEPS[next.kind](attempt, next.url, next.isPaid === true);
  }
  return followRefusal(attempt, result || {});
}

/** @param {Answer} answer */
function hasResult({ body }) {
  return Boolean(body && body.next && body.next.kind === "result");
}

/** @type {Record<string, (attempt: Attempt, url: string, isPaid: boolean) => Promise<boolean>>} */
const NEXT_STEPS = {
  async result(attempt, url, isPaid) {
    closePopup(attempt);
    return !(await goToResult(attempt, url, isPaid));
  },
  async challenge(attempt, url) {
    closePopup(attempt);
    if (page.settings.paymentTarget) {
      clearCodes(attempt.widget);
      return !leave(url, page.settings.paymentTarget);
    }
    await visitInDialog(attempt, url, attempt.widget.translator.translate("securityCheck"), "onLoadThreeDIframe");
    return attempt.isLeaving ? false : followAbandoned(attempt);
  },
  async provider(attempt, url) {
    const { widget } = attempt;
    if (widget.opensDialog) {
      await visitInDialog(attempt, url, widget.renderOwnLabel?.() || "");
    } else if (attempt.popup && !attempt.popup.closed) {
      await visitInPopup(attempt, attempt.popup, url);
    } else {
      if (wantsPopup(widget)) {
        showMessage(widget, widget.translator.translate("popupBlocked"));
      }
      return !leave(url, page.settings.paymentTarget || "_top");
    }
    if (attempt.isLeaving) {
      return false;
    }
    if (!isCurrent(attempt)) {
      return true;
    }
    if (!attempt.isDecided) {
      callHook("onLightboxCancel", hookSelf(widget));
    }
    return followAbandoned(attempt);
  },
};

/**
 * @param {Attempt} attempt
 * @param {ServiceResult} result
 */
async function followRefusal(attempt, result) {
  const { widget } = attempt;
  const isOvertaken = OVERTAKEN_CODES.includes(result.code || "") && !listFaults(result).length;
  if (!isOvertaken) {
    const now = result.code === THROTTLED ? await fetchState() : null;
    endInert(attempt);
    showServiceFaults(widget, result);
    return followState(widget, now);
  }
  closePopup(attempt);
  const text = widget.translator.translate("paidElsewhere");
  showMessage(widget, result.code === "800.700.100" ? text : "");
  const now = await fetchFinalState(attempt);
  if (!isCurrent(attempt)) {
    return false;
  }
  if (!now) {
    page.isOutcomeUnknown = true;
    return followUncertain(attempt, now);
  }
  if (now.state === "paid" || now.state === "gone") {
    return followState(widget, now, result.description);
  }
  endInert(attempt);
  showServiceFaults(widget, result);
  if (now.state === "busy") {
    showMessage(widget, text);
  }
  return true;
}

/**
 * @param {Widget} widget
 * @param {Record<string, string>} errors
 */
function showFrameFaults(widget, errors) {
  const findError = (/** @type {Field} */ field) => (field.frame ? errors[field.frame.field] : "");
  const faulty = widget.fields.filter(findError);
  faulty.forEach((field) => showFault(widget.translator, field, findError(field)));
  if (faulty.length) {
    faulty[0].focus();
  } else {
    showMessage(widget, widget.translator.translate("unexpectedError"));
  }
}

/** @param {ServiceResult} result */
function listFaults(result) {
  return result.parameterErrors || [];
}

/**
 * Shows faults beside their fields, and as a message where they belong to no field.
 * @param {Widget} widget
 * @param {ServiceResult} result
 */
function showServiceFaults(widget, result) {
  const faults = listFaults(result);
  const names = faults.map((fault) => fault.name);
  const isCard = widget.kind === "card" || widget.kind === "registration";
  // A fault with a value is about something that the page itself sent, which no shopper can mend.
  const missing = faults.filter((fault) => fault.value === null).map((fault) => fault.name);
  /** @type {Field[]} */
  const asked = isCard ? askForBilling(widget, missing) : [];
  const faulty = widget.fields.filter((field) => isShown(field) && field.names.some((name) => names.includes(name)));
  // What was not asked for until now is no fault of the shopper's yet.
  faulty.filter((field) => !asked.includes(field)).forEach((field) => showFault(widget.translator, field, usualError(field)));
  if (faulty.length) {
    faulty[0].focus();
    return;
  }
  notifyError("WidgetError", describeRefusal(result), { brand: widget.readBrand(), event: "submit", result });
  showMessage(widget, widget.translator.translate(CODE_TEXTS[result.code || ""] || "unexpectedError"));
}

/**
 * Describes a refusal to the page's author: which parameters are at fault, and why, but never what was typed.
 * @param {ServiceResult} result
 */
function describeRefusal(result) {
  const faults = listFaults(result).map(({ name, message }) => `${name} ${message || ""}`.trim());
  return [result.description || "the service refused the payment", ...faults].join("; ");
}
