// @ts-check
// What a page says about a wallet, and the card networks that a wallet is asked for.

import { readObject } from "./reading.js";
import { page } from "./state.js";
/** @import { Configuration } from "../types/service.d.ts" */

export const NOT_HERE = "this browser or device cannot pay with it";

// Card networks as Apple and Google spell them.
/** @type {Record<string, string[]>} */
const WALLET_NETWORKS = {
  VISA: ["visa", "VISA"],
  MASTER: ["masterCard", "MASTERCARD"],
  AMEX: ["amex", "AMEX"],
  DISCOVER: ["discover", "DISCOVER"],
  JCB: ["jcb", "JCB"],
  MAESTRO: ["maestro"],
  MADA: ["mada"],
};

/** @param {string} name */
export function readWalletOptions(name) {
  return readObject(page.options[name]) || {};
}

/**
 * Lists the networks of the form's card brands, or the usual ones where the form has none.
 * @param {Configuration} configuration
 * @param {0 | 1} spelling
 */
export function listNetworks({ brands }, spelling) {
  const taken = Object.keys(brands).filter((code) => WALLET_NETWORKS[code]);
  const codes = taken.length ? taken : ["VISA", "MASTER", "AMEX"];
  return codes.map((code) => WALLET_NETWORKS[code][spelling]).filter(Boolean);
}
