// @ts-check
// The form of a wallet: one button whose sheet gives a token that pays. On a test host the sheet is simulated in our dialog.

import { visitInDialog } from "./dialog.js";
import { makeWidget } from "./forms.js";
import { source } from "./source.js";
import { page } from "./state.js";
import { WALLETS } from "./wallets.js";
/** @import { Parameters } from "../types/frames.d.ts" */
/** @import { Attempt, Place } from "../types/page.d.ts" */
/** @import { Wallet } from "../types/service.d.ts" */

/**
 * @param {Place} place
 * @param {string} code
 */
export function makeWallet(place, code) {
  const { label, ...brand } = page.configuration.brands[code];
  const wallet = /** @type {Wallet} */ (brand.wallet);
  const word = `virtualAccount-${code}`;
  const widget = makeWidget("wallet", { container: word, form: word, id: "virtualAccount" }, place, code);
  widget.renderOwnLabel = () => widget.translator.translate("payWith", { brand: label });
  widget.requestToken = (attempt) =>
    wallet.sheet ? requestSheetToken(attempt, wallet.sheet, label) : WALLETS[wallet.name].requestToken(attempt, wallet);
  /** @returns {Parameters} */
  widget.addFields = () => (widget.token ? { [`${wallet.name}.paymentToken`]: widget.token } : {});
  widget.looks = wallet.name;
  widget.ownButton = wallet.sheet ? null : WALLETS[wallet.name].makeButton(widget);
  return widget;
}

/**
 * @param {Attempt} attempt
 * @param {string} sheet
 * @param {string} title
 */
async function requestSheetToken(attempt, sheet, title) {
  const address = `${source.origin}${sheet}?${new URLSearchParams({ checkoutId: source.checkoutId, origin: window.origin })}`;
  let token = "";
  const receive = (/** @type {MessageEvent} */ { origin, data }) => {
    if (origin === source.origin && data && data.tollgate === "wallet" && data.checkoutId === source.checkoutId && attempt.dialog) {
      token = String(data.token || "");
      attempt.dialog.element.close();
    }
  };
  window.addEventListener("message", receive);
  try {
    await visitInDialog(attempt, address, title);
  } finally {
    window.removeEventListener("message", receive);
  }
  return token;
}
