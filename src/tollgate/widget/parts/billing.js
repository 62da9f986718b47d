// @ts-check
// The billing address, where the page wants it, and any other field that the page or a brand asks for.

import { make } from "./dom.js";
import { validateLeft } from "./fields.js";
import { INPUTS, findInputName, makeInputField, makeWantedField } from "./inputs.js";
import { addAsked } from "./methods.js";
import { isOn } from "./reading.js";
import { page } from "./state.js";
/** @import { Field, InputName, Translator, Widget } from "../types/page.d.ts" */
/** @import { BrandRow } from "../types/service.d.ts" */

/** @satisfies {Record<string, InputName>} */
const BILLING_FIELDS = {
  country: "billingCountry",
  state: "billingState",
  city: "billingCity",
  postcode: "billingPostcode",
  street1: "billingStreet1",
  street2: "billingStreet2",
};

const PERSONAL_FIELDS = /** @type {const} */ ([
  { option: "showBirthDate", name: "birthDate" },
  { option: "showTaxNumberField", name: "taxNumber" },
]);

/**
 * The fields that must be filled in where the page does not say which.
 * @type {Record<string, unknown>}
 */
const USUAL_BILLING = { country: true, city: true, postcode: true, street1: true };

/** @param {string} parameter */
export function isGiven(parameter) {
  return page.configuration.given.includes(parameter);
}

/** @param {Translator} translator */
export function makeBillingBlock(translator) {
  const { billingAddress, mandatoryBilling } = page.settings;
  if (!billingAddress) {
    return null;
  }
  const wanted = Object.entries(BILLING_FIELDS).filter(([word]) => !isGiven(`billing.${word}`));
  const fields = wanted.map(([word, name]) => {
    const isNeeded = isOn((mandatoryBilling || USUAL_BILLING)[word], false);
    return makeWantedField(translator, name, isNeeded, { value: String(billingAddress[word] || "") });
  });
  return fields.length ? { group: groupBilling(translator, fields), fields } : null;
}

/**
 * @param {Translator} translator
 * @param {Field[]} fields
 */
function groupBilling(translator, fields) {
  const [country, postcode] = [BILLING_FIELDS.country, BILLING_FIELDS.postcode].map((name) => fields.find((field) => field.name === name));
  if (country && postcode) {
    country.control.addEventListener("change", () => validateLeft(translator, postcode));
  }
  const legend = make("legend", "wpwl-label wpwl-label-billing", {}, translator.translate("billingAddress"));
  return make("fieldset", "wpwl-group wpwl-group-billing", {}, legend, ...fields.map((field) => field.group));
}

/**
 * Adds the fields of the address that the service found missing, and returns them. 3-D Secure needs an address, and only the
 * service knows which cards take part.
 * @param {Widget} widget
 * @param {string[]} names
 */
export function askForBilling(widget, names) {
  const there = new Set(widget.fields.flatMap((field) => field.names));
  const missing = Object.values(BILLING_FIELDS).filter(
    (name) => names.includes(INPUTS[name].names[0]) && !there.has(INPUTS[name].names[0]),
  );
  if (!missing.length) {
    return [];
  }
  const fields = missing.map((name) => makeInputField(widget.translator, name));
  widget.fields = [...widget.fields, ...fields];
  widget.askedFields = [...(widget.askedFields || []), ...fields];
  addAsked(widget, groupBilling(widget.translator, fields));
  return fields;
}

/**
 * Makes the fields that the page or a brand asks for, but for those that stand in the form already.
 * @param {Translator} translator
 * @param {string[]} asks
 * @param {Field[]} present
 * @param {Partial<BrandRow>} [brand]
 */
export function makeAskedFields(translator, asks, present, { accountName, countries, banks } = {}) {
  const personal = makePersonalFields(translator);
  const hidden = personal.flatMap(({ group }) => [...group.querySelectorAll("input")].map((input) => input.name));
  const there = new Set([...[...present, ...personal].flatMap((field) => field.names), ...hidden]);
  const names = asks.filter((parameter) => !there.has(parameter)).flatMap((parameter) => findInputName(parameter, accountName) || []);
  return [...personal, ...[...new Set(names)].map((name) => makeInputField(translator, name, { countries, banks }))];
}

/** @param {Translator} translator */
function makePersonalFields(translator) {
  const rows = PERSONAL_FIELDS.filter(({ option, name }) => page.settings[option] && !isGiven(INPUTS[name].names[0]));
  return rows.map(({ name }) => makeInputField(translator, name));
}
