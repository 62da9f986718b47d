// Postal codes, set in their parts as the country writes them. Only what the service has a row for is judged.
function findPostcodeRow({ form }) {
  const country = form && form.elements.namedItem("billing.country");
  const row = country && (page.configuration.postcodes || {})[country.value];
  return row ? { pattern: new RegExp(`^(?:${row[0]})$`), joint: row[1], shortest: row[2] } : null;
}

function squeezePostcode(text) {
  return squeeze(text).replace(/[^A-Z0-9]/g, "");
}

function isPostcode(text, control) {
  const row = findPostcodeRow(control);
  return !row || row.pattern.test(squeezePostcode(text));
}

function isPartOfPostcode(text, control) {
  const code = squeezePostcode(text);
  return isNumberLike(text) && code === squeeze(text) && code.length < findPostcodeRow(control).shortest;
}

// When the shopper leaves it.
function spellPostcode(control) {
  const spell = () => {
    const row = findPostcodeRow(control);
    const found = row && row.pattern.exec(squeezePostcode(control.value));
    if (found) {
      control.value = found.slice(1).filter(Boolean).join(row.joint);
    }
  };
  control.addEventListener("change", spell);
  control.addEventListener("blur", spell);
}
