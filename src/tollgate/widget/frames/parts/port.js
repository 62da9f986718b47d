// @ts-check
// The channel to the page that this frame was made for. It is opened once.

/** @import { FromFrame } from "../../types/frames.d.ts" */

/** The page that may show this frame, by the policy of the frame, and the only one that may connect. */
export const pageOrigin = new URLSearchParams(location.search).get("origin");

/** @type {MessagePort | null} */
let port = null;

export function isConnected() {
  return port !== null;
}

/**
 * @param {MessagePort} given
 * @param {(event: MessageEvent) => void} receive
 */
export function openPort(given, receive) {
  port = given;
  port.onmessage = receive;
}

/** @param {FromFrame} message */
export function sendToPage(message) {
  if (port !== null) port.postMessage(message);
}
