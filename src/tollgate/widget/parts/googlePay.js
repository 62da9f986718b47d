// @ts-check
// Google Pay in a live shop: Google's own script shows the sheet and gives the token.

import { startPaying } from "./payButton.js";
import { page } from "./state.js";
import { NOT_HERE, listNetworks, readWalletOptions } from "./walletOptions.js";
/** @import { WalletRow } from "../types/page.d.ts" */
/** @import { Configuration, Wallet } from "../types/service.d.ts" */

/**
 * @param {Wallet} wallet
 * @param {Configuration} configuration
 */
function makeGoogleMethod(wallet, configuration) {
  const options = readWalletOptions("googlePay");
  return {
    type: "CARD",
    parameters: {
      allowedAuthMethods: options.allowedAuthMethods || ["PAN_ONLY", "CRYPTOGRAM_3DS"],
      allowedCardNetworks: options.allowedCardNetworks || listNetworks(configuration, 1),
    },
    tokenizationSpecification: {
      type: "PAYMENT_GATEWAY",
      // The service opens tokens that were made for its own name at Google, whatever the page says.
      parameters: { gateway: wallet.gateway, gatewayMerchantId: wallet.gatewayMerchantId || options.gatewayMerchantId },
    },
  };
}

/**
 * @param {Wallet} wallet
 * @param {Configuration} configuration
 */
function makeGoogleRequest(wallet, configuration) {
  return { apiVersion: 2, apiVersionMinor: 0, allowedPaymentMethods: [makeGoogleMethod(wallet, configuration)] };
}

function makeGoogleClient() {
  return new google.payments.api.PaymentsClient({ environment: "PRODUCTION" });
}

/** @param {Wallet} wallet */
async function requestGoogleToken(wallet) {
  const { merchantId, merchantName, countryCode } = readWalletOptions("googlePay");
  const { amount, currency } = page.configuration;
  try {
    const chosen = await makeGoogleClient().loadPaymentData({
      ...makeGoogleRequest(wallet, page.configuration),
      merchantInfo: { merchantId, merchantName: merchantName || wallet.merchantName },
      transactionInfo: { totalPriceStatus: "FINAL", totalPrice: amount, currencyCode: currency, countryCode },
    });
    return chosen.paymentMethodData.tokenizationData.token;
  } catch (error) {
    if (/** @type {{ statusCode?: string } | null} */ (error)?.statusCode === "CANCELED") {
      return "";
    }
    throw error;
  }
}

/** @type {WalletRow} */
export const googlePay = {
  // As Google documents its tag: nothing promises that its host answers requests with CORS.
  scriptAttributes: {},
  requestToken: (_attempt, wallet) => requestGoogleToken(wallet),
  async findObstacle(wallet, configuration) {
    if (!wallet.gateway) {
      return "the channel's key was not made for a gateway";
    }
    if (!readWalletOptions("googlePay").merchantId) {
      return "wpwlOptions.googlePay.merchantId is missing";
    }
    const { result } = await makeGoogleClient().isReadyToPay(makeGoogleRequest(wallet, configuration));
    return result ? "" : NOT_HERE;
  },
  makeButton(widget) {
    const button = makeGoogleClient().createButton({
      onClick: () => startPaying(widget),
      buttonType: "pay",
      buttonSizeMode: "fill",
      buttonLocale: widget.translator.tag.slice(0, 2),
    });
    button.classList.add("wpwl-wallet-own");
    return button;
  },
};
