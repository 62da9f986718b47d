// @ts-check
// Cards that the shopper has stored with this merchant: one is chosen, and one click pays.

import { makeMark } from "./brands.js";
import { makeFrameField } from "./cardFields.js";
import { getParent, make, makeHex, setHidden } from "./dom.js";
import { addResultUrl, adoptInputs, makeSubmitGroup, makeWidget } from "./forms.js";
import { renderPayLabel } from "./payButton.js";
import { page } from "./state.js";
/** @import { Place, StoredRow, StoredWidget, Widget } from "../types/page.d.ts" */
/** @import { StoredCard } from "../types/service.d.ts" */

/** @param {Place} place */
export function makeStoredCards(place) {
  const names = { container: "registration", form: "registrations", id: "registration" };
  const made = makeWidget("registration", names, place, null);
  /** @type {StoredWidget} */
  const widget = Object.assign(made, {
    rows: [],
    block: make("div", "wpwl-registrations-block", { id: "wpwl-registrations" }, made.container),
  });
  widget.form.classList.add("wpwl-form-has-inputs");
  widget.form.setAttribute("data-action", "submit-registration");
  widget.form.setAttribute("target", page.settings.paymentTarget || "registrations-target");
  widget.rows = page.configuration.registrations.map((card) => makeStoredCard(widget, card));
  const legend = make("legend", "wpwl-label wpwl-label-registrations", {}, widget.translator.translate("storedCards"));
  widget.form.append(make("fieldset", "wpwl-registrations", {}, legend, ...widget.rows.map((row) => row.group)));
  widget.submitter = () => widget.chosen?.cvvField?.frame || null;
  adoptInputs(widget, false);
  widget.form.append(makeSubmitGroup(widget, () => renderPayLabel(widget.translator)));
  addResultUrl(widget);
  const called = { name: "registrations-target", title: widget.translator.translate("storedCards"), src: "about:blank" };
  const target = make("iframe", "wpwl-target", called);
  setHidden(target, true);
  widget.container.append(target);
  chooseStoredCard(widget, widget.rows[0]);
  return widget;
}

/**
 * @param {string} name
 * @param {...(Node | string | null)} content
 */
function makePart(name, ...content) {
  return make("div", `wpwl-wrapper wpwl-wrapper-registration wpwl-wrapper-registration-${name}`, {}, ...content);
}

/**
 * @param {StoredWidget} widget
 * @param {StoredCard} card
 */
function makeStoredCard(widget, card) {
  const radio = make("input", "wpwl-control-registration", {
    type: "radio",
    name: "registrationId",
    value: card.id,
    "data-action": "change-registration",
  });
  const expiry = card.expiryMonth ? `${card.expiryMonth} / ${String(card.expiryYear).slice(-2)}` : "";
  const brandLabel = (page.configuration.brands[card.brand] || { label: card.brand }).label;
  const mark = makeMark(card.brand, brandLabel, "wpwl-brand-inline");
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", brandLabel);
  const details = makePart(
    "details",
    makePart("number", make("bdi", "wpwl-registration-text", {}, card.number || card.last4 || "")),
    expiry ? makePart("expiry", make("bdi", "wpwl-registration-text", {}, expiry)) : null,
    card.holder ? makePart("holder", card.holder) : null,
  );
  const label = make("label", "wpwl-registration", {}, makePart("registrationId", radio), makePart("brand", mark), details);
  const cvvPlace = makePart("cvv");
  const group = make("div", "wpwl-group wpwl-group-registration", {}, label, cvvPlace);
  /** @type {StoredRow} */
  const row = { card, radio, group, cvvPlace, cvvField: null };
  radio.addEventListener("change", () => chooseStoredCard(widget, row));
  return row;
}

/**
 * Whether the security code of a stored card is asked for; a stored bank account has none.
 * @param {StoredCard} card
 */
function needsStoredCvv(card) {
  return Boolean(card.expiryMonth) && (page.settings.storedRequireCvv || page.configuration.requiresCvv);
}

/**
 * Chooses a card. Its frame is made when it is first chosen, because moving a frame about would load it again.
 * @param {StoredWidget} widget
 * @param {StoredRow} row
 */
export function chooseStoredCard(widget, row) {
  widget.chosen = row;
  row.radio.checked = true;
  for (const other of widget.rows) {
    other.group.classList.toggle("wpwl-selected", other === row);
    setHidden(other.cvvPlace, other !== row);
  }
  if (needsStoredCvv(row.card) && !row.cvvField) {
    const { brand } = row.card;
    const more = () => ({ brand, accepted: [brand], masks: page.settings.maskCvv, allowsEmpty: false, required: true });
    row.cvvField = makeFrameField(widget, "cvv", more, makeHex(16));
    row.cvvPlace.append(row.cvvField.group);
  }
  widget.fields = [...(row.cvvField ? [row.cvvField] : []), ...(widget.askedFields || [])];
}

/**
 * Hides the other forms where the page wants it, and adds the button that shows them.
 * @param {Widget[]} widgets
 */
export function hideOtherForms(widgets) {
  const stored = widgets.find((widget) => widget.kind === "registration");
  if (!stored || !page.settings.hidesOtherForms) {
    return;
  }
  const others = widgets.filter((widget) => widget !== stored);
  const show = (/** @type {boolean} */ isShown) => others.forEach((widget) => setHidden(widget.container, !isShown));
  show(false);
  if (page.settings.hideOtherPaymentButton || !others.length) {
    return;
  }
  const text = stored.translator.translate("showOtherPaymentMethods");
  const button = make("button", "wpwl-button wpwl-button-other", { type: "button", "data-action": "show-initial-forms" }, text);
  button.addEventListener("click", () => {
    show(true);
    getParent(button).remove();
    others.flatMap((widget) => widget.fields)[0]?.focus();
  });
  stored.block?.append(make("div", "wpwl-group wpwl-group-button", {}, button));
}
