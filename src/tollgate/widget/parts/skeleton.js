// @ts-check
// Grey shapes in the place of a form that is being loaded, of about its height, so that the page does not jump. Their rules
// come with the script, because the style sheet is not there yet; they have no weight, so that a page's own rules win.

import { readBrandCodes } from "./brands.js";
import { make } from "./dom.js";
import { isAccordion } from "./methods.js";
import { showAt } from "./places.js";
import { onUnload, page } from "./state.js";
import { chooseTranslator } from "./texts.js";

const SKELETON_RULES = `
:where(.wpwl-skeleton){max-width:30rem;margin:0 auto 1rem;color:rgb(128 128 128/.2)}
:where(.wpwl-skeleton *){box-sizing:border-box}
:where(.wpwl-skeleton-box){margin:0 0 1rem;padding:1.5rem;border:1px solid;border-radius:1rem}
:where(.wpwl-skeleton-list){padding:0}
:where(.wpwl-skeleton-list)>:where(*){margin-inline:1rem}
:where(.wpwl-skeleton-field){position:relative;flex:1 0 8rem;height:71.6px;margin-block-end:1rem}
:where(.wpwl-skeleton-pair){display:flex;flex-wrap:wrap;gap:0 1rem}
:where(.wpwl-skeleton-field)::before,:where(.wpwl-skeleton-field)::after{position:absolute;content:"";background:currentcolor}
:where(.wpwl-skeleton-field)::before{inset:4px auto auto 0;width:6rem;max-width:50%;height:12px;border-radius:6px}
:where([dir=rtl] .wpwl-skeleton-field)::before{inset:4px 0 auto auto}
:where(.wpwl-skeleton-field)::after{inset:25.6px 0 0;border-radius:.625rem}
:where(.wpwl-skeleton-head){display:flex;align-items:center;gap:.75rem;height:57px}
:where(.wpwl-skeleton-head)::before,:where(.wpwl-skeleton-head)::after{width:18px;height:18px;border-radius:9px;content:"";background:currentcolor}
:where(.wpwl-skeleton-head)::after{width:7rem;height:14px}
:where(.wpwl-skeleton-button){height:48px;border-radius:.625rem;background:currentcolor}
:where(.wpwl-skeleton-word){position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(prefers-reduced-motion:no-preference){:where(.wpwl-skeleton-shapes){animation:wpwl-appear .2s .1s backwards,wpwl-pulse 1s .4s ease-in-out infinite alternate}}
@keyframes wpwl-appear{from{opacity:0}}
@keyframes wpwl-pulse{to{opacity:.5}}
`;

// This is a guess, until the service tells which brands are cards.
const CARD_CODE = /^(VISA|MASTER|AMEX|MAESTRO|DINERS|DISCOVER|JCB|UNIONPAY|CARTE|VPAY)/;
const DEBIT_CODE = /^DIRECTDEBIT/;

function loadSkeletonRules() {
  if (page.hasSkeletonRules || !document.adoptedStyleSheets) {
    return;
  }
  page.hasSkeletonRules = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SKELETON_RULES);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  onUnload(() => {
    document.adoptedStyleSheets = [...document.adoptedStyleSheets].filter((each) => each !== sheet);
  });
}

/**
 * Lists the shapes of each form: one form for all cards, and one for each other brand.
 * @param {string[]} codes
 */
function listShapes(codes) {
  const { showCardHolder, billingAddress } = page.settings;
  const card = ["field", "pair", ...(showCardHolder ? ["field"] : []), ...(billingAddress ? Array(5).fill("field") : [])];
  const cards = codes.filter((code) => CARD_CODE.test(code));
  return codes
    .filter((code) => code === cards[0] || !cards.includes(code))
    .map((code) => (code === cards[0] ? card : DEBIT_CODE.test(code) ? ["field", "field", "field"] : []));
}

/**
 * @param {string} name
 * @returns {HTMLElement}
 */
function makeShape(name) {
  const halves = name === "pair" ? [makeShape("field"), makeShape("field")] : [];
  return make("div", `wpwl-skeleton-${name}`, {}, ...halves);
}

/**
 * @param {string} classes
 * @param {string[]} names
 */
function makeBox(classes, names) {
  return make("div", `wpwl-skeleton-box ${classes}`, {}, ...names.map(makeShape));
}

/** @param {string[]} codes */
function makeShapes(codes) {
  const [first = [], ...others] = listShapes(codes);
  if (isAccordion()) {
    const heads = others.map(() => "head");
    return [makeBox("wpwl-skeleton-list", [...(heads.length ? ["head"] : []), ...first, ...heads]), makeShape("button")];
  }
  const isCard = codes.some((code) => CARD_CODE.test(code));
  return [first, ...others].map((shapes) => makeBox("", [isCard && shapes === first ? "field" : "head", ...shapes, "button"]));
}

/** @param {HTMLElement} element */
export function showSkeleton(element) {
  const translator = chooseTranslator(element);
  const word = make("span", "wpwl-skeleton-word", { role: "status" }, translator.translate("formLoading"));
  const shapes = make("div", "wpwl-skeleton-shapes", { "aria-hidden": "true" }, ...makeShapes(readBrandCodes(element)));
  loadSkeletonRules();
  showAt(element, [make("div", "wpwl-skeleton", { "aria-busy": "true", lang: translator.tag, dir: translator.dir }, word, shapes)]);
}
