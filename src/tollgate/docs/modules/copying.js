// @ts-check
// The button that copies code, for texts and for the pages of endpoints.

const COPIED_MS = 2000;

/**
 * Adds a button that copies a text and says so. A host without TLS has no clipboard for its pages, unless it is the
 * reader's own machine, and then there is no button.
 * @param {Element} box
 * @param {() => string} getText
 */
export function addCopyButton(box, getText) {
  if (!window.isSecureContext) {
    return;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(getText());
    button.textContent = "Copied";
    window.setTimeout(() => {
      button.textContent = "Copy";
    }, COPIED_MS);
  });
  box.append(button);
}
