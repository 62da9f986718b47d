// The marks of the accepted cards inside the number's field. As the number is typed they fade to the one it is of; the
// select is shown only where the number does not tell the brand.
function addNumberMarks(widget, { wrapper }) {
  const { codes } = widget;
  widget.marks = codes.map((code) => ({ code, element: makeMark(code, null, "wpwl-brand-accepted") }));
  wrapper.append(make("div", "wpwl-marks", { "aria-hidden": "true" }, ...widget.marks.map(({ element }) => element)));
  followMarks(widget, { detected: [], active: null });
}

// `found` is what the number tells, as it was told last where only the choice has changed.
function followMarks(widget, found = widget.found) {
  const { brandField, codes, marks } = widget;
  widget.found = found;
  if (!marks) {
    return;
  }
  const { detected, active } = found;
  const fitting = active ? [brandField.control.value] : detected.length ? detected : codes;
  marks.forEach(({ code, element }) => element.classList.toggle("wpwl-brand-off", !fitting.includes(code)));
  const choices = listChoices(codes, detected, active);
  for (const option of brandField.control.options) {
    option.hidden = option.disabled = !choices.includes(option.value);
  }
  setHidden(brandField.group, choices.length < 2);
}

// Which brands the shopper has to choose from: those that share the number, or all where numbers do not tell brands.
function listChoices(codes, detected, active) {
  const isTold = (code) => page.configuration.brands[code].prefixes.length || page.configuration.brands[code].shares.length;
  if (!page.settings.brandDetection || !codes.every(isTold)) {
    return codes;
  }
  return active ? detected : [];
}
