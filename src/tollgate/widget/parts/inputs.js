// @ts-check
// Fields that live in the shop's page: one row for each, and the engine that makes an input of a row.

import { validateHolder } from "../input/holder.js";
import { groupWhileTyping, isBic, isIban, isNumberLike, isPartOfBic, isPartOfIban } from "./accountNumbers.js";
import { listCountries } from "./countries.js";
import { make, makeHidden, makeId } from "./dom.js";
import { usualError } from "./faults.js";
import { makeGroup, markOptional, validateOnBlur, validateWhileTyping } from "./fields.js";
import { isPartOfPostcode, isPostcode, spellPostcode } from "./postcodes.js";
import { page } from "./state.js";
/** @import { Attributes, InputChoices, InputField, InputName, InputRow, TextControl, Translator } from "../types/page.d.ts" */

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const TAX_NUMBER_LENGTH_MIN = 8;
const DOCUMENTS = { TAXSTATEMENT: "taxNumber", IDCARD: "identityCard", PASSPORT: "passport" };

/** @satisfies {Record<string, InputRow>} */
export const INPUTS = {
  cardHolder: { names: ["card.holder"], label: "cardHolder", autocomplete: "cc-name", max: 128, fits: isHolder, isPartial: isPartOfHolder },
  givenName: { names: ["customer.givenName"], label: "givenName", autocomplete: "cc-given-name", max: 48 },
  surname: { names: ["customer.surname"], label: "surname", autocomplete: "cc-family-name", max: 48 },
  accountHolder: { names: ["bankAccount.holder"], label: "accountHolder", autocomplete: "name", max: 128, fits: isHolder, isPartial: isPartOfHolder },
  accountIban: { names: ["bankAccount.iban"], label: "accountIban", autocomplete: "off", max: 64, fits: isIban, isPartial: isPartOfIban, setsUp: groupWhileTyping, isLatin: true },
  accountBic: { names: ["bankAccount.bic"], label: "accountBic", autocomplete: "off", max: 14, fits: isBic, isPartial: isPartOfBic, isLatin: true },
  accountBank: { names: ["bankAccount.bankName"], label: "bankName", autocomplete: "off", max: 255, isBank: true },
  accountNumber: { names: ["bankAccount.number"], label: "accountNumber", autocomplete: "off", max: 64, isLatin: true },
  accountCountry: { names: ["bankAccount.country"], label: "country", autocomplete: "country", isCountry: true },
  virtualAccount: { names: ["virtualAccount.accountId"], label: "accountNumber", autocomplete: "off", max: 100 },
  accountPhone: { names: ["virtualAccount.accountId"], label: "mobilePhone", autocomplete: "tel", type: "tel", max: 25, isLatin: true, accountName: "phone" },
  accountEmail: { names: ["virtualAccount.accountId"], label: "email", autocomplete: "email", type: "email", max: 100, fits: isEmail, isPartial: isPartOfEmail, accountName: "email" },
  email: { names: ["customer.email"], label: "email", autocomplete: "email", type: "email", max: 128, fits: isEmail, isPartial: isPartOfEmail },
  mobilePhone: { names: ["customer.mobile"], label: "mobilePhone", autocomplete: "tel", type: "tel", max: 25, isLatin: true },
  phone: { names: ["customer.phone"], label: "mobilePhone", autocomplete: "tel", type: "tel", max: 25, isLatin: true },
  birthDate: { names: ["customer.birthDate"], label: "birthDate", autocomplete: "bday", type: "date", fits: isBirthDate },
  documentType: { names: ["customer.identificationDocType"], label: "documentType", autocomplete: "off", choices: DOCUMENTS },
  documentNumber: {
    names: ["customer.identificationDocId"],
    label: "documentNumber",
    autocomplete: "off",
    max: 64,
    fits: isTaxNumber,
    isPartial: isNumberLike,
    isLatin: true,
  },
  taxNumber: {
    names: ["customer.identificationDocId"],
    label: "taxNumber",
    autocomplete: "off",
    max: 64,
    fits: isTaxNumber,
    isPartial: isNumberLike,
    isLatin: true,
    also: { "customer.identificationDocType": "TAXSTATEMENT" },
  },
  billingCountry: { names: ["billing.country"], label: "country", autocomplete: "billing country", isCountry: true },
  billingState: { names: ["billing.state"], label: "state", autocomplete: "billing address-level1", max: 50 },
  billingCity: { names: ["billing.city"], label: "city", autocomplete: "billing address-level2", max: 80 },
  billingPostcode: { names: ["billing.postcode"], label: "postcode", autocomplete: "billing postal-code", max: 16, fits: isPostcode, isPartial: isPartOfPostcode, setsUp: spellPostcode },
  billingStreet1: { names: ["billing.street1"], label: "street1", autocomplete: "billing address-line1", max: 100 },
  billingStreet2: { names: ["billing.street2"], label: "street2", autocomplete: "billing address-line2", max: 100 },
};

/** @param {string} text */
function isHolder(text) {
  return validateHolder(text).isValid;
}

/** @param {string} text */
function isPartOfHolder(text) {
  return validateHolder(text).kind === "incomplete";
}

/** @param {string} text */
function isEmail(text) {
  return EMAIL.test(text);
}

/**
 * Whether a text may become an address by typing on.
 * @param {string} text
 */
function isPartOfEmail(text) {
  return /^[^\s@]+(@[^\s@]*)?$/.test(text);
}

/**
 * Whether a date is one of birth; a date field writes it like this in every language.
 * @param {string} text
 */
function isBirthDate(text) {
  return /^(19|20)\d\d-\d\d-\d\d$/.test(text) && new Date(text) <= new Date();
}

/** @param {string} text */
function isTaxNumber(text) {
  return text.length >= TAX_NUMBER_LENGTH_MIN;
}

/**
 * Finds the row of a parameter. Providers know their accounts by different things.
 * @param {string} parameter
 * @param {string} [accountName]
 */
export function findInputName(parameter, accountName) {
  const rows = /** @type {[InputName, InputRow][]} */ (Object.entries(INPUTS)).filter(([, row]) => row.names.includes(parameter));
  return (rows.find(([, row]) => row.accountName === accountName) || rows[0] || [])[0];
}

/** @param {InputName} name */
function findKnown(name) {
  return page.settings.customer[INPUTS[name].names[0]] || "";
}

/**
 * Writes what is typed from left to right, but the placeholder of an empty field as the form does.
 * @param {TextControl} control
 * @param {string} dir
 */
function turnWhileEmpty(control, dir) {
  const turn = () => control.setAttribute("dir", control.value === "" ? dir : "ltr");
  control.addEventListener("input", turn);
  control.addEventListener("change", turn);
  turn();
}

/**
 * @param {Translator} translator
 * @param {InputRow} row
 * @param {string} classes
 * @param {Attributes & { value: string, placeholder: string }} attributes
 */
function makeInput(translator, row, classes, { value, placeholder, ...attributes }) {
  const control = make("input", classes, { ...attributes, type: row.type || "text", maxlength: row.max });
  control.value = value;
  control.placeholder = placeholder;
  if (row.isLatin) {
    turnWhileEmpty(control, translator.dir);
  }
  if (row.setsUp) {
    row.setsUp(control);
  }
  return control;
}

/**
 * Lists the values to choose from and their texts, or returns null where the shopper writes one.
 * @param {Translator} translator
 * @param {InputRow} row
 * @param {InputChoices} choices
 */
function listOptions(translator, row, { countries = [], banks = [] }) {
  if (row.isCountry) {
    return listCountries(translator.tag, countries);
  }
  if (row.isBank && banks.length) {
    return banks.map((bank) => [bank, bank]);
  }
  return row.choices ? Object.entries(row.choices).map(([value, key]) => [value, translator.translate(key)]) : null;
}

/**
 * @param {InputRow} row
 * @param {string[][]} options
 * @param {string} classes
 * @param {Attributes & { value: string, empty: string }} attributes
 */
function makeSelect(row, options, classes, { value, empty, ...attributes }) {
  const listed = row.choices ? options : [["", empty], ...options];
  const select = make("select", classes, attributes, ...listed.map(([code, text]) => make("option", "", { value: code }, text)));
  select.value = row.isCountry ? value.toUpperCase() : value;
  if (select.selectedIndex < 0) {
    select.selectedIndex = 0;
  }
  return select;
}

/**
 * Makes a field of the page. `isNeeded` says that an empty one is a fault.
 * @param {Translator} translator
 * @param {InputName} name
 * @param {InputChoices} [choices]
 * @returns {InputField}
 */
export function makeInputField(translator, name, { isNeeded = true, value = findKnown(name), groupName = name, ...limits } = {}) {
  /** @type {InputRow} */
  const row = INPUTS[name];
  const id = makeId(name);
  const text = translator.translate(row.label);
  const attributes = { id, name: row.names[0], autocomplete: row.autocomplete, "aria-required": isNeeded ? "true" : null };
  const classes = `wpwl-control wpwl-control-${groupName}`;
  const options = listOptions(translator, row, limits);
  const control = options
    ? makeSelect(row, options, classes, { ...attributes, value, empty: text })
    : makeInput(translator, row, classes, { ...attributes, value, placeholder: page.settings.showPlaceholders ? text : "" });
  /** @type {InputField} */
  const field = {
    ...makeGroup(groupName, text, control, { controlId: id }),
    name,
    names: row.names,
    control,
    frame: null,
    fault: "",
    hint: null,
    // A date that is half typed has no value yet.
    isEmpty: () => control.value.trim() === "" && !control.validity.badInput,
    cannotBecomeValid: () => false,
    focus: () => control.focus(),
    findFaultKind: () => (control.validity.badInput || (row.isPartial && row.isPartial(control.value.trim(), control)) ? "incomplete" : "invalid"),
    validate() {
      if (field.isEmpty()) {
        return isNeeded ? usualError(field) : "";
      }
      return control.validity.badInput || (row.fits && !row.fits(control.value.trim(), control)) ? usualError(field) : "";
    },
  };
  field.group.append(...Object.entries(row.also || {}).map(([also, said]) => makeHidden(also, said)));
  control.addEventListener("input", () => validateWhileTyping(translator, field));
  control.addEventListener("change", () => validateWhileTyping(translator, field));
  control.addEventListener("blur", () => validateOnBlur(translator, field));
  return field;
}

/**
 * Makes a field that need not be filled in where the page does not want it.
 * @param {Translator} translator
 * @param {InputName} name
 * @param {boolean} isNeeded
 * @param {InputChoices} [choices]
 */
export function makeWantedField(translator, name, isNeeded, choices) {
  const field = makeInputField(translator, name, { ...choices, isNeeded });
  if (!isNeeded) {
    markOptional(translator, field);
  }
  return field;
}
