// @ts-check
// A summary before anything is paid: what was filled in is validated and told to the shop, the form stays as it is, and the
// shop's own button pays by wpwl.executePayment.

import { collectFields } from "./collecting.js";
import { callHook, hookSelf } from "./hooks.js";
import { page, wait } from "./state.js";
/** @import { Attempt, Permission, Widget } from "../types/page.d.ts" */
/** @import { StoredCard } from "../types/service.d.ts" */

/**
 * @param {Widget} widget
 * @param {Permission} isAllowed
 */
export async function sumUp(widget, isAllowed) {
  if (await isAllowed) {
    widget.isSummedUp = true;
    // Later, so that a page may pay at once.
    wait(0).then(() => callHook("onSaveTransactionData", hookSelf(widget), describeTransaction(widget)));
  }
  return false;
}

/**
 * Whether the page has let the shopper on to the summary; then it is not asked a second time.
 * @param {Attempt} attempt
 */
export function wasAllowed({ widget, isConfirmed }) {
  const isKnown = isConfirmed && Boolean(widget.isSummedUp);
  widget.isSummedUp = false;
  return isKnown;
}

/**
 * Describes what the page could read anyway. What is typed in frames of the service is not known here.
 * @param {Widget} widget
 */
function describeTransaction(widget) {
  const fields = collectFields(widget);
  /** @type {Partial<StoredCard>} */
  const stored = widget.chosen?.card || {};
  const { amount, currency } = page.configuration;
  const facts = {
    container: `wpwl-container-${widget.key}`,
    brand: widget.readBrand() || stored.brand,
    holder: fields["card.holder"] || fields["bankAccount.holder"] || stored.holder,
    expiryMonth: fields["card.expiryMonth"] || stored.expiryMonth,
    expiryYear: fields["card.expiryYear"] || stored.expiryYear,
    amount,
    currency,
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value));
}
