// @ts-check
// Fields of a card that live in frames of the service, and what a form does when they send events.

import { has } from "../input/records.js";
import { endAttempt, hold, isCurrent } from "./attempt.js";
import { showTrouble } from "./connection.js";
import { usualError } from "./faults.js";
import { isShown, makeGroup, showFault, validateOnBlur, validateWhileTyping } from "./fields.js";
import { VALIDITY_PATIENCE_MS, askFrame, makeFrame, sendToFrame, updateFrame } from "./frames.js";
import { callHook, hookSelf } from "./hooks.js";
import { readFrameLooks, readGivenStyles } from "./looks.js";
import { showMessage } from "./messages.js";
import { startPaying } from "./payButton.js";
import { readList } from "./reading.js";
import { source } from "./source.js";
import { page } from "./state.js";
/** @import { FrameEventMessage, FrameFieldName, FrameOptions } from "../types/frames.d.ts" */
/** @import { Attempt, FrameField, FrameFieldRow, Translator, Widget } from "../types/page.d.ts" */

/** @type {Record<FrameFieldName, FrameFieldRow>} */
const FRAME_FIELDS = {
  number: {
    name: "cardNumber",
    label: "cardNumber",
    names: ["card.number"],
    blurHook: "onBlurCardNumber",
    example: "1234 1234 1234 1234",
  },
  cvv: { name: "cvv", label: "cvv", names: ["card.cvv"], blurHook: "onBlurSecurityCode" },
  holder: { name: "cardHolder", label: "cardHolder", names: ["card.holder"], blurHook: "onBlurCardHolder" },
  expiry: {
    name: "expiry",
    label: "expiryDate",
    names: ["card.expiry", "card.expiryMonth", "card.expiryYear"],
    blurHook: "onBlurExpiryDate",
    placeholder: "mmyy",
  },
};

/**
 * Renders the placeholder of a field. Where labels are hidden, it has to say what the field is for.
 * @param {Translator} translator
 * @param {FrameFieldRow} row
 */
function renderPlaceholder(translator, { placeholder, label, example }) {
  if (!page.settings.showPlaceholders) {
    return "";
  }
  return (page.settings.showLabels && example) || translator.translate(placeholder || label);
}

/**
 * Makes a field in a frame. `more()` returns the options that only this form knows: brands, whether it may be empty. Frames of
 * one `group` find each other.
 * @param {Widget} widget
 * @param {FrameFieldName} field
 * @param {() => Partial<FrameOptions>} more
 * @param {string} [group]
 * @returns {FrameField}
 */
export function makeFrameField(widget, field, more, group = widget.group) {
  const row = FRAME_FIELDS[field];
  const { translator } = widget;
  const label = translator.translate(row.label);
  /** @returns {Partial<FrameOptions>} */
  const options = () => ({
    lang: translator.tag,
    dir: translator.dir,
    label,
    placeholder: renderPlaceholder(translator, row),
    hint: made.fault ? made.hint?.textContent || "" : "",
    autofocus: page.settings.autofocus === row.names[0],
    checkoutId: source.checkoutId,
    resource: page.configuration.kind,
    ...readFrameLooks(frame.element, widget.form.querySelector("input.wpwl-control:not([type=date])"), readGivenStyles(field)),
    ...more(),
  });
  const classes = `wpwl-control wpwl-control-iframe wpwl-control-${row.name}`;
  const frame = makeFrame({ field, group, classes, title: label, options }, (message) => receiveFromField(widget, made, row, message));
  /** @type {FrameField} */
  const made = {
    ...makeGroup(row.name, label, frame.element, { isFrame: true }),
    name: row.name,
    names: row.names,
    control: frame.element,
    frame,
    fault: "",
    hint: null,
    lastError: "",
    silence: "",
    validate() {
      const { isValid, isEmpty } = frame.state;
      return isValid || (isEmpty && options().allowsEmpty) ? "" : made.lastError || usualError(made);
    },
    findFaultKind: () => frame.state.kind,
    isEmpty: () => frame.state.isEmpty,
    cannotBecomeValid: () => !frame.state.isPotentiallyValid,
    focus() {
      frame.element.focus();
      sendToFrame(frame, { type: "focus" });
    },
  };
  made.label.addEventListener("click", made.focus);
  widget.frames.push(frame);
  return made;
}

/**
 * What a form does when a frame sends an event.
 * @type {{ [Type in FrameEventMessage["type"]]?:
 *   (widget: Widget, field: FrameField, message: FrameEventMessage & { type: Type }, row: FrameFieldRow) => void }}
 */
const FRAME_EVENTS = {
  ready(widget, field) {
    if (field.silence) {
      field.silence = "";
      clearWhenAllAnswer(widget);
    }
    callHook("onReadyIframeCommunication", hookSelf(widget, field.frame), field.frame.element);
  },
  focus(widget, field) {
    field.wrapper.classList.add("wpwl-wrapper--focus");
    field.control.classList.add("wpwl-control--focus");
    callHook("onFocusIframeCommunication", hookSelf(widget, field.frame), field.frame.element);
  },
  blur(widget, field, { isValid }, row) {
    field.wrapper.classList.remove("wpwl-wrapper--focus");
    field.control.classList.remove("wpwl-control--focus");
    validateOnBlur(widget.translator, field);
    explainFault(widget, field);
    callHook("onBlurIframeCommunication", hookSelf(widget, field.frame), field.frame.element);
    callHook(row.blurHook, hookSelf(widget, field.frame), Boolean(isValid));
  },
  change(widget, field) {
    field.lastError = "";
    validateWhileTyping(widget.translator, field);
    explainFault(widget, field);
  },
  brands(widget, _field, { detected, active }) {
    widget.takeDetectedBrands?.(readList(detected), active);
  },
  silence(widget, field, { text }) {
    field.silence = text;
    page.trouble = text;
    showTrouble(widget);
  },
  enter(widget) {
    if (!page.settings.disableSubmitOnEnter) {
      startPaying(widget);
    }
  },
};

/**
 * Lists the fields of a form that live in frames.
 * @param {Widget} widget
 */
function listFrameFields(widget) {
  return /** @type {FrameField[]} */ (widget.fields.filter((field) => field.frame !== null));
}

/**
 * Takes back the message that a frame is silent when all frames answer: the network was only slow.
 * @param {Widget} widget
 */
function clearWhenAllAnswer(widget) {
  if (!listFrameFields(widget).some((field) => field.silence)) {
    showMessage(widget, "");
  }
}

/**
 * @param {Widget} widget
 * @param {FrameField} field
 * @param {FrameFieldRow} row
 * @param {FrameEventMessage} message
 */
function receiveFromField(widget, field, row, message) {
  if (has(FRAME_EVENTS, message.type)) {
    const react = /** @type {(widget: Widget, field: FrameField, message: object, row: FrameFieldRow) => void} */ (FRAME_EVENTS[message.type]);
    react(widget, field, message, row);
  }
}

/**
 * Asks a frame whether its field is valid. Returns false where the frame does not answer, which says nothing about the field.
 * @param {FrameField} field
 */
async function askValidity(field) {
  const { frame } = field;
  if (!frame.isReady && !(await frame.ready)) {
    return false;
  }
  const answer = await askFrame(frame, { type: "validate" }, VALIDITY_PATIENCE_MS);
  if (answer.type !== "validity") {
    return false;
  }
  frame.state = { ...frame.state, isValid: answer.isValid, kind: answer.kind };
  field.lastError = answer.errors[frame.field] || "";
  return true;
}

/**
 * Asks the frames of a form, because a message of theirs may still be on its way, or the frames themselves. Where one does not
 * answer, the attempt ends here: that is the fault of the network and of no field.
 * @param {Attempt} attempt
 */
export async function validateFrames(attempt) {
  const { widget } = attempt;
  const framed = listFrameFields(widget).filter(isShown);
  if (framed.some(({ frame }) => !frame.isReady)) {
    hold(attempt);
  }
  const answered = await Promise.all(framed.map(askValidity));
  const silent = framed.find((_, index) => !answered[index]);
  if (silent && isCurrent(attempt)) {
    endAttempt(attempt);
    page.trouble = silent.silence || "networkError";
    showTrouble(widget);
  }
}

/**
 * Shows the fault that the frame names. It knows best: a number may be right and of a brand that is not accepted here.
 * @param {Widget} widget
 * @param {FrameField} field
 */
async function explainFault(widget, field) {
  if (field.fault && (await askValidity(field))) {
    if (field.fault && field.lastError) {
      showFault(widget.translator, field, field.lastError);
    }
  }
}

export function refreshLooks() {
  for (const widget of page.widgets) {
    for (const frame of widget.frames) {
      updateFrame(frame, frame.options());
    }
  }
}
