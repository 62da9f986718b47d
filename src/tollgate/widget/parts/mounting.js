// @ts-check
// Shows our forms in the place of the page's own.

import { makeAccordion } from "./accordion.js";
import { isArrived, isComeBack, readAddress } from "./addresses.js";
import { endAttempt } from "./attempt.js";
import { readBrandCodes } from "./brands.js";
import { addSaveBox, dropSecondSaveBox, makeCardForm } from "./cardForm.js";
import { configure } from "./configuration.js";
import { untilReachable } from "./connection.js";
import { makeDirectDebit } from "./directDebit.js";
import { make } from "./dom.js";
import { addResultUrl, addTestNote, adoptInputs, makeSubmitGroup } from "./forms.js";
import { INTEGRATION_ERRORS, callHook, makeIntegrationError, notifyMadeError } from "./hooks.js";
import { leadToResult } from "./leaving.js";
import { loadStyles } from "./looks.js";
import { isAccordion } from "./methods.js";
import { openMethodOf } from "./opening.js";
import { readGlobalOptions, readSettings } from "./options.js";
import { makeOtherBrand } from "./otherBrands.js";
import { makeNote, makePaidNote } from "./paid.js";
import { renderPayLabel, styleButton } from "./payButton.js";
import { mountedElements, showAt } from "./places.js";
import { publish } from "./publicApi.js";
import { showSkeleton } from "./skeleton.js";
import { page } from "./state.js";
import { hideOtherForms, makeStoredCards } from "./storedCards.js";
import { chooseTranslator } from "./texts.js";
import { makeWallet } from "./walletForm.js";
/** @import { Field, Place, ReportedError, ResultWindow, Widget } from "../types/page.d.ts" */
/** @import { Configuration, WidgetKind } from "../types/service.d.ts" */

/**
 * @param {HTMLElement} element
 * @returns {Place}
 */
function readPlace(element) {
  const { settings } = page;
  const action = settings.resultUrl || element.getAttribute("action") || element.getAttribute("data-action") || "";
  return {
    element,
    codes: readBrandCodes(element),
    translator: chooseTranslator(element),
    resultUrl: resolveAddress(action),
    target: element.getAttribute("target") || "",
    adopted: [...element.children],
  };
}

/**
 * Returns an absolute address. What is no address is left to the service, which refuses it by its parameter.
 * @param {string} action
 */
function resolveAddress(action) {
  try {
    return new URL(action, document.baseURI).href;
  } catch {
    return action;
  }
}

/** @param {HTMLElement[]} elements */
export async function mountAll(elements) {
  page.options = readGlobalOptions();
  page.settings = readSettings(page.options);
  elements.forEach(showSkeleton);
  try {
    checkOrigin();
    await configureFor(elements);
    // Some pages set their options as late as this, and the language is one of them.
    page.options = readGlobalOptions();
    page.settings = readSettings(page.options);
    const configuration = await configureFor(elements);
    page.styled = page.styled || loadStyles(page.settings);
    await page.styled;
    const there = keepConnected(elements);
    if (there.length && (page.isPaid || configuration.state === "paid")) {
      mountPaid(there, configuration);
    } else if (there.length) {
      await mountPlaces(there.map(readPlace));
    }
  } catch (thrown) {
    const error = /** @type {ReportedError} */ (thrown);
    page.styled = page.styled || loadStyles(page.settings);
    const retry = mayRetry(error) ? makeRetry(elements, error) : null;
    keepConnected(elements).forEach((element) => showUnavailable(element, error, { retry }));
    notifyMadeError(error);
  }
}

/** @param {HTMLElement[]} elements */
function configureFor(elements) {
  return configure([...new Set(elements.flatMap(readBrandCodes))], elements.map((element) => chooseTranslator(element).code));
}

/**
 * Returns the elements that are still in the page. Those that have left it may come back, and are mounted again then.
 * @param {HTMLElement[]} elements
 */
function keepConnected(elements) {
  elements.filter((element) => !element.isConnected).forEach((element) => mountedElements.delete(element));
  return elements.filter((element) => element.isConnected && !page.isUnloaded);
}

/** Refuses a page without an origin, such as a file or a sandbox: a frame could not be told whose page it may speak to. */
function checkOrigin() {
  if (window.origin === "null") {
    const advice = "serve it by http or https, not as a file or in a sandbox without allow-same-origin";
    throw makeIntegrationError("WidgetError", `a page without an origin of its own cannot show the payment form: ${advice}`);
  }
}

/**
 * @param {HTMLElement[]} elements
 * @param {Configuration} configuration
 */
function mountPaid(elements, { returnUrl }) {
  const [address, target] = [readAddress(returnUrl), chooseResultWindow(elements[0])];
  const result = page.isPaid || !address || isArrived(address, target) ? null : { address, target };
  const stay = () => elements.forEach((element) => showPaidAt(element, result));
  if (result && isComeBack()) {
    leadToResult(returnUrl, target, stay);
  } else {
    stay();
  }
}

/**
 * Chooses the window of the result. Without a click, no other window can be opened.
 * @param {HTMLElement} element
 */
function chooseResultWindow(element) {
  const named = page.settings.resultTarget || element.getAttribute("target") || "";
  return named.startsWith("_") ? named : "_top";
}

/** @param {Place[]} places */
async function mountPlaces(places) {
  const before = page.widgets.filter((widget) => widget.container.isConnected);
  const mounted = places.flatMap((place, index) => mountPlace(place, before.length === 0 && index === 0));
  page.widgets = [...before, ...mounted];
  if (!isAccordion()) {
    hideOtherForms(mounted);
  }
  if (page.configuration.isTest && !before.length && mounted.length) {
    addTestNote(mounted[0]);
  }
  const served = new Set(mounted.map((widget) => widget.place));
  places.filter((place) => !served.has(place)).forEach((place) => skipPlace(place, page.widgets.length === 0));
  publish();
  await Promise.all(mounted.flatMap((widget) => widget.frames).map((frame) => frame.ready));
  if (page.isUnloaded) {
    return;
  }
  callReadyHooks(mounted);
  mounted.forEach(dropSecondSaveBox);
  focusRequested(mounted);
}

/** @param {Widget[]} mounted */
function callReadyHooks(mounted) {
  const inline = mounted.filter((widget) => widget.opensDialog);
  if (mounted.length) {
    callHook("onReady", page.options, mounted.map(describeContainer));
  }
  if (inline.length) {
    callHook("onReadyExternal", page.options, inline.map(describeContainer));
  }
}

/** @param {Widget} widget */
function describeContainer(widget) {
  return { containerKey: widget.key, ccMethods: widget.codes || (widget.brand ? [widget.brand] : []) };
}

/**
 * @param {Place} place
 * @param {boolean} isFirst
 */
function mountPlace(place, isFirst) {
  const { brands, registrations } = page.configuration;
  const codes = place.codes.filter((code) => brands[code]);
  const cards = codes.filter((code) => brands[code].kind === "card");
  const forms = codes.filter((code) => code === cards[0] || !cards.includes(code)).map((code) => makeForm(place, code, cards));
  forms.forEach((widget, index) => finishForm(widget, index === 0));
  const nodes = forms.map((widget) => widget.container);
  if (isFirst && page.settings.showOneClickWidget && registrations.length) {
    const widget = makeStoredCards(place);
    nodes.unshift(widget.block);
    forms.unshift(widget);
  }
  showAt(place.element, isAccordion() && forms.length ? [makeAccordion(place, forms)] : nodes, place.adopted);
  return forms;
}

/**
 * Skips a place whose brands cannot be paid with here, such as a wallet that this browser does not have. The shopper is told
 * only where it is the only one.
 * @param {Place} place
 * @param {boolean} isOnlyOne
 */
function skipPlace(place, isOnlyOne) {
  const { leftOut } = page.configuration;
  const advice = place.codes.map((code) => `${code} (${leftOut[code]})`).join(", ") || "name some in data-brands";
  const message = `no brand of the form can be paid with here: ${advice}`;
  const error = makeIntegrationError("WidgetError", message, { brand: place.codes.join(" ") });
  if (isOnlyOne) {
    showUnavailable(place.element, error, { text: place.codes.length ? "methodUnavailable" : "" });
  }
  notifyMadeError(error);
}

/** @type {Partial<Record<WidgetKind, (place: Place, code: string, cards: string[]) => Widget>>} */
const FORM_MAKERS = {
  card: (place, _code, cards) => makeCardForm(place, cards),
  directDebit: makeDirectDebit,
  wallet: makeWallet,
};

/**
 * @param {Place} place
 * @param {string} code
 * @param {string[]} cards
 */
function makeForm(place, code, cards) {
  return (FORM_MAKERS[page.configuration.brands[code].kind] || makeOtherBrand)(place, code, cards);
}

/**
 * @param {Widget} widget
 * @param {boolean} isFirst
 */
function finishForm(widget, isFirst) {
  adoptInputs(widget, isFirst);
  if (widget.kind === "card") {
    addSaveBox(widget);
  }
  const { translator } = widget;
  const renderUsualLabel = () => (page.configuration.kind === "registration" ? translator.translate("register") : renderPayLabel(translator));
  widget.button.classList.toggle("wpwl-button-brand", Boolean(widget.brand));
  widget.form.append(
    // The mandate begins with "By confirming", so the button comes next.
    ...(widget.mandate ? [widget.mandate] : []),
    makeSubmitGroup(widget, widget.renderOwnLabel || renderUsualLabel),
  );
  addResultUrl(widget);
  styleButton(widget);
}

/** @param {Widget[]} widgets */
function focusRequested(widgets) {
  const isRequested = (/** @type {Field} */ field) => field.names.includes(page.settings.autofocus);
  const widget = widgets.find(({ fields }) => fields.some(isRequested));
  if (widget) {
    openMethodOf(widget);
    widget.fields.find(isRequested)?.focus();
  }
}

/**
 * Tells the shopper that nothing can be paid here, and offers to try again where that may help.
 * @param {HTMLElement} element
 * @param {ReportedError} error
 * @param {{ text?: string, retry?: (() => void) | null }} [choices]
 */
function showUnavailable(element, error, { text = "", retry = null } = {}) {
  const key = text || (error.name === "InvalidCheckoutIdError" ? "sessionGone" : error.text || "unexpectedError");
  const translator = chooseTranslator(element);
  const note = makeNote(translator, make("div", "wpwl-message wpwl-has-error", { role: "alert" }, translator.translate(key)));
  if (retry) {
    const button = make("button", "wpwl-button wpwl-button-retry", { type: "button" }, translator.translate("tryAgain"));
    button.addEventListener("click", retry);
    note.append(button);
  }
  showAt(element, [note]);
}

/**
 * Whether trying again may help. A checkout that is gone does not come back, and only the page's author can mend the page.
 * @param {ReportedError} error
 */
function mayRetry(error) {
  return error.name !== "InvalidCheckoutIdError" && !INTEGRATION_ERRORS.has(error);
}

/**
 * Mounts again by the button, or by itself when the service can be reached again; once, whichever comes first.
 * @param {HTMLElement[]} elements
 * @param {ReportedError} error
 */
function makeRetry(elements, error) {
  let isOver = false;
  const mountAgain = async () => {
    const there = isOver ? [] : keepConnected(elements);
    isOver = true;
    if (there.length) {
      await mountAll(there);
    }
  };
  if (error.text === "networkError") {
    untilReachable(() => !isOver && elements.some((element) => element.isConnected)).then(mountAgain);
  }
  return async () => {
    await mountAgain();
    // A shopper who pressed the button by a key finds the next one under the same key.
    const again = /** @type {HTMLElement | null} */ (document.querySelector(".wpwl-button-retry"));
    again?.focus();
  };
}

/**
 * @param {HTMLElement} element
 * @param {ResultWindow | null} result
 */
function showPaidAt(element, result) {
  const translator = chooseTranslator(element);
  const note = makePaidNote(translator);
  if (result) {
    const way = { href: result.address.href, target: result.target };
    note.append(make("a", "wpwl-button wpwl-button-result", way, translator.translate("nextStep")));
  }
  showAt(element, [note]);
}

/** Ends the attempt of a form that a framework has removed while it was paying: its frames are gone and do not answer. */
export function forgetRemoved() {
  const { attempt } = page;
  const isSilenced = attempt && attempt.widget.frames.length && !attempt.widget.container.isConnected;
  if (isSilenced && !attempt.isLeaving && !attempt.dialog) {
    endAttempt(attempt);
  }
}
