// @ts-check
// Delays the hints of fields until the shopper has released the button of the mouse: a hint that appears between pressing
// and releasing a button of the form moves that button away, and the click is lost.

import { listen } from "./state.js";

let isPressed = false;
/** @type {(() => void)[]} */
const waitingForRelease = [];

/** @param {() => void} act */
export function whenReleased(act) {
  if (isPressed) {
    waitingForRelease.push(act);
  } else {
    act();
  }
}

export function watchPresses() {
  const release = () => {
    isPressed = false;
    const acts = waitingForRelease.splice(0);
    // The click itself comes first.
    setTimeout(() => acts.forEach((act) => act()));
  };
  listen(document, "pointerdown", () => (isPressed = true), true);
  ["pointerup", "pointercancel"].forEach((kind) => listen(document, kind, release, true));
}
