// @ts-check
// Shows that a snapshot is being saved or loaded, which may take a while, and sends the file of one. All forms but the
// one for files work without it.

for (const form of document.querySelectorAll("form[data-progress]")) {
  form.addEventListener("submit", (event) => {
    const shown = document.getElementById(form.getAttribute("data-progress") ?? "");
    if (!event.defaultPrevented && shown !== null) {
      shown.hidden = false;
    }
  });
}

/**
 * Sends a file, shows how much of it was sent, and leads on, or shows the page that says why not.
 * @param {HTMLFormElement} form
 * @param {File} file
 * @param {HTMLProgressElement} bar
 * @param {(text: string) => void} tell
 */
function sendSnapshot(form, file, bar, tell) {
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("content-type", "application/octet-stream");
  request.setRequestHeader(
    "x-form-token",
    document.querySelector('meta[name="form-token"]')?.getAttribute("content") ?? "",
  );
  request.setRequestHeader("x-upload-ticket", form.dataset.ticket ?? "");
  request.setRequestHeader("x-file-name", encodeURIComponent(file.name));
  request.upload.addEventListener("progress", (event) => {
    bar.value = event.lengthComputable ? Math.round((100 * event.loaded) / event.total) : 0;
  });
  request.upload.addEventListener("load", () => {
    // How long the host takes to load it is not known.
    bar.removeAttribute("value");
    tell("The file was sent and is being loaded…");
  });
  request.addEventListener("error", () => {
    tell("The file could not be sent. Please try again.");
  });
  request.addEventListener("load", () => {
    if (request.status === 201) {
      window.location.assign(request.getResponseHeader("location") ?? window.location.pathname);
    } else if (request.status === 200) {
      // The confirmation or the session is over, and the browser was led to another page.
      window.location.assign(request.responseURL);
    } else {
      const main = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
      if (main === null) {
        tell("The file was not taken. It may be too large, or this page too old: load the page again.");
      } else {
        document.querySelector("main")?.replaceWith(document.adoptNode(main));
      }
    }
  });
  request.send(file);
}

const upload = document.getElementById("upload");
const uploadStatus = document.getElementById("upload-status");
const uploadProgress = document.getElementById("upload-progress");
const uploadBar = document.getElementById("upload-sent");
const uploadInput = document.getElementById("upload-file");
if (
  upload instanceof HTMLFormElement &&
  uploadInput instanceof HTMLInputElement &&
  uploadBar instanceof HTMLProgressElement &&
  uploadProgress !== null &&
  uploadStatus !== null
) {
  upload.hidden = false;
  upload.addEventListener("submit", (event) => {
    const file = event.defaultPrevented ? undefined : uploadInput.files?.[0];
    event.preventDefault();
    if (file !== undefined) {
      uploadProgress.hidden = false;
      sendSnapshot(upload, file, uploadBar, (text) => {
        uploadStatus.textContent = text;
      });
    }
  });
}
