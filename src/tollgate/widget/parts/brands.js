// @ts-check
// The choice of a card brand: the select, the mark beside it, and how it follows what the number's frame detects.

import { make, makeId, setStyles } from "./dom.js";
import { makeGroup } from "./fields.js";
import { isAccordion } from "./methods.js";
import { page } from "./state.js";
/** @import { BrandField, Translator } from "../types/page.d.ts" */

/** @param {HTMLElement} element */
export function readBrandCodes(element) {
  const named = element.getAttribute("data-brands") || readOwnText(element);
  return [...new Set(named.split(/[\s,]+/).filter((code) => /^[A-Za-z0-9_]+$/.test(code)).map((code) => code.toUpperCase()))];
}

/**
 * Reads the text of an element itself. Older pages write the brands as text into the form; its child elements name none.
 * @param {HTMLElement} element
 */
function readOwnText(element) {
  const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
  return own.map((node) => node.textContent).join(" ");
}

/**
 * Makes a mark, which its class paints: pages copy it for another brand by changing the class.
 * @param {string} code
 * @param {string | null} label
 * @param {string} classes
 */
export function makeMark(code, label, classes) {
  return make("div", `wpwl-brand ${classes} wpwl-brand-${code}`, { title: label });
}

/**
 * @param {Translator} translator
 * @param {string[]} codes
 * @param {(code: string) => void} onChosen
 * @returns {BrandField}
 */
export function makeBrandField(translator, codes, onChosen) {
  const rows = page.configuration.brands;
  const id = makeId("brand");
  const select = make("select", "wpwl-control wpwl-control-brand", { id, name: "paymentBrand" });
  for (const code of codes) {
    select.append(make("option", "", { value: code }, rows[code].label));
  }
  const mark = makeMark(codes[0], rows[codes[0]].label, "wpwl-brand-card");
  /** @type {BrandField} */
  const field = {
    ...makeGroup("brand", translator.translate("brand"), select, { controlId: id }),
    name: "brand",
    names: ["paymentBrand"],
    control: select,
    frame: null,
    fault: "",
    hint: null,
    mark,
    chosenByHand: false,
    validate: () => "",
    findFaultKind: () => "invalid",
    isEmpty: () => false,
    cannotBecomeValid: () => false,
    focus: () => select.focus(),
  };
  field.group.append(mark);
  keepMarkInside(field);
  select.addEventListener("change", () => {
    field.chosenByHand = true;
    showBrand(field, select.value);
    onChosen(select.value);
  });
  return field;
}

/**
 * Shows the mark inside the select, although it stands beside the select's wrapper, as pages know it. Where a shop puts the
 * select beside its label instead of under it, only the box of the select tells where it is.
 * @param {BrandField} field
 */
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

/**
 * @param {BrandField} field
 * @param {string} code
 */
function showBrand(field, code) {
  const row = page.configuration.brands[code];
  const mark = makeMark(code, row.label, "wpwl-brand-card");
  field.mark.replaceWith(mark);
  field.mark = mark;
}

/**
 * Chooses the brand of the number, and returns whether the brand has changed. A brand that the shopper chose stays as long as
 * the number can be of it.
 * @param {BrandField} field
 * @param {string[]} detected
 * @param {string | null} active
 */
export function followNumber(field, detected, active) {
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

/**
 * Makes the group with the brand's mark and name, which in the accordion stand in the row of the method already.
 * @param {string} code
 * @param {string} label
 */
export function makeBrandGroup(code, label) {
  if (isAccordion()) {
    return null;
  }
  const mark = makeMark(code, label, "wpwl-brand-inline");
  const name = make("span", "wpwl-brand-name", {}, label);
  return make("div", "wpwl-group wpwl-group-brandLogo", {}, make("div", "wpwl-wrapper wpwl-wrapper-brandLogo", {}, mark, name));
}
