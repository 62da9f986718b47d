// @ts-check
// Connects once to the one page that this frame was made for, and does what that page requests.

import { has, isRecord } from "../../input/records.js";
import { TEXT_LENGTH_MAX } from "./options.js";
import { catchUp, clear, doWithoutSheet, field, input, listenToInput, options, placeholderStyle, react, takeOptions, validate } from "./page.js";
import { isConnected, openPort, pageOrigin, sendToPage } from "./port.js";
import { joinGroup, receiveFromSibling } from "./siblings.js";
import { submit } from "./submitting.js";
/** @import { ToFrame } from "../../types/frames.d.ts" */

/** @type {{ [Type in ToFrame["type"]]: (request: ToFrame & { type: Type }) => void }} */
const PAGE_REQUESTS = {
  options: ({ options: given }) => takeOptions(given),
  focus: () => input.focus(),
  clear,
  validate: ({ ask }) => {
    catchUp();
    const { isValid, kind, error } = validate();
    sendToPage({ type: "validity", ask, isValid, kind, errors: error === null ? {} : { [field]: error } });
  },
  submit,
};

/** @param {MessageEvent} event */
function receiveFromPage({ data: request }) {
  if (!isRecord(request) || typeof request.type !== "string" || !has(PAGE_REQUESTS, request.type)) return;
  const answer = /** @type {(request: object) => void} */ (PAGE_REQUESTS[request.type]);
  answer(request);
}

/** @param {MessageEvent} event */
function isConnection(event) {
  if (isConnected() || event.source !== window.parent || event.origin !== pageOrigin) return false;
  const { data, ports } = event;
  if (!isRecord(data) || data.tollgate !== "connect" || data.field !== field || ports.length !== 1) return false;
  return typeof data.group === "string" && data.group.length <= TEXT_LENGTH_MAX;
}

/** @param {MessageEvent} event */
function connect(event) {
  if (!isConnection(event)) return;
  window.removeEventListener("message", connect);
  openPort(event.ports[0], receiveFromPage);
  takeOptions(event.data.options);
  joinGroup(event.data.group);
  sendToPage({ type: "ready" });
  if (input.value !== "") react(); // Somebody, or the browser, may have filled it in before.
  if (options.autofocus) input.focus();
}

// Shown on its own, this page is nobody's frame.
if (window.parent !== window) {
  window.addEventListener("message", connect);
  window.addEventListener("message", receiveFromSibling);
  if (placeholderStyle === null) doWithoutSheet();
  listenToInput();
}
