// @ts-check
// What one run of this script knows: the options of the page, the checkout's configuration, the forms it has
// shown, and the one attempt that may be under way. Everything else is read from here.

import { readSettings } from "./options.js";
/** @import { PageState } from "../types/page.d.ts" */
/** @import { Configuration } from "../types/service.d.ts" */

/** @type {Configuration} */
export const NOT_CONFIGURED = Object.freeze({
  state: "unknown",
  kind: "payment",
  isTest: false,
  requiresCvv: false,
  resultUrl: null,
  given: [],
  postcodes: {},
  brands: {},
  leftOut: {},
  registrations: [],
});

/** @type {PageState} */
export const page = {
  options: {},
  settings: readSettings({}),
  configuration: NOT_CONFIGURED,
  widgets: [],
  attempt: null,
  isBlocked: false,
  isUnloaded: false,
  isPaid: false,
  isOutcomeUnknown: false,
  trouble: "",
  losesWindows: false,
  styled: null,
  hasSkeletonRules: false,
  unloadTasks: [],
};

/** @param {() => void} task */
export function onUnload(task) {
  page.unloadTasks.push(task);
}

/**
 * Listens until the script is unloaded.
 * @template {Event} Kind
 * @param {EventTarget} target
 * @param {string} kind
 * @param {(event: Kind) => void} listener
 * @param {boolean} [isCapturing]
 */
export function listen(target, kind, listener, isCapturing = false) {
  const listening = /** @type {(event: Event) => void} */ (listener);
  target.addEventListener(kind, listening, isCapturing);
  onUnload(() => target.removeEventListener(kind, listening, isCapturing));
}

/**
 * @param {number} milliseconds
 * @returns {Promise<void>}
 */
export function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
