// @ts-check
// How the frames of one card form find each other and how the number's frame collects the others' values: by messages
// that only windows of the service can read, between children of one page. The number itself is never sent.

import { readToday } from "../../input/expiry.js";
import { has, isRecord } from "../../input/records.js";
import { FIELDS, validateField } from "./fields.js";
import { mergeOptions } from "./options.js";
import { clear, field, input, options } from "./page.js";
/** @import { Collected, FrameFieldName, Parameters, SiblingMessages } from "../../types/frames.d.ts" */

const COLLECT_PATIENCE_MS = 3000;

/**
 * The fields of our group by the windows of their frames.
 * @type {Map<Window, FrameFieldName>}
 */
const siblings = new Map();

/**
 * What takes the answers to a question, by the name of the question.
 * @type {Map<string, (source: Window, values: Parameters, error: string | null) => void>}
 */
const collections = new Map();

/** @type {string | null} */
let group = null;

/**
 * Whether a window is another child of our page. The page itself is none, even where it is of our origin and its own parent.
 * @param {MessageEventSource | null} source
 * @returns {source is Window}
 */
function isSibling(source) {
  if (source === null || source === window || source === window.parent) return false;
  const { closed, parent } = /** @type {Window} */ (source);
  return !closed && parent === window.parent;
}

/**
 * @template {keyof SiblingMessages} Kind
 * @param {Window} sibling
 * @param {Kind} kind
 * @param {SiblingMessages[Kind]} content
 */
function sendToSibling(sibling, kind, content) {
  sibling.postMessage({ tollgateFrame: kind, group, ...content }, location.origin);
}

/**
 * Whether a frame is ours and loaded. Frames of the shop cannot be read; ours greet us when they are loaded.
 * @param {Window} other
 */
function isOfOurOrigin(other) {
  try {
    return other.location.origin === location.origin;
  } catch {
    return false;
  }
}

/** @param {string} name */
export function joinGroup(name) {
  group = name;
  for (let place = 0; place < window.parent.length; place += 1) {
    const other = window.parent[place];
    if (isSibling(other) && isOfOurOrigin(other)) sendToSibling(other, "hello", { field, isReply: false });
  }
}

/** @type {{ [Kind in keyof SiblingMessages]: (source: Window, message: SiblingMessages[Kind]) => void }} */
const SIBLING_MESSAGES = {
  hello: (source, { field: theirs, isReply }) => {
    if (!has(FIELDS, theirs)) return;
    siblings.set(source, theirs);
    if (!isReply) sendToSibling(source, "hello", { field, isReply: true });
  },
  ask: (source, { question, brand }) => {
    if (siblings.get(source) !== "number" || field === "number") return;
    const current = field === "cvv" ? mergeOptions(options, { brand }) : options;
    const { isEmpty, error } = validateField(field, input.value, current, readToday());
    const values = error === null && !isEmpty ? FIELDS[field].values(input.value, readToday()) : {};
    sendToSibling(source, "values", { question, values, error });
  },
  values: (source, { question, values, error }) => {
    const take = collections.get(question);
    if (take && siblings.has(source)) take(source, values, error);
  },
  spent: (source) => {
    if (siblings.get(source) === "number" && field === "cvv") clear();
  },
};

/** @param {MessageEvent} event */
export function receiveFromSibling(event) {
  if (group === null || event.origin !== location.origin || !isSibling(event.source)) return;
  const message = event.data;
  if (!isRecord(message) || message.group !== group || typeof message.tollgateFrame !== "string") return;
  if (!has(SIBLING_MESSAGES, message.tollgateFrame)) return;
  const receive = /** @type {(source: Window, message: object) => void} */ (SIBLING_MESSAGES[message.tollgateFrame]);
  receive(event.source, message);
}

function listPresentSiblings() {
  return [...siblings].filter(([source, theirs]) => isSibling(source) && theirs !== "number");
}

/**
 * Collects values and faults of all other frames of the group. A frame that does not answer is a fault, not an empty field.
 * @param {string | null} brand
 * @returns {Promise<Collected>}
 */
export function collect(brand) {
  const awaited = new Map(listPresentSiblings());
  /** @type {Collected} */
  const found = { values: {}, errors: {} };
  const question = crypto.randomUUID ? crypto.randomUUID() : String(crypto.getRandomValues(new Uint32Array(4)));
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      collections.delete(question);
      for (const theirs of awaited.values()) found.errors[theirs] = FIELDS[theirs].fault;
      resolve(found);
    };
    const timer = setTimeout(finish, COLLECT_PATIENCE_MS);
    collections.set(question, (source, values, error) => {
      const theirs = awaited.get(source);
      if (theirs === undefined) return;
      awaited.delete(source);
      if (error === null) Object.assign(found.values, values);
      else found.errors[theirs] = error;
      if (awaited.size === 0) finish();
    });
    for (const source of awaited.keys()) sendToSibling(source, "ask", { question, brand });
    if (awaited.size === 0) finish();
  });
}

export function clearSpentCode() {
  for (const [source, theirs] of listPresentSiblings()) {
    if (theirs === "cvv") sendToSibling(source, "spent", {});
  }
  if (field === "cvv") clear();
}
