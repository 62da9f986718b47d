// @ts-check
// Puts text into an input while somebody types in it, and deletes across the separators that the form writes itself.

/** @import { CardFieldRow, Edit } from "../types/frames.d.ts" */

/**
 * @param {HTMLInputElement} input
 * @param {Edit} edit
 */
export function setInput(input, { text, caret }) {
  if (input.value === text) return;
  input.value = text;
  // In a field that is not being used, this would steal the focus in some browsers.
  if (document.activeElement === input) input.setSelectionRange(caret, caret);
}

/** @param {HTMLInputElement} input */
export function findCaret(input) {
  return input.selectionStart ?? input.value.length;
}

/**
 * Returns what is left when a caret beside a separator deletes, or null where the browser deletes the right thing itself.
 * @param {HTMLInputElement} input
 * @param {InputEvent} event
 * @param {CardFieldRow["deleteAt"]} deleteAt
 */
export function deleteAtCaret(input, event, deleteAt) {
  const isForward = event.inputType === "deleteContentForward";
  if (input.selectionStart !== input.selectionEnd) return null;
  if (!isForward && event.inputType !== "deleteContentBackward") return null;
  return deleteAt(input.value, findCaret(input), isForward);
}

/**
 * Returns what an event says about the typing; events of other kinds say nothing.
 * @param {Event} event
 */
export function readTyping(event) {
  const { inputType, isComposing = false } = /** @type {Partial<InputEvent>} */ (event);
  const kind = String(inputType || "");
  return { kind, isComposing, isDeleting: kind.startsWith("delete") };
}
