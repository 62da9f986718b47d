// @ts-check
// Apple Pay in a live shop: Apple's own script shows the sheet and gives the token.

import { make } from "./dom.js";
import { startPaying } from "./payButton.js";
import { readObject } from "./reading.js";
import { page } from "./state.js";
import { NOT_HERE, listNetworks, readWalletOptions } from "./walletOptions.js";
/** @import { Attempt, WalletRow } from "../types/page.d.ts" */
/** @import { Wallet } from "../types/service.d.ts" */

/** @param {Wallet} wallet */
function makeAppleRequest(wallet) {
  const options = readWalletOptions("applePay");
  const { amount, currency } = page.configuration;
  const total = readObject(options.total) || readObject(page.options.total) || {};
  return {
    countryCode: options.countryCode,
    currencyCode: currency,
    merchantCapabilities: options.merchantCapabilities || ["supports3DS"],
    supportedNetworks: options.supportedNetworks || listNetworks(page.configuration, 0),
    total: { label: total.label || options.displayName || wallet.merchantName, amount },
  };
}

/**
 * @param {Attempt} attempt
 * @param {Wallet} wallet
 * @returns {Promise<string>}
 */
function requestAppleToken(attempt, wallet) {
  const { onValidateMerchant } = readWalletOptions("applePay");
  const session = new ApplePaySession(3, makeAppleRequest(wallet));
  let isOpen = true;
  const end = (/** @type {() => void} */ act) => {
    if (isOpen) {
      isOpen = false;
      try {
        act();
      } catch {
        // Apple may have ended the session without telling; it throws then. The sheet is gone, and the payment goes on.
      }
    }
  };
  const finish = (/** @type {boolean} */ isPaid) =>
    end(() => session.completePayment({ status: isPaid ? ApplePaySession.STATUS_SUCCESS : ApplePaySession.STATUS_FAILURE }));
  return new Promise((resolve, reject) => {
    session.onvalidatemerchant = async ({ validationURL }) => {
      try {
        const validate = /** @type {(url: string) => unknown} */ (onValidateMerchant);
        const merchant = await validate(validationURL);
        if (isOpen) {
          session.completeMerchantValidation(merchant);
        }
      } catch (fault) {
        end(() => session.abort());
        reject(fault);
      }
    };
    session.onpaymentauthorized = ({ payment }) => {
      attempt.finishWallet = finish;
      resolve(JSON.stringify(payment.token.paymentData));
    };
    session.oncancel = () => end(() => resolve(""));
    session.begin();
    attempt.closeWallet = () => {
      end(() => session.abort());
      resolve("");
    };
  });
}

/** @type {WalletRow} */
export const applePay = {
  scriptAttributes: { crossorigin: "anonymous" },
  requestToken: requestAppleToken,
  findObstacle() {
    const options = readWalletOptions("applePay");
    const missing = ["countryCode", "onValidateMerchant"].find((name) => !options[name]);
    if (missing) {
      return `wpwlOptions.applePay.${missing} is missing`;
    }
    return window.ApplePaySession && ApplePaySession.canMakePayments() ? "" : NOT_HERE;
  },
  makeButton(widget) {
    const button = make("apple-pay-button", "wpwl-wallet-own", { buttonstyle: "black", type: "pay", locale: widget.translator.tag });
    button.addEventListener("click", () => startPaying(widget));
    return button;
  },
};
