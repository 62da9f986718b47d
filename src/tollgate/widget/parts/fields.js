// @ts-check
// What all fields of a form have in common: a group with label and wrapper, validation, and a hint that names a fault.

import { describe, make, makeId, setHidden } from "./dom.js";
import { renderFault, usualError } from "./faults.js";
import { updateFrame } from "./frames.js";
import { whenReleased } from "./pressing.js";
import { page } from "./state.js";
/** @import { Field, FieldGroup, Translator } from "../types/page.d.ts" */

/**
 * Makes the group around a control. A label element cannot label a frame, so the label of a frame is plain text.
 * @param {string} name
 * @param {string} text
 * @param {Field["control"]} control
 * @param {{ isFrame?: boolean, controlId?: string }} [labelling]
 * @returns {FieldGroup}
 */
export function makeGroup(name, text, control, { isFrame = false, controlId = "" } = {}) {
  const label = isFrame
    ? make("div", `wpwl-label wpwl-label-${name}`, {}, text)
    : make("label", `wpwl-label wpwl-label-${name}`, { for: controlId }, text);
  const wrapper = make("div", `wpwl-wrapper wpwl-wrapper-${name}`, {}, control);
  const group = make("div", `wpwl-group wpwl-group-${name}`, {}, page.settings.showLabels ? label : null, wrapper);
  if (!page.settings.showLabels && !isFrame) {
    control.setAttribute("aria-label", text);
  }
  // Where no choice is empty, something must be chosen.
  if (control instanceof HTMLSelectElement && ![...control.options].some((option) => option.value === "")) {
    control.setAttribute("aria-required", "true");
  }
  return { group, wrapper, label, called: text };
}

/**
 * Marks a field that need not be filled in, as most others must be. Where there is no label, its placeholder says so.
 * @param {Translator} translator
 * @param {Field} field
 */
export function markOptional(translator, field) {
  const { control, frame, label } = field;
  const mark = translator.translate("optional");
  if (!mark) {
    return;
  }
  label.append(" ", make("span", "wpwl-optional", {}, mark));
  if (!page.settings.showLabels && !frame) {
    control.setAttribute("aria-label", label.textContent);
    if (control instanceof HTMLInputElement && control.placeholder) {
      control.placeholder = `${control.placeholder} ${mark}`;
    }
  }
}

/**
 * Shows or hides the mark of a field that need not be filled in with some brands only.
 * @param {Translator} translator
 * @param {Field} field
 * @param {boolean} isOptional
 */
export function showOptional(translator, field, isOptional) {
  const mark = /** @type {HTMLElement | null} */ (field.label.querySelector(".wpwl-optional"));
  if (mark) {
    setHidden(mark, !isOptional);
  } else if (isOptional) {
    markOptional(translator, field);
  }
}

/**
 * @param {Translator} translator
 * @param {Field} field
 * @param {string} key
 */
export function showFault(translator, field, key) {
  const text = renderFault(translator, field, key);
  if (field.fault === key && field.hint?.textContent === text) {
    return;
  }
  clearFault(field);
  field.fault = key;
  const id = makeId("hint");
  field.hint = make("div", `wpwl-hint wpwl-hint-${key}`, { id }, text);
  field.control.classList.add("wpwl-has-error");
  field.control.after(field.hint);
  if (field.frame) {
    updateFrame(field.frame, { hint: text });
  } else {
    field.control.setAttribute("aria-invalid", "true");
    describe(field.control, id, true);
  }
}

/** @param {Field} field */
function clearFault(field) {
  const { hint } = field;
  if (!field.fault || !hint) {
    return;
  }
  field.fault = "";
  field.control.classList.remove("wpwl-has-error");
  if (field.frame) {
    updateFrame(field.frame, { hint: "" });
  } else {
    field.control.removeAttribute("aria-invalid");
    describe(field.control, hint.id, false);
  }
  hint.remove();
}

/**
 * Validates a field while somebody types: what may still become right is no fault yet.
 * @param {Translator} translator
 * @param {Field} field
 */
export function validateWhileTyping(translator, field) {
  if (field.cannotBecomeValid()) {
    showFault(translator, field, field.validate() || usualError(field));
  } else if (field.fault && (!field.validate() || field.isEmpty())) {
    clearFault(field);
  }
}

/**
 * @param {Translator} translator
 * @param {Field} field
 */
export function validateOnBlur(translator, field) {
  whenReleased(() => validateLeft(translator, field));
}

/**
 * @param {Translator} translator
 * @param {Field} field
 */
export function validateLeft(translator, field) {
  const key = field.isEmpty() ? "" : field.validate();
  if (key) {
    showFault(translator, field, key);
  } else if (!field.isEmpty()) {
    clearFault(field);
  }
}

/**
 * Shows the faults of all fields that are shown, and returns whether there are none.
 * @param {Translator} translator
 * @param {Field[]} fields
 */
export function validateAll(translator, fields) {
  const faulty = fields.filter((field) => {
    const key = isShown(field) ? field.validate() : "";
    if (key) {
      showFault(translator, field, key);
    } else {
      clearFault(field);
    }
    return key;
  });
  if (faulty.length) {
    faulty[0].focus();
  }
  return faulty.length === 0;
}

/** @param {Field} field */
export function isShown(field) {
  return !field.group.hidden;
}
