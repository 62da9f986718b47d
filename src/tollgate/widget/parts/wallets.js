// @ts-check
// The wallets of a live host: each loads its own script, and is left out where this browser cannot pay with it.

import { applePay } from "./applePay.js";
import { make } from "./dom.js";
import { googlePay } from "./googlePay.js";
import { readErrorMessage } from "./hooks.js";
import { SCRIPT_NAME } from "./source.js";
import { wait } from "./state.js";
import { NOT_HERE } from "./walletOptions.js";
/** @import { Attributes, WalletRow } from "../types/page.d.ts" */
/** @import { Configuration, Wallet } from "../types/service.d.ts" */

const WALLET_PATIENCE_MS = 4000;

/** @type {Record<Wallet["name"], WalletRow>} */
export const WALLETS = { applePay, googlePay };

/**
 * The scripts of wallets that were asked for, by their addresses.
 * @type {Map<string, Promise<unknown>>}
 */
const walletScripts = new Map();

/** @type {Set<string>} */
const warned = new Set();

/**
 * Leaves out wallets that this browser cannot pay with, before any form is made.
 * @param {Configuration} configuration
 */
export async function offerWallets(configuration) {
  const { brands, leftOut } = configuration;
  const late = wait(WALLET_PATIENCE_MS).then(() => "its script did not load");
  const checks = Object.entries(brands).map(async ([code, { wallet }]) => {
    const obstacle = wallet?.script ? await Promise.race([findWalletObstacle(wallet, wallet.script, configuration), late]) : "";
    if (obstacle) {
      delete brands[code];
      leftOut[code] = obstacle;
    }
  });
  await Promise.all(checks);
  warnOfLeftOut(leftOut);
  return configuration;
}

/**
 * @param {Wallet} wallet
 * @param {string} src
 * @param {Configuration} configuration
 */
async function findWalletObstacle(wallet, src, configuration) {
  const row = WALLETS[wallet.name];
  try {
    const loading = walletScripts.get(src) || loadWalletScript(src, row.scriptAttributes);
    walletScripts.set(src, loading);
    await loading;
    return await row.findObstacle(wallet, configuration);
  } catch (error) {
    return readErrorMessage(error) || NOT_HERE;
  }
}

/**
 * @param {string} src
 * @param {Attributes} attributes
 */
function loadWalletScript(src, attributes) {
  const script = make("script", "", { src, ...attributes });
  const loading = new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error(`its script was blocked: add ${new URL(src).origin} to script-src`)));
  });
  document.head.append(script);
  return loading;
}

/** @param {Record<string, string>} leftOut */
function warnOfLeftOut(leftOut) {
  for (const [code, reason] of Object.entries(leftOut).filter(([left]) => !warned.has(left))) {
    warned.add(code);
    console.warn(`${SCRIPT_NAME} leaves out ${code}: ${reason}`);
  }
}

