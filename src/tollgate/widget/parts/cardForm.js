// @ts-check
// The form for a new card: brand, number, expiry, holder, security code, and what the page wants besides.

import { isGiven, makeAskedFields, makeBillingBlock } from "./billing.js";
import { followNumber, makeBrandField } from "./brands.js";
import { makeFrameField } from "./cardFields.js";
import { make, makeId, setHidden } from "./dom.js";
import { makeExpiryField } from "./expiryField.js";
import { markOptional, showOptional } from "./fields.js";
import { makeWidget } from "./forms.js";
import { updateFrame } from "./frames.js";
import { callHook, hookSelf } from "./hooks.js";
import { makeInputField, makeWantedField } from "./inputs.js";
import { isAccordion } from "./methods.js";
import { addNumberMarks, followMarks } from "./numberMarks.js";
import { page } from "./state.js";
/** @import { CardWidget, Field, Place, Widget } from "../types/page.d.ts" */

/**
 * @param {Place} place
 * @param {string[]} codes
 */
export function makeCardForm(place, codes) {
  const { translator } = place;
  const brandField = makeBrandField(translator, codes, (code) => {
    changeBrand(widget, code);
    followMarks(widget);
  });
  /** @type {CardWidget} */
  const widget = Object.assign(makeWidget("card", { container: "card", form: "card" }, place, null), {
    brandField,
    codes,
    readBrand: () => brandField.control.value,
    takeDetectedBrands(/** @type {string[]} */ detected, /** @type {string | null} */ active) {
      callHook("onDetectBrand", hookSelf(widget), detected, active);
      if (followNumber(brandField, detected, active)) {
        changeBrand(widget, brandField.control.value);
      }
      followMarks(widget, { detected, active });
    },
  });
  const fields = makeCardFields(widget);
  const billing = makeBillingBlock(translator);
  const asks = codes.flatMap((code) => page.configuration.brands[code].asks);
  const present = [...fields, ...(billing ? billing.fields : [])];
  const asked = makeAskedFields(translator, asks.filter((name) => !name.startsWith("card.")), present);
  widget.fields = [...present, ...asked];
  widget.form.append(
    ...fields.map((field) => field.group),
    ...fields.flatMap((field) => field.hiddens || []),
    ...(billing ? [billing.group] : []),
    ...asked.map((field) => field.group),
  );
  widget.submitter = () => widget.fields.find((field) => field.name === "cardNumber")?.frame || null;
  return widget;
}

/**
 * @param {CardWidget} widget
 * @returns {Field[]}
 */
function makeCardFields(widget) {
  const { settings } = page;
  const isFramed = settings.enableSAQACompliance;
  const number = makeFrameField(widget, "number", () => ({
    ...brandOptions(widget),
    detects: settings.brandDetection,
    priority: settings.detectionPriority,
    formats: settings.numberFormatting,
    required: true,
  }));
  const cvv = makeFrameField(widget, "cvv", () => ({
    ...brandOptions(widget),
    masks: settings.maskCvv,
    allowsEmpty: mayCvvBeEmpty(widget),
    required: !mayCvvBeEmpty(widget),
  }));
  widget.cvvField = cvv;
  const expiry = isFramed ? makeFrameField(widget, "expiry", () => ({ required: true })) : makeExpiryField(widget.translator);
  if (!isFramed) {
    expiry.control.addEventListener("blur", () => callHook("onBlurExpiryDate", hookSelf(widget), expiry.validate() === ""));
  }
  addCvvHelp(widget, cvv);
  showCvv(widget);
  const holder = makeHolderFields(widget, isFramed);
  // In the order in which they are read and tabbed through.
  if (isAccordion()) {
    addNumberMarks(widget, number);
    return [number, widget.brandField, expiry, cvv, ...holder];
  }
  return [widget.brandField, number, expiry, cvv, ...holder];
}

/** @param {CardWidget} widget */
function brandOptions(widget) {
  return { accepted: widget.codes, brand: widget.brandField.control.value };
}

/**
 * Whether the form asks for the security code. Some brands have none, and some pages do not want to ask for it.
 * @param {CardWidget} widget
 */
function isCvvAsked(widget) {
  const { cvvLength } = page.configuration.brands[widget.readBrand()];
  return cvvLength !== 0 && (page.settings.requireCvv || page.configuration.requiresCvv);
}

/** @param {CardWidget} widget */
function mayCvvBeEmpty(widget) {
  return (page.settings.allowEmptyCvv && !page.configuration.requiresCvv) || !isCvvAsked(widget);
}

/**
 * @param {CardWidget} widget
 * @param {boolean} isFramed
 * @returns {Field[]}
 */
function makeHolderFields(widget, isFramed) {
  const { settings } = page;
  if (!settings.showCardHolder) {
    return [];
  }
  if (isFramed) {
    const mayBeEmpty = settings.allowEmptyCardHolderName;
    const framed = makeFrameField(widget, "holder", () => ({ allowsEmpty: mayBeEmpty, required: !mayBeEmpty }));
    if (mayBeEmpty) {
      markOptional(widget.translator, framed);
    }
    return [framed];
  }
  if (settings.forceCardHolderEqualsBillingName) {
    const names = [makeInputField(widget.translator, "givenName"), makeInputField(widget.translator, "surname")];
    widget.addFields = () => ({ "card.holder": names.map((field) => field.control.value.trim()).join(" ") });
    return names;
  }
  const holder = makeWantedField(widget.translator, "cardHolder", !settings.allowEmptyCardHolderName);
  holder.control.addEventListener("blur", () => callHook("onBlurCardHolder", hookSelf(widget), holder.validate() === ""));
  return [holder];
}

/**
 * @param {CardWidget} widget
 * @param {string} code
 */
function changeBrand(widget, code) {
  const allowsEmpty = mayCvvBeEmpty(widget);
  for (const frame of widget.frames.filter(({ field }) => field === "number" || field === "cvv")) {
    updateFrame(frame, { brand: code, ...(frame.field === "cvv" ? { allowsEmpty, required: !allowsEmpty } : {}) });
  }
  showCvv(widget);
  callHook("onChangeBrand", hookSelf(widget), code);
}

/** @param {CardWidget} widget */
function showCvv(widget) {
  const { cvvLength } = page.configuration.brands[widget.readBrand()];
  const { cvvField } = widget;
  if (cvvField) {
    setHidden(cvvField.group, !isCvvAsked(widget));
    showOptional(widget.translator, cvvField, mayCvvBeEmpty(widget));
  }
  if (widget.cvvHint) {
    const hints = [cvvLength === 4 ? "cvvHintAmex" : "cvvHint", ...(mayCvvBeEmpty(widget) ? ["cvvHintMaestro"] : [])];
    widget.cvvHint.textContent = hints.map((key) => widget.translator.translate(key)).join(" ");
  }
}

/**
 * @param {CardWidget} widget
 * @param {Field} cvv
 */
function addCvvHelp(widget, cvv) {
  if (!page.settings.showCVVHint) {
    return;
  }
  const id = makeId("cvvHint");
  const summary = make("summary", "wpwl-help-summary", {}, widget.translator.translate("cvvHelp"));
  widget.cvvHint = make("div", "wpwl-help-text", { id });
  cvv.control.setAttribute("aria-describedby", id);
  cvv.group.append(make("details", "wpwl-help wpwl-help-cvv", {}, summary, widget.cvvHint));
}

/**
 * Adds the box that stores the card, unless the page brings a box of its own or the merchant has decided already.
 * @param {Widget} widget
 */
export function addSaveBox(widget) {
  const isWanted = page.settings.offersRegistration && page.configuration.kind === "payment" && !isGiven("createRegistration");
  if (!isWanted || widget.form.querySelector("[name=createRegistration]")) {
    return;
  }
  const id = makeId("save");
  const box = make("input", "wpwl-control-createRegistration", { id, type: "checkbox", name: "createRegistration", value: "true" });
  const label = make("label", "wpwl-label-createRegistration", { for: id }, widget.translator.translate("saveCard"));
  widget.saveBox = make("div", "wpwl-group wpwl-group-createRegistration", {}, box, label);
  widget.form.append(widget.saveBox);
}

/**
 * Removes our box where the page brought its own when it was told that the form is ready.
 * @param {Widget} widget
 */
export function dropSecondSaveBox(widget) {
  if (widget.saveBox && widget.form.querySelectorAll("[name=createRegistration]").length > 1) {
    widget.saveBox.remove();
  }
}
