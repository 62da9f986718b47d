// @ts-check
// The form for a direct debit: whose account, its IBAN, and whatever else the scheme asks for.

import { squeezeNumbers } from "./accountNumbers.js";
import { isGiven, makeAskedFields, makeBillingBlock } from "./billing.js";
import { makeBrandGroup } from "./brands.js";
import { describe } from "./dom.js";
import { makeWidget } from "./forms.js";
import { makeInputField, makeWantedField } from "./inputs.js";
import { makeMandate } from "./mandate.js";
import { page } from "./state.js";
/** @import { Place } from "../types/page.d.ts" */

/**
 * @param {Place} place
 * @param {string} code
 */
export function makeDirectDebit(place, code) {
  const names = { container: "directDebit", form: "directDebit" };
  const widget = makeWidget("directDebit", names, place, code);
  widget.container.classList.add(`wpwl-container-directDebit-${code}`);
  widget.form.classList.add(`wpwl-form-directDebit-${code}`);
  const { asks, label } = page.configuration.brands[code];
  const basic = [
    makeInputField(widget.translator, "accountHolder"),
    makeInputField(widget.translator, "accountIban"),
    makeWantedField(widget.translator, "accountBic", asks.includes("bankAccount.bic")),
  ].filter((field) => !isGiven(field.names[0]));
  const mandate = makeMandate(widget, code);
  if (mandate) {
    const { id } = mandate.children[0];
    basic.filter(({ name }) => name === "accountIban").forEach(({ control }) => describe(control, id, true));
  }
  const billing = makeBillingBlock(widget.translator);
  const present = [...basic, ...(billing ? billing.fields : [])];
  const asked = makeAskedFields(widget.translator, asks, present);
  widget.fields = [...present, ...asked];
  widget.form.append(
    ...[makeBrandGroup(code, label) || []].flat(),
    ...basic.map((field) => field.group),
    ...(billing ? [billing.group] : []),
    ...asked.map((field) => field.group),
  );
  widget.mandate = mandate;
  widget.addFields = () => squeezeNumbers(widget.fields);
  return widget;
}
