// @ts-check
// Sends the file of a form as the body of a request, and shows what came of it. Forms are hidden without it.

/**
 * Sends a file and leads on, or shows the page that says why not.
 * @param {HTMLFormElement} form
 * @param {File} file
 */
async function sendFile(form, file) {
  const token = document.querySelector('meta[name="form-token"]')?.getAttribute("content") ?? "";
  const reply = await fetch(form.action, {
    method: "POST",
    body: file,
    redirect: "manual",
    headers: {
      "content-type": "application/octet-stream",
      "x-form-token": token,
      "x-upload-ticket": form.dataset.upload ?? "",
      "x-file-name": encodeURIComponent(file.name),
    },
  });
  if (reply.type === "opaqueredirect") {
    window.location.assign(form.dataset.back ?? window.location.pathname);
    return;
  }
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  const main = page.querySelector("main");
  if (main !== null) {
    document.querySelector("main")?.replaceWith(document.adoptNode(main));
    prepareForms();
  }
}

/** Shows the forms for files, which only work with this script. */
function prepareForms() {
  for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-upload]"))) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const input = form.querySelector('input[type="file"]');
      const status = form.querySelector('[role="status"]');
      const file = input instanceof HTMLInputElement ? input.files?.[0] : undefined;
      if (file === undefined || status === null) {
        return;
      }
      status.textContent = "Sending…";
      sendFile(form, file).catch(() => {
        status.textContent = "The file could not be sent. Please try again.";
      });
    });
  }
}

prepareForms();
