// @ts-check
// Shows that a snapshot is being saved or loaded, which may take a while. The forms work without it.

for (const form of document.querySelectorAll("form[data-progress]")) {
  form.addEventListener("submit", (event) => {
    const shown = document.getElementById(form.getAttribute("data-progress") ?? "");
    if (!event.defaultPrevented && shown !== null) {
      shown.hidden = false;
    }
  });
}
