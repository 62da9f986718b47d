// @ts-check
// Reads wpwlOptions. Pages set it before or after this script, with var, let or const, and sometimes write
// booleans as words; here it becomes one settings object with nothing left out.

import { readCustomer } from "./customer.js";
import { isOn, readList, readObject } from "./reading.js";
/** @import { GivenOptions } from "../types/page.d.ts" */

/** @type {Record<string, [width: string, height: string]>} */
const CHALLENGE_SIZES = {
  1: ["250px", "400px"],
  2: ["390px", "400px"],
  3: ["500px", "600px"],
  4: ["600px", "400px"],
  5: ["100%", "100%"],
};

const STYLE_CHOICES = /** @type {const} */ (["card", "plain", "logos", "none"]);

const SWITCHES = {
  numberFormatting: true,
  showLabels: true,
  showPlaceholders: true,
  showCVVHint: false,
  showCardHolder: true,
  requireCvv: true,
  allowEmptyCvv: false,
  maskCvv: false,
  allowEmptyCardHolderName: true,
  forceCardHolderEqualsBillingName: false,
  brandDetection: true,
  disableCardExpiryDateValidation: false,
  disableSubmitOnEnter: false,
  enableSAQACompliance: false,
  hideOtherPaymentButton: false,
  showOneClickWidget: true,
  showBirthDate: false,
  showTaxNumberField: false,
  useSummaryPage: false,
};

/** @returns {GivenOptions} */
export function readGlobalOptions() {
  // A page's let or const is no property of the window, yet seen from here.
  return readObject(typeof wpwlOptions === "undefined" ? window.wpwlOptions : wpwlOptions) || {};
}

/** @param {GivenOptions} options */
export function readSettings(options) {
  const switched = Object.entries(SWITCHES).map(([name, usual]) => [name, isOn(options[name], usual)]);
  const switches = /** @type {{ [Name in keyof typeof SWITCHES]: boolean }} */ (Object.fromEntries(switched));
  const registrations = readObject(options.registrations) || {};
  return Object.freeze({
    ...switches,
    locale: options.locale,
    layout: options.layout === "accordion" ? "accordion" : "classic",
    style: STYLE_CHOICES.find((style) => style === options.style) || "card",
    autofocus: String(options.autofocus || ""),
    detectionPriority: readList(options.brandDetectionPriority),
    iframeStyles: readObject(options.iframeStyles) || {},
    billingAddress: readObject(options.billingAddress) || (options.billingAddress === true ? {} : null),
    mandatoryBilling: readObject(options.mandatoryBillingFields),
    customer: readCustomer(options.customer),
    inlineBrands: readList(options.inlineFlow),
    spinnerColor: readColor((readObject(options.spinner) || {}).color),
    storedRequireCvv: isOn(registrations.requireCvv, false),
    hidesOtherForms: isOn(registrations.hideInitialPaymentForms, false),
    offersRegistration: readObject(options.registrations) !== null,
    paymentTarget: options.paymentTarget ? String(options.paymentTarget) : "",
    resultTarget: options.shopperResultTarget ? String(options.shopperResultTarget) : "",
    resultUrl: options.shopperResultUrl ? String(options.shopperResultUrl) : "",
    ...readChallengeSize(options),
  });
}

/** @param {unknown} value */
function readColor(value) {
  return typeof value === "string" && CSS.supports("color", value) ? value : "";
}

/** @param {GivenOptions} options */
function readChallengeSize(options) {
  const window = String((readObject(options.browser) || {}).threeDChallengeWindow || "");
  const [width, height] = CHALLENGE_SIZES[window] || ["500px", "600px"];
  const size = readObject(options.threeDIframeSize) || {};
  return {
    challengeWindow: window in CHALLENGE_SIZES ? window : "",
    challengeWidth: readSize(size.width || width, "vw"),
    challengeHeight: readSize(size.height || height, "vh"),
  };
}

/**
 * Reads a size. A share means one of the window, because the dialog itself is as large as what is in it.
 * @param {unknown} size
 * @param {string} unit
 */
function readSize(size, unit) {
  const text = typeof size === "number" ? `${size}px` : String(size);
  return text.replace(/%$/, unit);
}
