// The messages between the page and the frames of the service, and what frames work with.

import type { AnswerBody } from "./service.d.ts";

export type FrameFieldName = "number" | "cvv" | "holder" | "expiry";

/** Why a field is not valid, for the choice of the text that says so. */
export type FaultKind = "empty" | "incomplete" | "invalid" | "expired";

/** What a page may tell a frame; a frame takes over each member that has the right form. */
export interface FrameOptions {
  lang?: string;
  dir?: string;
  scheme?: string;
  label?: string;
  placeholder?: string;
  hint?: string;
  brand: string | null;
  accepted: string[];
  priority: string[];
  detects: boolean;
  formats: boolean;
  masks: boolean;
  allowsEmpty: boolean;
  required: boolean;
  autofocus?: boolean;
  styles?: Record<string, unknown>;
  placeholderStyles?: Record<string, unknown>;
  colors?: Record<string, unknown>;
  checkoutId?: string;
  resource: string;
}

/** Parameters of a payment by their names. */
export type Parameters = Record<string, string>;

export type ToFrame =
  | { type: "options"; options: Partial<FrameOptions> }
  | { type: "focus" | "clear" }
  | { type: "validate"; ask: number }
  | { type: "submit"; ask: number; fields: Parameters };

/** A question to a frame, which gets a number before it is sent. */
export type FrameQuestion = { type: "validate" } | { type: "submit"; fields: Parameters };

export interface ValidityMessage {
  type: "validity";
  ask: number;
  isValid: boolean;
  kind?: FaultKind | null;
  errors: Record<string, string>;
  body?: undefined;
}

/** The service's answer to a payment; the status is 0 where nobody answered. */
export interface PaymentAnswer {
  type: "answer";
  status: number;
  body?: AnswerBody | null;
}

export interface AnswerMessage extends PaymentAnswer {
  ask: number;
}

/** What the page says to itself for a frame that does not answer. */
export interface SilenceMessage {
  type: "silence";
  text: string;
}

export type FrameEventMessage =
  | { type: "ready" | "focus" | "enter" }
  | { type: "change"; isValid: boolean; isPotentiallyValid: boolean; isEmpty: boolean; kind: FaultKind | null; length: number }
  | { type: "blur"; isValid: boolean; isEmpty: boolean; kind: FaultKind | null }
  | { type: "brands"; detected: string[]; active: string | null }
  | { type: "height"; px: number }
  | SilenceMessage;

export type FromFrame = FrameEventMessage | ValidityMessage | AnswerMessage;

export interface FrameState {
  isValid: boolean;
  isPotentiallyValid: boolean;
  isEmpty: boolean;
  kind?: FaultKind | null;
}


/** A text in an input, and where the caret stands in it. */
export interface Edit {
  text: string;
  caret: number;
}

export interface Today {
  year: number;
  month: number;
}

export interface Expiry {
  month: string;
  year: string;
  isUnread?: boolean;
}

export interface Validation {
  isValid: boolean;
  isPotentiallyValid: boolean;
  kind: FaultKind;
  error: string | null;
}

/** How one field of a card writes, validates and names what is typed. */
export interface CardFieldRow {
  fault: string;
  isDigits: boolean;
  deleteAt(text: string, caret: number, isForward: boolean): Edit | null;
  count(text: string): number;
  set(text: string, caret: number, options: FrameOptions, isDeleting: boolean): Edit;
  validate(text: string, options: FrameOptions, now: Today): Validation;
  values(text: string, now: Today): Parameters;
}

/** What frames of one form say to each other, by the name of the message. */
export interface SiblingMessages {
  hello: { field: string; isReply: boolean };
  ask: { question: string; brand: string | null };
  values: { question: string; values: Parameters; error: string | null };
  spent: object;
}

/** Values of a form's frames, and the faults of those that are not right. */
export interface Collected {
  values: Parameters;
  errors: Record<string, string>;
}

/** The first key of a range of card numbers, and the first key behind it. */
export interface CardRange {
  code: string;
  digits: number;
  start: number;
  end: number;
}
