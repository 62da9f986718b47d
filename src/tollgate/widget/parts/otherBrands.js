// @ts-check
// Forms of brands that are paid elsewhere: at a bank, in a wallet, by a voucher. They show a mark, what the brand asks for,
// and a button.

import { squeezeNumbers } from "./accountNumbers.js";
import { makeAskedFields } from "./billing.js";
import { makeBrandGroup } from "./brands.js";
import { make, makeHidden } from "./dom.js";
import { FORM_HOOKS, makeWidget } from "./forms.js";
import { isAccordion } from "./methods.js";
import { renderAmount } from "./payButton.js";
import { page } from "./state.js";
/** @import { Place } from "../types/page.d.ts" */

const POPUP_KINDS = ["onlineTransfer", "virtualAccount"];

/**
 * @param {Place} place
 * @param {string} code
 */
export function makeOtherBrand(place, code) {
  const row = page.configuration.brands[code];
  const { kind, label, asks, countries } = row;
  const word = `${kind}-${code}`;
  const widget = makeWidget(kind, { container: word, form: word, id: kind }, place, code);
  // Nobody is asked for the only country there is.
  const told = countries.length === 1 ? asks.filter((name) => name.endsWith(".country")) : [];
  widget.fields = makeAskedFields(widget.translator, asks.filter((name) => !told.includes(name)), [], row);
  widget.addFields = () => squeezeNumbers(widget.fields);
  widget.opensDialog = POPUP_KINDS.includes(kind) && page.settings.inlineBrands.includes(code);
  widget.opensPopup = POPUP_KINDS.includes(kind) && !widget.opensDialog && !page.settings.paymentTarget;
  widget.renderOwnLabel = () => widget.translator.translate("payWith", { brand: label, amount: renderAmount(widget.translator) }).trim();
  if (widget.opensDialog && kind === "virtualAccount") {
    widget.hook = FORM_HOOKS.inlineVirtualAccount;
  }
  if (widget.fields.length) {
    widget.form.classList.add("wpwl-form-has-inputs");
  }
  const isElsewhere = isAccordion() && POPUP_KINDS.includes(kind) && !widget.fields.length;
  const note = isElsewhere ? make("p", "wpwl-method-note", {}, widget.translator.translate("goToBrand", { brand: label })) : null;
  widget.form.append(
    ...[makeBrandGroup(code, label) || [], note || []].flat(),
    ...widget.fields.map((field) => field.group),
    ...told.map((name) => makeHidden(name, countries[0])),
  );
  return widget;
}
