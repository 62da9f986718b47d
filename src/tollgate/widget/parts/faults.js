// @ts-check
// Renders what is wrong with a field: it is empty, incomplete, not valid or expired. A page's own text for the field is
// shown for all of them.

/** @import { FaultKind } from "../types/frames.d.ts" */
/** @import { Field, Translator } from "../types/page.d.ts" */

// The error of a field where the field itself names no other. Each is the name of a text that a page may bring along.
/** @type {Record<string, string>} */
const USUAL_ERRORS = {
  cardNumber: "cardNumberError",
  cardHolder: "cardHolderError",
  givenName: "cardHolderError",
  surname: "cardHolderError",
  expiry: "expiryError",
  cvv: "cvvError",
  accountHolder: "accountHolderError",
  accountIban: "accountIbanError",
  accountBic: "accountBicError",
  accountBank: "accountBankError",
  accountNumber: "accountNumberError",
  email: "emailError",
  birthDate: "birthDateError",
  documentNumber: "documentNumberError",
  taxNumber: "taxNumberError",
};

/** @param {Field} field */
export function usualError(field) {
  return USUAL_ERRORS[field.name] || "billingError";
}

const KIND_TEXTS = { empty: "emptyError", incomplete: "incompleteError", invalid: "invalidError", expired: "expiredError" };

/**
 * @param {Translator} translator
 * @param {Field} field
 * @param {string} key
 */
export function renderFault(translator, field, key) {
  const own = key === "cardBinError" ? key : [key, usualError(field)].find(translator.isOwn);
  return own ? translator.translate(own) : translator.translate(KIND_TEXTS[chooseFaultKind(field)], { field: field.called });
}

/**
 * Chooses what is said about a field. Where the field itself finds nothing wrong, the service has refused its value.
 * @param {Field} field
 * @returns {FaultKind}
 */
function chooseFaultKind(field) {
  if (field.isEmpty()) {
    return "empty";
  }
  return (field.validate() && field.findFaultKind()) || "invalid";
}
