// @ts-check
// Fetches the configuration of the checkout: what is paid, by which brands, with which stored cards. It is fetched again
// only where a form brings brands of its own, and where the state of the checkout is in question.

import { makeError, makeIntegrationError } from "./hooks.js";
import { labelButton } from "./payButton.js";
import { publish } from "./publicApi.js";
import { SCRIPT_NAME, checkoutAddress, source } from "./source.js";
import { NOT_CONFIGURED, page } from "./state.js";
import { offerWallets } from "./wallets.js";
/** @import { Parameters } from "../types/frames.d.ts" */
/** @import { ReportedError } from "../types/page.d.ts" */
/** @import { CheckoutNow, CheckoutReply, Configuration, ServiceResult } from "../types/service.d.ts" */

/** @type {string[]} */
let brandsAsked = [];
/** @type {string[]} */
let languagesAsked = [];
/** @type {Promise<Configuration> | null} */
let configurationAsked = null;

/**
 * @param {string[]} codes
 * @returns {Promise<Configuration>}
 */
async function fetchConfiguration(codes) {
  if (!source.checkoutId) {
    throw makeIntegrationError("InvalidCheckoutIdError", `the address of ${SCRIPT_NAME} names no checkout: add ?checkoutId=<id>`);
  }
  const brands = codes.map(encodeURIComponent).join("+");
  const { status, body } = await getJson(`${checkoutAddress("form")}?brands=${brands}&lang=${languagesAsked.join("+")}`);
  if (status !== 200) {
    throw makeRefusal(status, body.result || {});
  }
  return body;
}

/**
 * Makes an error of a refusal. Only one answer says that there is no such checkout any more; a service in trouble says
 * nothing about the checkout.
 * @param {number} status
 * @param {ServiceResult} result
 * @returns {ReportedError}
 */
export function makeRefusal(status, result) {
  const message = result.description || `the service answered ${status}`;
  if (result.code === "200.300.404") {
    return makeError("InvalidCheckoutIdError", message);
  }
  const isRefused = status >= 400 && status < 500 && status !== 429;
  const text = status === 429 ? "tooManyAttempts" : "unexpectedError";
  return makeError(isRefused ? "WidgetError" : "NetworkError", message, { result, text });
}

/**
 * Fetches a reply about the checkout; posts where there are fields. Only where nobody answered at all is there no connection.
 * @param {string} url
 * @param {Parameters} [fields]
 * @returns {Promise<CheckoutReply>}
 */
export async function getJson(url, fields) {
  const sent = fields ? { method: "POST", body: new URLSearchParams(fields) } : {};
  const reply = await fetch(url, { ...sent, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" }).catch(() => {
    throw makeError("NetworkError", "the service cannot be reached", { text: "networkError" });
  });
  const body = await reply.json().catch(() => {
    throw makeRefusal(reply.status, {});
  });
  return { status: reply.status, body };
}

/**
 * Returns the configuration for these brands, in these languages, and all that were asked for before.
 * @param {string[]} codes
 * @param {string[]} languages
 */
export function configure(codes, languages) {
  const isKnown = codes.every((code) => brandsAsked.includes(code)) && languages.every((code) => languagesAsked.includes(code));
  if (configurationAsked && isKnown) {
    return configurationAsked;
  }
  brandsAsked = [...new Set([...brandsAsked, ...codes])];
  languagesAsked = [...new Set([...languagesAsked, ...languages])];
  configurationAsked = fetchConfiguration(brandsAsked).then(offerWallets).then(
    (configuration) => {
      page.configuration = configuration;
      return configuration;
    },
    (error) => {
      // The next form asks again.
      configurationAsked = null;
      throw error;
    },
  );
  return configurationAsked;
}

/**
 * Fetches what has become of the checkout; null where nobody can tell, and then the trouble has a text.
 * @returns {Promise<CheckoutNow | null>}
 */
export async function fetchState() {
  try {
    const now = await fetchConfiguration(brandsAsked);
    learnAmount(now);
    return now;
  } catch (error) {
    return readTrouble(/** @type {ReportedError} */ (error));
  }
}

/**
 * @param {ReportedError} error
 * @returns {CheckoutNow | null}
 */
export function readTrouble({ name, text }) {
  page.trouble = text || "";
  return name === "InvalidCheckoutIdError" ? { state: "gone", returnUrl: null } : null;
}

/**
 * Takes over the amount, which the merchant may have changed. Forms that stand already rely on the rest.
 * @param {CheckoutNow} now
 */
export function learnAmount({ amount, currency }) {
  if (page.configuration !== NOT_CONFIGURED) {
    page.configuration = { ...page.configuration, amount, currency };
    publish();
    page.widgets.forEach(labelButton);
  }
}
