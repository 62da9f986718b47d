// @ts-check
// What a shopper agrees to by paying with a direct debit. The service writes it, in the form's language and with the
// creditor's name; a page may put a text or an element of its own in its place, or show it elsewhere.

import { make, makeId } from "./dom.js";
import { callHook, hookSelf } from "./hooks.js";
import { page } from "./state.js";
/** @import { Widget } from "../types/page.d.ts" */

/**
 * @param {Widget} widget
 * @param {string} code
 */
export function makeMandate(widget, code) {
  const { mandate } = page.configuration.brands[code];
  const own = mandate && mandate.texts[widget.translator.code];
  if (!own) {
    return null;
  }
  const { creditor, identifier } = mandate;
  const shown = callHook("onShowMandate", hookSelf(widget), { brand: code, creditor, identifier, text: own });
  if (shown === false) {
    return null;
  }
  const isOwn = typeof shown === "string" || shown instanceof Node;
  const text = make("div", "wpwl-help wpwl-mandate", { id: makeId("mandate") }, isOwn ? shown : own);
  return make("div", "wpwl-group wpwl-group-mandate", {}, text);
}
