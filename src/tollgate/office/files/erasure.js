// @ts-check
// Takes the next step of a search for a person by itself. Without it, a button does.

const step = document.querySelector("form#step");
if (step instanceof HTMLFormElement) {
  step.requestSubmit();
}
