// @ts-check
// The address of this script tells what its bytes do not: the host of the service and the checkout.

export const SCRIPT_NAME = "paymentWidgets.js";

function findOwnScript() {
  const current = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  if (current && current.src.includes(SCRIPT_NAME)) {
    return current;
  }
  return [...document.scripts].filter((script) => script.src.includes(SCRIPT_NAME)).pop() || null;
}

/** @param {HTMLScriptElement | null} script */
function readSource(script) {
  const address = new URL(script ? script.src : location.href, document.baseURI);
  // Some write what comes of the checkout behind its id, as in "<id>/registration"; the service knows it anyway.
  const [checkoutId] = (address.searchParams.get("checkoutId") || "").split("/");
  return Object.freeze({ origin: address.origin, checkoutId });
}

export const source = readSource(findOwnScript());

/** @param {string} word */
export function checkoutAddress(word) {
  return `${source.origin}/v1/checkouts/${encodeURIComponent(source.checkoutId)}/${word}`;
}

/** @param {string} name */
export function assetAddress(name) {
  return `${source.origin}/v1/paymentWidgets/${VERSION}/${encodeURIComponent(name)}`;
}
