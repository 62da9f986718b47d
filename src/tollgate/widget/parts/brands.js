// The choice of a card brand: the select, the mark beside it, and what the number frame tells of the number.
function readBrandCodes(element) {
  const named = element.getAttribute("data-brands") || readOwnText(element);
  return [...new Set(named.split(/[\s,]+/).filter((code) => /^[A-Za-z0-9_]+$/.test(code)).map((code) => code.toUpperCase()))];
}

// Older pages write the brands as text into the form; what stands in elements of theirs is no brand.
function readOwnText(element) {
  const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
  return own.map((node) => node.textContent).join(" ");
}

// Painted by its class, so that pages may copy it for another brand by changing the class.
function makeMark(code, label, classes) {
  return make("div", `wpwl-brand ${classes} wpwl-brand-${code}`, { title: label });
}

function makeBrandField(voice, codes, onChosen) {
  const rows = page.configuration.brands;
  const id = makeId("brand");
  const select = make("select", "wpwl-control wpwl-control-brand", { id, name: "paymentBrand" });
  for (const code of codes) {
    select.append(make("option", "", { value: code }, rows[code].label));
  }
  const field = {
    name: "brand",
    names: ["paymentBrand"],
    control: select,
    frame: null,
    fault: "",
    chosenByHand: false,
    judge: () => "",
    isEmpty: () => false,
    isHopeless: () => false,
    focus: () => select.focus(),
  };
  Object.assign(field, makeGroup(voice, "brand", voice.say("brand"), select, { controlId: id }));
  field.mark = makeMark(codes[0], rows[codes[0]].label, "wpwl-brand-card");
  field.group.append(field.mark);
  keepMarkInside(field);
  select.addEventListener("change", () => {
    field.chosenByHand = true;
    showBrand(field, select.value);
    onChosen(select.value);
  });
  return field;
}

// The mark stands beside the select's wrapper, as pages know it, yet is seen inside the select; where a shop puts that
// beside its label instead of under it, only its box tells where it is.
function keepMarkInside({ group, control }) {
  const observer = new ResizeObserver(() => {
    const [outer, inner] = [group.getBoundingClientRect(), control.getBoundingClientRect()];
    const isFromRight = getComputedStyle(group).direction === "rtl";
    const start = isFromRight ? outer.right - inner.right : inner.left - outer.left;
    setStyles(group, {
      "--wpwl-mark-start": `${start}px`,
      "--wpwl-mark-end": `${outer.bottom - inner.bottom}px`,
      "--wpwl-mark-room": `${inner.height}px`,
    });
  });
  observer.observe(group);
  observer.observe(control);
}

function showBrand(field, code) {
  const row = page.configuration.brands[code];
  const mark = makeMark(code, row.label, "wpwl-brand-card");
  field.mark.replaceWith(mark);
  field.mark = mark;
}

// A brand that the shopper chose stays as long as the number can be of it. True where the brand has changed.
function followNumber(field, detected, active) {
  const select = field.control;
  const keeps = field.chosenByHand && detected.includes(select.value);
  const offered = [...select.options].map((option) => option.value);
  if (keeps || !active || active === select.value || !offered.includes(active)) {
    return false;
  }
  select.value = active;
  field.chosenByHand = false;
  showBrand(field, active);
  return true;
}
