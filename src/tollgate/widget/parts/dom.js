// Builds elements. Text is set as text and styles through their objects, so that a shop's policy may forbid
// inline styles and scripts, and so that nothing that somebody typed can become markup.
let elementsMade = 0;

// Style sheets of pages have rules for fields and buttons by their type. It is left out where another attribute does the
// same: a button that names no form belongs to none, and submits none.
const TYPE_SUBSTITUTES = { text: {}, submit: {}, button: { form: "" }, email: { inputmode: "email" }, tel: { inputmode: "tel" } };

function make(tag, classes, attributes, ...children) {
  const element = document.createElement(tag);
  if (classes) {
    element.className = classes;
  }
  const { type, ...others } = attributes || {};
  for (const [name, value] of Object.entries({ ...(TYPE_SUBSTITUTES[type] || { type }), ...others })) {
    if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function makeHidden(name, value) {
  return make("input", "", { type: "hidden", name, value });
}

function makeId(word) {
  elementsMade += 1;
  return `wpwl-${word}-${elementsMade}`;
}

// Twelve digits, as pages know them from the containers' ids.
function makeContainerId(word) {
  const digits = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte % 10);
  return `${word}_${digits.join("")}`;
}

function makeHex(bytes) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function setStyles(element, styles) {
  for (const [name, value] of Object.entries(styles)) {
    element.style.setProperty(name, value);
  }
}

// A shop's own rules for groups and containers often name a display, which the attribute alone would lose against.
function setHidden(element, isHidden) {
  element.hidden = isHidden;
  element.style.setProperty("display", isHidden ? "none" : "", "important");
}

function describe(control, id, isDescribed) {
  const ids = (control.getAttribute("aria-describedby") || "").split(" ").filter((each) => each && each !== id);
  if (isDescribed) {
    ids.push(id);
  }
  if (ids.length) {
    control.setAttribute("aria-describedby", ids.join(" "));
  } else {
    control.removeAttribute("aria-describedby");
  }
}
