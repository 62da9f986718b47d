// @ts-check
// Buttons that copy a text and say so. Without a script they are not shown, and the text can be selected.

/**
 * Copies a text; where the browser does not allow it, the text is selected instead.
 * @param {HTMLElement} source
 * @returns {Promise<string>} what to say
 */
async function copyText(source) {
  try {
    await navigator.clipboard.writeText(source.textContent ?? "");
    return "Copied";
  } catch {
    window.getSelection()?.selectAllChildren(source);
    return "Selected: press Ctrl+C to copy";
  }
}

/**
 * Makes the copy buttons of a page work.
 * @param {HTMLElement} told where a screen reader hears of it
 */
export function addCopying(told) {
  for (const button of document.querySelectorAll("button[data-copies]")) {
    const source = document.getElementById(button.getAttribute("data-copies") ?? "");
    if (!(button instanceof HTMLButtonElement) || source === null) {
      continue;
    }
    const before = [...button.childNodes];
    button.hidden = false;
    button.addEventListener("click", async () => {
      const said = await copyText(source);
      button.textContent = said;
      told.textContent = said;
      window.setTimeout(() => {
        button.replaceChildren(...before);
        told.textContent = "";
      }, 3000);
    });
  }
}
