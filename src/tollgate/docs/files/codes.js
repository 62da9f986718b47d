// @ts-check
// The filter of the list of result codes: it hides the rows that lack a word. The whole list is shown without it.

const filterField = document.querySelector("#filter");
const filterCount = document.querySelector("#filter-count");
const filterNone = document.querySelector("#filter-none");
const codeSections = [...document.querySelectorAll(".codes-of")].map((section) => ({
  section,
  rows: [...section.querySelectorAll("tbody tr")].map((row) => ({
    row,
    text: `${section.getAttribute("data-group")} ${row.textContent}`.toLowerCase(),
  })),
}));

/** @param {string} asked */
function filterCodes(asked) {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { section, rows } of codeSections) {
    let inSection = 0;
    for (const { row, text } of rows) {
      const fits = words.every((word) => text.includes(word));
      row.toggleAttribute("hidden", !fits);
      inSection += Number(fits);
    }
    section.toggleAttribute("hidden", inSection === 0);
    shown += inSection;
  }
  filterNone?.toggleAttribute("hidden", shown > 0);
  if (filterCount !== null) {
    filterCount.textContent = words.length === 0 ? "" : `Codes that fit: ${shown}`;
  }
}

if (filterField instanceof HTMLInputElement) {
  filterField.addEventListener("input", () => filterCodes(filterField.value));
  // A browser keeps what was typed when the reader comes back.
  filterCodes(filterField.value);
}
