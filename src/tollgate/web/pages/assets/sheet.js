// @ts-check
// The simulated sheet of a wallet, in a frame of the payment form: tells the page around it the token that was made, or
// that the shopper has cancelled. It speaks to the origin that its address names, and to no other.

const { origin, checkout, token } = /** @type {HTMLElement} */ (document.getElementById("sheet")).dataset;

/** @param {string} made */
function tell(made) {
  window.parent.postMessage({ tollgate: "wallet", checkoutId: checkout, token: made }, new URL(String(origin)).origin);
}

if (token) {
  tell(token);
} else {
  document.getElementById("cancel")?.addEventListener("click", () => tell(""));
  // The dialog around this frame hears no key that is pressed inside.
  document.addEventListener("keydown", ({ key }) => key === "Escape" && tell(""));
}
