// @ts-check
// What the page knows about the shopper beforehand.

import { readObject } from "./reading.js";
/** @import { Parameters } from "../types/frames.d.ts" */

const CUSTOMER_WORDS = [
  "merchantCustomerId",
  "salutation",
  "givenName",
  "middleName",
  "surname",
  "sex",
  "birthDate",
  "phone",
  "mobile",
  "workPhone",
  "email",
  "companyName",
  "language",
  "category",
  "status",
  "identificationDocType",
  "identificationDocId",
];

/**
 * Returns what the page knows, by the names of the parameters. What is no text, or unknown to the service, is left out.
 * @param {unknown} given
 * @returns {Parameters}
 */
export function readCustomer(given) {
  const known = readObject(given) || {};
  const texts = CUSTOMER_WORDS.map((word) => [`customer.${word}`, typeof known[word] === "string" ? known[word].trim() : ""]);
  return Object.fromEntries(texts.filter(([, text]) => text !== ""));
}
