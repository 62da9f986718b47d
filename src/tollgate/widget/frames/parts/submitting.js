// @ts-check
// Sends a payment from this frame to the service, one at a time, and sends the answer to the page. The page learns neither
// the number nor what was typed beside it.

import { readToday } from "../../input/expiry.js";
import { isRecord } from "../../input/records.js";
import { FIELDS } from "./fields.js";
import { TEXT_LENGTH_MAX } from "./options.js";
import { field, input, options, validate } from "./page.js";
import { pageOrigin, sendToPage } from "./port.js";
import { clearSpentCode, collect } from "./siblings.js";
/** @import { Collected, Parameters, ToFrame } from "../../types/frames.d.ts" */

const SUBMIT_PATIENCE_MS = 60000;
const FIELDS_MAX = 200;
const VALUE_LENGTH_MAX = 4096;
const SECRET_NAMES = ["card.number", "card.cvv"];
let isSubmitting = false;

/**
 * Returns what the page adds to a payment. It cannot know secrets, so it does not name them.
 * @param {Record<string, unknown>} fields
 * @returns {Parameters}
 */
function keepPageFields(fields) {
  const isKept = (/** @type {string} */ name) => !SECRET_NAMES.includes(name) && name.length <= TEXT_LENGTH_MAX;
  const kept = Object.entries(fields).flatMap(([name, value]) => (isKept(name) && isShortText(value) ? [[name, value]] : []));
  return Object.fromEntries(kept.slice(0, FIELDS_MAX));
}

/**
 * @param {unknown} value
 * @returns {value is string}
 */
function isShortText(value) {
  return typeof value === "string" && value.length <= VALUE_LENGTH_MAX;
}

/**
 * Whether this frame may send the payment: that of the number for a new card, that of the security code for a stored one.
 * @param {unknown} fields
 * @returns {fields is Record<string, unknown>}
 */
function maySubmit(fields) {
  if (options.checkoutId === undefined || !isRecord(fields)) return false;
  return field === "number" || (field === "cvv" && isShortText(fields.registrationId));
}

/**
 * Returns the Accept header with which the browser asked for this page: a script's own request has another one.
 * @param {Parameters} fields
 * @returns {Parameters}
 */
function describeHeader(fields) {
  const { accept } = document.body.dataset;
  const tellsBrowser = Object.keys(fields).some((name) => name.startsWith("customer.browser."));
  return accept && tellsBrowser ? { "customer.browser.acceptHeader": accept } : {};
}

/**
 * @param {Record<string, unknown>} fields
 * @returns {Promise<Collected>}
 */
async function gather(fields) {
  const own = validate();
  const brand = typeof fields.paymentBrand === "string" ? fields.paymentBrand : options.brand;
  /** @type {Collected} */
  const { values, errors } = field === "number" ? await collect(brand) : { values: {}, errors: {} };
  if (own.error !== null) errors[field] = own.error;
  else if (!own.isEmpty) Object.assign(values, FIELDS[field].values(input.value, readToday()));
  return { values, errors };
}

/** @param {Record<string, string>} fields */
async function post(fields) {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), SUBMIT_PATIENCE_MS);
  try {
    const answer = await fetch(`/v1/checkouts/${options.checkoutId}/${options.resource}`, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(fields),
      mode: "same-origin",
      credentials: "omit",
      redirect: "error",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal: giveUp.signal,
    });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return { status: 0, text: "" };
  } finally {
    clearTimeout(timer);
  }
}

/** @param {Record<string, unknown>} body */
function listFaults(body) {
  const faults = isRecord(body.result) ? body.result.parameterErrors : null;
  return Array.isArray(faults) ? faults.filter(isRecord) : [];
}

/**
 * Returns the answer as the page may read it, or null where it cannot be read or repeats the number.
 * @param {string} text
 * @param {string | undefined} number
 */
function readAnswer(text, number) {
  if (number && text.replace(/[\s-]/g, "").includes(number)) return null;
  try {
    const body = JSON.parse(text);
    if (!isRecord(body)) return null;
    for (const fault of listFaults(body)) {
      if (String(fault.name).startsWith("card.")) delete fault.value;
    }
    return body;
  } catch {
    return null;
  }
}

/**
 * Whether the security code was used, which happens once. It may stay where nothing was tried because some other field has
 * to be mended; where the bank asks first, because nothing was charged yet and the page says when the bank has answered;
 * and where nobody answered, because the page fetches the state of the checkout before anything is sent again.
 * @param {number} status
 * @param {Record<string, unknown> | null} body
 */
function isCodeSpent(status, body) {
  if (status === 0) return false;
  if (body !== null && isRecord(body.next) && body.next.kind === "challenge") return false;
  const faults = body === null ? [] : listFaults(body);
  return faults.length === 0 || faults.some((fault) => fault.name === "card.cvv");
}

/** @param {ToFrame & { type: "submit" }} request */
export async function submit({ ask, fields }) {
  if (isSubmitting || !maySubmit(fields)) return;
  isSubmitting = true;
  try {
    const { values, errors } = await gather(fields);
    if (Object.keys(errors).length > 0) {
      sendToPage({ type: "validity", ask, isValid: false, errors });
      return;
    }
    const said = keepPageFields(fields);
    // The page cannot name another origin than its own, by which the channel may refuse it.
    const { status, text } = await post({ ...said, ...describeHeader(said), ...values, shopOrigin: pageOrigin ?? "" });
    const body = readAnswer(text, values["card.number"]);
    if (isCodeSpent(status, body)) clearSpentCode();
    sendToPage(body === null ? { type: "answer", ask, status: 0 } : { type: "answer", ask, status, body });
  } finally {
    isSubmitting = false;
  }
}
