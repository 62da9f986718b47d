// @ts-check
// Calls the functions that pages put into wpwlOptions, and reports errors to the page. Functions are looked up when they
// are due, so a page may set them late; an error in one of them goes to the browser's console and stops nothing of ours.

import { page } from "./state.js";
/** @import { Frame, Permission, ReportedError, Widget } from "../types/page.d.ts" */

/**
 * @param {string} name
 * @param {string} message
 * @param {Partial<ReportedError>} [more]
 */
export function makeError(name, message, more = {}) {
  return Object.assign(new Error(message), { name }, more);
}

/**
 * Errors that only the page's author can mend. They hold nothing about the shopper.
 * @type {WeakSet<Error>}
 */
export const INTEGRATION_ERRORS = new WeakSet();
/** @type {Set<string>} */
const reportedMessages = new Set();

/**
 * @param {string} name
 * @param {string} message
 * @param {Partial<ReportedError>} [more]
 */
export function makeIntegrationError(name, message, more) {
  const fault = makeError(name, message, more);
  INTEGRATION_ERRORS.add(fault);
  return fault;
}

/**
 * Returns the message of whatever was thrown, which need not be an error.
 * @param {unknown} thrown
 */
export function readErrorMessage(thrown) {
  return String(/** @type {Partial<Error> | null | undefined} */ (thrown)?.message || "");
}

/** @param {unknown} fault */
function throwLater(fault) {
  setTimeout(() => {
    throw fault;
  });
}

/**
 * @param {string} name
 * @param {unknown} self
 * @param {...unknown} values
 * @returns {unknown}
 */
export function callHook(name, self, ...values) {
  const hook = page.options[name];
  if (typeof hook !== "function") {
    return undefined;
  }
  try {
    return hook.apply(self, values);
  } catch (fault) {
    return throwLater(fault);
  }
}

/**
 * @param {string} name
 * @param {string} message
 * @param {Partial<ReportedError>} [more]
 */
export function notifyError(name, message, more) {
  notifyMadeError(makeError(name, message, more));
}

/**
 * Reports an error to the page. Where the page does not listen, its author finds the error in the browser's console, once.
 * @param {ReportedError} fault
 */
export function notifyMadeError(fault) {
  if (typeof page.options.onError === "function") {
    callHook("onError", page.options, fault);
  } else if (INTEGRATION_ERRORS.has(fault) && !reportedMessages.has(fault.message)) {
    reportedMessages.add(fault.message);
    throwLater(fault);
  }
}

/**
 * Returns `this` for a page's function, with objects of window.jQuery where the page has it, and else plain lists.
 * @param {Widget} widget
 * @param {Frame} [frame]
 */
export function hookSelf(widget, frame) {
  const wrap = typeof window.jQuery === "function" ? window.jQuery : (/** @type {Element[]} */ elements) => elements;
  return { $form: wrap([widget.form]), $iframe: wrap(frame ? [frame.element] : []), form: widget.form };
}

/**
 * Whether something can be awaited, as the language itself sees it: libraries have promises of their own.
 * @param {unknown} value
 * @returns {value is PromiseLike<unknown>}
 */
function isPromise(value) {
  const isObject = value !== null && (typeof value === "object" || typeof value === "function");
  return isObject && "then" in value && typeof value.then === "function";
}

/**
 * Asks the page whether the shopper may pay.
 * @param {string} name
 * @param {Widget} widget
 * @returns {Permission}
 */
export function askHook(name, widget) {
  const verdict = callGuardHook(name, widget);
  if (verdict === false) {
    return false;
  }
  const promised = typeof page.options[`${name}Promise`] === "function" ? callHook(`${name}Promise`, widget.form) : undefined;
  const waits = [verdict, promised].filter(isPromise);
  return waits.length ? agreeAll(waits) : promised !== false;
}

/**
 * Calls the page's function with a real event, dispatched to the form, by which the page may answer too.
 * @param {string} name
 * @param {Widget} widget
 * @returns {Permission}
 */
function callGuardHook(name, widget) {
  const hook = page.options[name];
  if (typeof hook !== "function") {
    return true;
  }
  /** @type {unknown} */
  let verdict = false;
  const event = new Event("wpwl:beforesubmit", { cancelable: true });
  const call = (/** @type {Event} */ dispatched) => {
    try {
      verdict = hook.call(widget.form, dispatched);
    } catch (fault) {
      throwLater(fault);
    }
  };
  widget.form.addEventListener(event.type, call, { once: true });
  widget.form.dispatchEvent(event);
  if (event.defaultPrevented) {
    return false;
  }
  const answered = /** @type {unknown} */ (verdict);
  if (!isPromise(answered)) {
    return answered !== false;
  }
  return Promise.resolve(answered).then((answer) => answer !== false && !event.defaultPrevented);
}

/** @param {unknown[]} waits */
async function agreeAll(waits) {
  try {
    return (await Promise.all(waits)).every((answer) => answer !== false);
  } catch {
    return false;
  }
}
