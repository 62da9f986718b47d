// @ts-check
// Builds elements. Text is set as text and styles through their objects, so that a shop's policy may forbid
// inline styles and scripts, and so that nothing that somebody typed can become markup.

/** @import { Attributes, MadeElement } from "../types/page.d.ts" */

let elementsMade = 0;

// Style sheets of pages have rules for fields and buttons by their type. The type is left out where another attribute does
// the same: a button that names no form belongs to none, and submits none.
/** @type {Record<string, Attributes>} */
const TYPE_SUBSTITUTES = { text: {}, submit: {}, button: { form: "" }, email: { inputmode: "email" }, tel: { inputmode: "tel" } };

/**
 * @template {string} Tag
 * @param {Tag} tag
 * @param {string} [classes]
 * @param {Attributes} [attributes]
 * @param {...(Node | string | null | undefined)} children
 */
export function make(tag, classes, attributes, ...children) {
  const element = document.createElement(tag);
  if (classes) {
    element.className = classes;
  }
  const { type, ...others } = attributes || {};
  for (const [name, value] of Object.entries({ ...(TYPE_SUBSTITUTES[String(type)] || { type }), ...others })) {
    if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return /** @type {MadeElement<Tag>} */ (element);
}

/**
 * @param {string} name
 * @param {string} value
 */
export function makeHidden(name, value) {
  return make("input", "", { type: "hidden", name, value });
}

/** @param {string} word */
export function makeId(word) {
  elementsMade += 1;
  return `wpwl-${word}-${elementsMade}`;
}

/**
 * Makes an id with twelve digits, as pages know them from containers.
 * @param {string} word
 */
export function makeContainerId(word) {
  const digits = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte % 10);
  return `${word}_${digits.join("")}`;
}

/** @param {number} bytes */
export function makeHex(bytes) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {HTMLElement} element
 * @param {Record<string, string>} styles
 */
export function setStyles(element, styles) {
  for (const [name, value] of Object.entries(styles)) {
    element.style.setProperty(name, value);
  }
}

/**
 * Hides or shows an element. A shop's own rules often name a display, against which the attribute alone would lose.
 * @param {HTMLElement} element
 * @param {boolean} isHidden
 */
export function setHidden(element, isHidden) {
  element.hidden = isHidden;
  element.style.setProperty("display", isHidden ? "none" : "", "important");
}

/**
 * Adds the element of this id to what describes a control, or takes it away.
 * @param {HTMLElement} control
 * @param {string} id
 * @param {boolean} isDescribed
 */
export function describe(control, id, isDescribed) {
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

/**
 * Returns the element around this one; throws where the page has removed it.
 * @param {Element} element
 * @param {string} selector
 */
export function getClosest(element, selector) {
  const found = /** @type {HTMLElement | null} */ (element.closest(selector));
  if (!found) {
    throw new Error(`the page has removed ${selector}`);
  }
  return found;
}

/**
 * Returns the parent of an element; throws where the page has removed the element.
 * @param {Element} element
 */
export function getParent(element) {
  const { parentElement } = element;
  if (!parentElement) {
    throw new Error(`the page has removed .${element.className}`);
  }
  return parentElement;
}
