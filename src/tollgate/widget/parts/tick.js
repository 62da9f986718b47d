// @ts-check
// The tick that says that it is paid, for the moment before the browser goes to the result.

import { isOfWeb } from "./addresses.js";
import { make } from "./dom.js";
import { wait } from "./state.js";
/** @import { Widget } from "../types/page.d.ts" */

const TICK_MS = 500;

/**
 * Whether the browser waits for the tick. It does not for shoppers who want less motion, nor for windows and apps, which
 * browsers open only shortly after a click.
 * @param {string} url
 * @param {string} target
 */
function maySeeTick(url, target) {
  const isHere = !target || target.startsWith("_");
  return isHere && isOfWeb(new URL(url)) && !document.hidden && !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/**
 * @param {Widget} widget
 * @param {string} url
 */
export async function showTick(widget, url) {
  widget.status.textContent = widget.translator.translate("paymentDone");
  widget.button.querySelectorAll(".wpwl-spinner, .wpwl-tick").forEach((mark) => mark.remove());
  widget.button.append(make("span", "wpwl-tick", { "aria-hidden": "true" }));
  if (maySeeTick(url, widget.resultTarget)) {
    await Promise.race([wait(TICK_MS), untilHidden()]);
  }
}

/** Waits until the page is hidden, when a browser may stop it at any moment. */
function untilHidden() {
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}
