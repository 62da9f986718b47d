// @ts-check
// The page's side of one frame of the service: makes it, connects to it over a channel of their own, and exchanges
// messages. What is typed in there stays there; only claims about it come out.

import { make } from "./dom.js";
import { makeIntegrationError, notifyError, notifyMadeError } from "./hooks.js";
import { source } from "./source.js";
import { page } from "./state.js";
/** @import { FrameFieldName, FrameOptions, FrameQuestion, FrameState, FromFrame, ToFrame } from "../types/frames.d.ts" */
/** @import { Answer, Frame, FrameRequest, ReceiveFromFrame } from "../types/page.d.ts" */

const FRAME_PATIENCE_MS = 20000;

// A frame that was loaded says so at once. By then, a silent one is the browser's own page about a failed connection.
const RELOAD_MS = 4000;
export const ANSWER_PATIENCE_MS = 70000;
export const VALIDITY_PATIENCE_MS = 5000;
const FRAME_NAMES = { number: "card.number", cvv: "card.cvv", holder: "card.holder", expiry: "card.expiry" };
const ANCESTORS_MAX = 5;
/** @type {FrameState} */
const EMPTY = Object.freeze({ isValid: false, isPotentiallyValid: true, isEmpty: true });

/** Lists the origins of the pages around this one. Where the browser does not tell, the referrer often names the nearest. */
function listAncestors() {
  if (location.ancestorOrigins) {
    return [...location.ancestorOrigins];
  }
  return window.parent !== window && document.referrer ? [new URL(document.referrer).origin] : [];
}

/** @param {FrameFieldName} field */
function frameAddress(field) {
  const origins = [...new Set([window.origin, ...listAncestors()])].slice(0, ANCESTORS_MAX);
  return `${source.origin}/v1/paymentWidgets/frame/${field}?${origins.map((origin) => `origin=${encodeURIComponent(origin)}`).join("&")}`;
}

/**
 * @param {FrameRequest} request
 * @param {ReceiveFromFrame} receive
 */
export function makeFrame(request, receive) {
  const element = make("iframe", request.classes, {
    name: FRAME_NAMES[request.field],
    title: request.title,
    src: frameAddress(request.field),
    height: 46,
    frameborder: 0,
    scrolling: "no",
    referrerpolicy: "no-referrer",
  });
  /** @type {Frame} */
  const frame = {
    element,
    field: request.field,
    state: EMPTY,
    options: request.options,
    isReady: false,
    isGivenUp: false,
    port: null,
    asks: new Map(),
    asked: 0,
    ready: Promise.resolve(false),
    becomesReady: null,
    reloads: 0,
    reloading: undefined,
    patience: undefined,
    giveUp(text) {
      frame.isGivenUp = true;
      receive({ type: "silence", text }, frame);
      endWait(frame, false);
    },
  };
  expectFrame(frame);
  element.addEventListener("load", () => {
    connectFrame(frame, request.group, receive);
    clearTimeout(frame.reloading);
    frame.reloading = setTimeout(() => !frame.isReady && !frame.reloads && reloadFrame(frame), RELOAD_MS);
  });
  return frame;
}

/** @param {Frame} frame */
export function reloadFrame(frame) {
  if (frame.element.isConnected && !page.isUnloaded && !page.isBlocked) {
    frame.reloads += 1;
    frame.isGivenUp = false;
    closeFrame(frame);
    expectFrame(frame);
    frame.element.src = frameAddress(frame.field);
  }
}

/**
 * Waits for the frame's first message: `ready` becomes true with it, or false when it takes too long. What waits when the
 * frame is loaded again goes on waiting for the same.
 * @param {Frame} frame
 */
function expectFrame(frame) {
  clearTimeout(frame.patience);
  frame.isReady = false;
  if (!frame.becomesReady) {
    frame.ready = new Promise((resolve) => {
      frame.becomesReady = resolve;
    });
  }
  frame.patience = setTimeout(() => complainIfSilent(frame), FRAME_PATIENCE_MS);
}

/**
 * @param {Frame} frame
 * @param {boolean} isReady
 */
function endWait(frame, isReady) {
  if (frame.becomesReady) {
    frame.becomesReady(isReady);
    frame.becomesReady = null;
  }
}

/**
 * @param {Frame} frame
 * @param {string} group
 * @param {ReceiveFromFrame} receive
 */
function connectFrame(frame, group, receive) {
  const { port1, port2 } = new MessageChannel();
  // A page that moves the frame about makes the browser load it anew.
  if (frame.port) {
    closeFrame(frame);
    expectFrame(frame);
  }
  frame.port = port1;
  frame.state = EMPTY;
  port1.onmessage = (event) => receiveFromFrame(frame, event.data, receive);
  const connect = { tollgate: "connect", field: frame.field, group, options: frame.options() };
  frame.element.contentWindow?.postMessage(connect, source.origin, [port2]);
}

/**
 * @param {Frame} frame
 * @param {FromFrame | null} message
 * @param {ReceiveFromFrame} receive
 */
function receiveFromFrame(frame, message, receive) {
  if (message === null || typeof message !== "object") {
    return;
  }
  if (message.type === "change" || message.type === "blur") {
    frame.state = { ...frame.state, ...message };
  }
  if (message.type === "ready") {
    clearTimeout(frame.patience);
    Object.assign(frame, { isReady: true, isGivenUp: false });
    endWait(frame, true);
    askAgain(frame);
  }
  if (message.type === "validity" || message.type === "answer") {
    const asked = frame.asks.get(message.ask);
    frame.asks.delete(message.ask);
    asked?.resolve(message);
  } else {
    receive(message, frame);
  }
}

/**
 * Repeats questions that a frame was asked before it was loaded again. Payments are not repeated.
 * @param {Frame} frame
 */
function askAgain(frame) {
  frame.asks.forEach(({ message }) => message.type === "validate" && sendToFrame(frame, message));
}

/** @param {Frame} frame */
function complainIfSilent(frame) {
  if (!frame.isReady && !frame.isGivenUp && frame.element.isConnected && !page.isUnloaded) {
    notifyError("PciIframeCommunicationError", `the frame ${FRAME_NAMES[frame.field]} does not answer`);
    // The connection is not to blame where the frame was loaded three times while the service itself can be reached.
    frame.giveUp(frame.reloads > 1 ? "unexpectedError" : "networkError");
  }
  endWait(frame, false);
}

// Nobody can pay where a page's policy forbids these; where it forbids a style or a picture, the form only looks poorer.
const NEEDED_DIRECTIVES = ["frame-src", "child-src", "connect-src"];

/**
 * Ends the wait for frames that the page's own policy blocks.
 * @param {SecurityPolicyViolationEvent} event
 */
export function receivePolicyViolation({ blockedURI, effectiveDirective, disposition }) {
  if (disposition !== "enforce" || !NEEDED_DIRECTIVES.includes(effectiveDirective) || !isOfService(blockedURI)) {
    return;
  }
  const advice = `add ${source.origin} to ${effectiveDirective}`;
  if (!page.isBlocked) {
    page.isBlocked = true;
    notifyMadeError(makeIntegrationError("WidgetError", `the page's Content-Security-Policy blocks the payment form: ${advice}`));
  }
  if (effectiveDirective !== "connect-src") {
    const waiting = page.widgets.flatMap((widget) => widget.frames).filter((frame) => !frame.isReady && !frame.isGivenUp);
    waiting.forEach((frame) => frame.giveUp("unexpectedError"));
  }
}

/** @param {string} address */
function isOfService(address) {
  try {
    return new URL(address).origin === source.origin;
  } catch {
    return false;
  }
}

/**
 * @param {Frame} frame
 * @param {ToFrame} message
 */
export function sendToFrame(frame, message) {
  if (frame.port) {
    frame.port.postMessage(message);
  }
}

/**
 * @param {Frame} frame
 * @param {Partial<FrameOptions>} options
 */
export function updateFrame(frame, options) {
  sendToFrame(frame, { type: "options", options });
}

/**
 * Asks a frame something. The wait for the answer is bounded, because a frame that was removed does not answer.
 * @param {Frame} frame
 * @param {FrameQuestion} message
 * @param {number} patience
 * @returns {Promise<Answer>}
 */
export function askFrame(frame, message, patience) {
  frame.asked += 1;
  const ask = frame.asked;
  const asked = { ...message, ask };
  return new Promise((resolve) => {
    frame.asks.set(ask, { resolve, message: asked });
    setTimeout(() => {
      frame.asks.delete(ask);
      resolve({ type: "silence" });
    }, patience);
    sendToFrame(frame, asked);
  });
}

/** @param {Frame} frame */
export function closeFrame(frame) {
  if (frame.port) {
    frame.port.close();
    frame.port = null;
  }
}
