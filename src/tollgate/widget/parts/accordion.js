// @ts-check
// The layout "accordion": the payment methods as a list of which one is open, and one button that pays with it. The forms
// inside are those of the classic layout; they are hidden and never moved, because a frame that moves is loaded again.

import { makeMark } from "./brands.js";
import { getClosest, getParent, make, makeHidden, makeId } from "./dom.js";
import { openMethod } from "./opening.js";
import { page } from "./state.js";
import { chooseStoredCard } from "./storedCards.js";
/** @import { Method, Place, StoredWidget, Widget } from "../types/page.d.ts" */

/**
 * @param {Place} place
 * @param {Widget[]} widgets
 */
export function makeAccordion(place, widgets) {
  const { translator } = place;
  const group = shareButton(place, widgets);
  const name = makeId("method");
  const methods = widgets.flatMap((widget) => (isStored(widget) ? listStoredMethods(widget, name) : [makeMethod(widget, name)]));
  place.methods = methods;
  const legend = make("legend", "wpwl-label wpwl-label-methods", {}, translator.translate("paymentMethods"));
  const rows = widgets.map((widget) => widget.block || getClosest(widget.container, ".wpwl-method"));
  const list = make("fieldset", "wpwl-methods", {}, legend, ...rows);
  list.classList.toggle("wpwl-methods-single", methods.length === 1);
  methods.forEach((method) => method.radio.addEventListener("change", () => openMethod(place, method)));
  openMethod(place, methods[0]);
  return make("div", "wpwl-accordion", { lang: translator.tag, dir: translator.dir }, list, group);
}

/**
 * Takes a radio button out of its form, so that those of all methods are one group and none of them is sent.
 * @param {HTMLInputElement} radio
 * @param {string} name
 */
function joinRadios(radio, name) {
  radio.setAttribute("name", name);
  radio.setAttribute("form", "");
  return radio;
}

/**
 * @param {Widget} widget
 * @returns {widget is StoredWidget}
 */
function isStored(widget) {
  return widget.rows !== undefined;
}

/**
 * @param {Widget} widget
 * @param {string} name
 * @returns {Method}
 */
function makeMethod(widget, name) {
  const { brand, container, form, translator } = widget;
  const radio = joinRadios(make("input", "wpwl-method-radio", { type: "radio" }), name);
  const label = brand ? page.configuration.brands[brand].label : translator.translate("card");
  const mark = brand ? makeMark(brand, null, "wpwl-brand-inline") : make("span", "wpwl-method-icon");
  mark.setAttribute("aria-hidden", "true");
  const head = make("label", "wpwl-method-head", {}, radio, make("span", "wpwl-method-title", {}, label), mark);
  const panel = make("div", "wpwl-method-panel", {}, container);
  make("div", `wpwl-method wpwl-method-${widget.key}`, {}, head, panel);
  const isBare = [...form.children].every((child) => child instanceof HTMLInputElement && child.type === "hidden");
  return { widget, radio, panel, isBare, choose() {} };
}

/**
 * @param {StoredWidget} widget
 * @param {string} name
 * @returns {Method[]}
 */
function listStoredMethods(widget, name) {
  const chosen = makeHidden("registrationId", "");
  widget.form.append(chosen);
  return widget.rows.map((row) => {
    joinRadios(row.radio, name);
    row.group.classList.add("wpwl-method");
    row.group.children[0].classList.add("wpwl-method-head");
    row.cvvPlace.classList.add("wpwl-method-panel");
    const choose = () => {
      chooseStoredCard(widget, row);
      chosen.value = row.card.id;
      if (widget.askedGroup) {
        row.cvvPlace.append(widget.askedGroup);
      }
    };
    return { widget, radio: row.radio, panel: row.cvvPlace, choose };
  });
}

/**
 * Makes all methods share one button. Their messages stand above it, and only those of the open method are shown.
 * @param {Place} place
 * @param {Widget[]} widgets
 */
function shareButton(place, widgets) {
  const { button } = widgets[0];
  const group = getClosest(button, ".wpwl-group-submit");
  button.classList.remove("wpwl-button-brand");
  for (const widget of widgets) {
    widget.form.id = makeId("form");
    getClosest(widget.button, ".wpwl-group-submit").remove();
    group.append(widget.status);
    getParent(button).before(widget.message);
    widget.button = button;
    widget.labelled = widgets[0].labelled;
  }
  place.footer = group;
  return group;
}
