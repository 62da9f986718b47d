// @ts-check
// The expiry date as a field of the page; how it is written and validated is shared with the frames.

import { EXPIRY_LENGTH_MAX, deleteAtSlash, isMonth, readToday, setExpiry, validateExpiry } from "../input/expiry.js";
import { deleteAtCaret, findCaret, readTyping, setInput } from "../input/typing.js";
import { make, makeId } from "./dom.js";
import { makeGroup, validateOnBlur, validateWhileTyping } from "./fields.js";
import { page } from "./state.js";
/** @import { InputField, Translator } from "../types/page.d.ts" */

/** @param {string} text */
function validateExpiryText(text) {
  const validated = validateExpiry(text, readToday());
  // A page that wants no validation of the date still gets a whole date with a month that exists.
  const isWhole = validated.error !== "expiryError" && isMonth(validated.month);
  const isForgiven = page.settings.disableCardExpiryDateValidation && isWhole;
  return isForgiven ? { ...validated, error: null, isPotentiallyValid: true } : validated;
}

/**
 * @param {HTMLInputElement} control
 * @param {Event} event
 */
function writeWhileTyping(control, event) {
  const { isComposing, isDeleting } = readTyping(event);
  if (!isComposing) {
    setInput(control, setExpiry(control.value, findCaret(control), isDeleting));
  }
}

/**
 * Deletes the digit beyond the slash where the browser would delete a part of the slash.
 * @param {HTMLInputElement} control
 * @param {InputEvent} event
 */
function hopOverSlash(control, event) {
  const left = deleteAtCaret(control, event, deleteAtSlash);
  if (left) {
    event.preventDefault();
    setInput(control, left);
    control.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: event.inputType }));
  }
}

/** @param {Translator} translator */
export function makeExpiryField(translator) {
  const id = makeId("expiry");
  const control = make("input", "wpwl-control wpwl-control-expiry", {
    id,
    name: "card.expiry",
    type: "text",
    inputmode: "numeric",
    autocomplete: "cc-exp",
    maxlength: EXPIRY_LENGTH_MAX,
    dir: "ltr",
    "aria-required": "true",
    placeholder: page.settings.showPlaceholders ? translator.translate("mmyy") : null,
  });
  const month = make("input", "", { type: "hidden", name: "card.expiryMonth" });
  const year = make("input", "", { type: "hidden", name: "card.expiryYear" });
  // Reads what stands in the field now: pages and password managers do not always fire an event.
  const readParts = () => {
    const validated = validateExpiryText(control.value);
    [month.value, year.value] = validated.error ? ["", ""] : [validated.month, validated.year];
    return validated;
  };
  /** @type {InputField} */
  const field = {
    ...makeGroup("expiry", translator.translate("expiryDate"), control, { controlId: id }),
    name: "expiry",
    names: ["card.expiry", "card.expiryMonth", "card.expiryYear"],
    control,
    hiddens: [month, year],
    frame: null,
    fault: "",
    hint: null,
    validate: () => readParts().error || "",
    findFaultKind: () => validateExpiryText(control.value).kind,
    fillHidden: () => readParts(),
    isEmpty: () => control.value === "",
    cannotBecomeValid: () => !field.isEmpty() && !validateExpiryText(control.value).isPotentiallyValid,
    focus: () => control.focus(),
  };
  control.addEventListener("beforeinput", (event) => hopOverSlash(control, event));
  for (const kind of ["input", "change"]) {
    control.addEventListener(kind, (event) => {
      writeWhileTyping(control, event);
      readParts();
      validateWhileTyping(translator, field);
    });
  }
  control.addEventListener("blur", () => validateOnBlur(translator, field));
  return field;
}
