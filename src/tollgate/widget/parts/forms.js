// @ts-check
// What all forms have in common: container, form element, pay button, and the inputs that the page brings along.

import { make, makeContainerId, makeHex, makeHidden, setStyles } from "./dom.js";
import { showMessage } from "./messages.js";
import { startPaying } from "./payButton.js";
import { checkoutAddress } from "./source.js";
import { page } from "./state.js";
import { pay } from "./submit.js";
/** @import { Place, Widget } from "../types/page.d.ts" */
/** @import { WidgetKind } from "../types/service.d.ts" */

/** @type {Record<WidgetKind, string>} */
export const FORM_HOOKS = {
  card: "onBeforeSubmitCard",
  registration: "onBeforeSubmitOneClickCard",
  directDebit: "onBeforeSubmitDirectDebit",
  onlineTransfer: "onBeforeSubmitOnlineTransfer",
  virtualAccount: "onBeforeSubmitVirtualAccount",
  inlineVirtualAccount: "onBeforeSubmitInlineVirtualAccount",
  prepayment: "onBeforeSubmitPrepayment",
  wallet: "onBeforeSubmitWallet",
};

/**
 * Makes a form. `names` are the last words of the container's and the form's class; `brand` is null where the form itself
 * asks for it.
 * @param {WidgetKind} kind
 * @param {{ container: string, form: string, id?: string }} names
 * @param {Place} place
 * @param {string | null} brand
 * @returns {Widget}
 */
export function makeWidget(kind, names, place, brand) {
  const { translator, target } = place;
  const form = make("form", `wpwl-form wpwl-form-${names.form} wpwl-clearfix`, {
    action: checkoutAddress(page.configuration.kind),
    method: "POST",
    target: page.settings.paymentTarget || "cnpIframe",
    lang: translator.tag,
    dir: translator.dir,
    "aria-label": brand ? page.configuration.brands[brand].label : translator.translate(kind === "registration" ? "storedCards" : "card"),
    "accept-charset": "UTF-8",
  });
  // The form itself says what is wrong, beside the field and in the shopper's language.
  form.noValidate = true;
  const container = make(
    "div",
    `wpwl-container wpwl-container-${names.container}`,
    { id: makeContainerId(names.id || kind), lang: translator.tag, dir: translator.dir },
    form,
  );
  setStyles(container, page.settings.spinnerColor ? { "--wpwl-spinner": page.settings.spinnerColor } : {});
  /** @type {Widget} */
  const widget = {
    kind,
    key: names.container,
    brand,
    translator,
    place,
    container,
    form,
    hook: FORM_HOOKS[kind],
    fields: [],
    frames: [],
    group: makeHex(16),
    submitter: () => null,
    readBrand: () => brand,
    resultTarget: page.settings.resultTarget || target || "_top",
    message: make("div", "wpwl-message", { role: "alert", tabindex: -1 }),
    status: make("div", "wpwl-status", { role: "status" }),
    button: make("button", "wpwl-button wpwl-button-pay", { type: "submit", name: "pay", "data-action": "submit" }),
    labelled: { text: "" },
    renderLabel: () => "",
  };
  showMessage(widget, "");
  listenToForm(widget);
  return widget;
}

/** @param {Widget} widget */
function listenToForm(widget) {
  const { form } = widget;
  form.addEventListener("submit", (event) => {
    const isBlocked = event.defaultPrevented;
    event.preventDefault();
    // A form of the shop around ours must not be submitted with it.
    if (widget.container.closest("form")) {
      event.stopPropagation();
    }
    if (!isBlocked) {
      pay(widget);
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && page.settings.disableSubmitOnEnter && event.target instanceof HTMLInputElement) {
      event.preventDefault();
    }
  });
  // Pages submit forms by themselves too; the browser's own way would post only what is in the page.
  form.submit = () => startPaying(widget);
}

/**
 * @param {Widget} widget
 * @param {() => string} renderLabel
 */
export function makeSubmitGroup(widget, renderLabel) {
  widget.renderLabel = renderLabel;
  widget.labelled = { text: renderLabel() };
  widget.button.append(make("span", "wpwl-button-text", {}, widget.labelled.text));
  const wrapper = make("div", "wpwl-wrapper wpwl-wrapper-submit", {}, widget.button);
  return make("div", "wpwl-group wpwl-group-submit wpwl-clearfix", {}, widget.message, wrapper, widget.status);
}

/**
 * Takes over the inputs that the page put into its own form. They stand once, so that page and shopper find them in one place:
 * with the card where cards are taken, else with the first form.
 * @param {Widget} widget
 * @param {boolean} isFirst
 */
export function adoptInputs(widget, isFirst) {
  const { place } = widget;
  const takesCards = place.codes.some((code) => page.configuration.brands[code]?.kind === "card");
  const isHost = widget.kind === "registration" ? !place.host : takesCards ? widget.kind === "card" : isFirst;
  if (isHost) {
    place.host = widget;
    widget.form.append(...place.element.children);
  }
}

/** @param {Widget} widget */
export function addResultUrl(widget) {
  if (!page.configuration.resultUrl) {
    widget.form.append(makeHidden("shopperResultUrl", widget.place.resultUrl));
  }
}

/**
 * Adds the note that this is a test, once on a page. Below the one button of the accordion it moves nothing.
 * @param {Widget} widget
 */
export function addTestNote({ container, place, translator }) {
  const note = make("div", "wpwl-message wpwl-message-test", { role: "note" }, translator.translate("testMode"));
  if (place.footer) {
    place.footer.append(note);
  } else {
    container.prepend(note);
  }
}
