// The one input of this frame: how it looks and is read out, and what typing in it does.

const input = document.querySelector("input");
const hint = document.querySelector("[data-hint]");
const field = input.dataset.field;
const placeholderStyle = makePlaceholderStyle();
const canMaskByStyle = placeholderStyle !== null && CSS.supports("-webkit-text-security", "disc");
const BARE_STYLES = { "box-sizing": "border-box", width: "100%", margin: "0" };

let options = OPTION_DEFAULTS;
let isDeleting = false;
let arranged = "";
let toldBrands = "";
let toldHeight = 0;

/** Nothing where the style sheet was lost on the way: its rules cannot be read then. */
function makePlaceholderStyle() {
  try {
    const [sheet] = document.styleSheets;
    return sheet.cssRules[sheet.insertRule("input::placeholder {}", sheet.cssRules.length)].style;
  } catch {
    return null;
  }
}

/** Plain, and as wide as the frame; what the sheet would only hide from the eye is not shown. */
function doWithoutSheet() {
  setStyles(document.body.style, [["margin", "0"]]);
  setStyles(input.style, Object.entries(BARE_STYLES));
  hint.hidden = true;
}

function readNow() {
  const today = new Date();
  return { year: today.getFullYear(), month: today.getMonth() + 1 };
}

function judge() {
  return judgeField(field, input.value, options, readNow());
}

function setValue({ text, caret }) {
  if (input.value === text) return;
  input.value = text;
  // In a field that is not being used, this would steal the focus in some browsers.
  if (document.activeElement === input) input.setSelectionRange(caret, caret);
}

/** Sets what stands in the input in its blocks. */
function arrange() {
  setValue(FIELDS[field].set(input.value, input.selectionStart ?? input.value.length, options, isDeleting));
}

function tellChange() {
  const { isValid, isPotentiallyValid, isEmpty, kind } = judge();
  tell({ type: "change", isValid, isPotentiallyValid, isEmpty, kind, length: FIELDS[field].count(input.value) });
}

function tellBrands() {
  if (field !== "number" || !options.detects) return;
  const found = detectAmong(readDigits(input.value), options);
  const text = JSON.stringify(found);
  if (text === toldBrands) return;
  toldBrands = text;
  tell({ type: "brands", ...found });
}

function tellHeight() {
  const { lineHeight, fontSize, paddingTop, paddingBottom } = getComputedStyle(input);
  const line = Number.parseFloat(lineHeight) || 1.5 * Number.parseFloat(fontSize);
  const px = Math.ceil(line + Number.parseFloat(paddingTop) + Number.parseFloat(paddingBottom));
  if (px === toldHeight) return;
  toldHeight = px;
  tell({ type: "height", px });
}

function react() {
  arrange();
  arranged = input.value;
  tellBrands();
  tellChange();
}

/** Browsers, and programs that fill in forms, do not always tell that something stands here now. */
function catchUp() {
  if (input.value === arranged) return;
  isDeleting = false;
  react();
}

function clear() {
  if (input.value === "") return;
  input.value = "";
  react();
}

function setStyles(style, pairs) {
  for (const [name, value] of pairs) style.setProperty(name, value);
}

function mask(isMasked) {
  input.classList.toggle("is-masked", isMasked && canMaskByStyle);
  input.type = isMasked && !canMaskByStyle ? "password" : "text";
}

/** Digits are written from left to right everywhere; only the side they begin at follows the page. */
function turn(direction) {
  input.dir = FIELDS[field].isDigits ? "ltr" : direction;
  input.classList.toggle("is-at-right", direction === "rtl");
}

/** The side where text begins in the page need not be the side where digits begin here: `turn` knows it. */
function isNoUsualSide([name, value]) {
  return name !== "text-align" || value !== "start";
}

const APPLICATIONS = {
  lang: (value) => (document.documentElement.lang = value),
  dir: turn,
  scheme: (value) => (document.documentElement.style.colorScheme = value),
  label: (value) => input.setAttribute("aria-label", value),
  placeholder: (value) => (input.placeholder = value),
  hint: (value) => {
    hint.textContent = value;
    input.setAttribute("aria-invalid", String(value !== ""));
  },
  masks: (value) => mask(field === "cvv" && value),
  required: (value) => input.setAttribute("aria-required", String(value)),
  colors: (value) => setStyles(document.documentElement.style, listColors(value)),
  styles: (value) => setStyles(input.style, listStyles(value).filter(isNoUsualSide)),
  placeholderStyles: (value) => placeholderStyle && setStyles(placeholderStyle, listStyles(value)),
};

function takeOptions(given) {
  const before = options;
  options = mergeOptions(before, given);
  for (const [name, apply] of Object.entries(APPLICATIONS)) {
    if (options[name] !== undefined && options[name] !== before[name]) apply(options[name]);
  }
  // Another brand may mean other blocks, another length and another judgement.
  const isJudgedAnew = ["brand", "accepted", "priority", "detects", "formats", "allowsEmpty"].some(
    (name) => JSON.stringify(options[name]) !== JSON.stringify(before[name])
  );
  if (isJudgedAnew && input.value !== "") react();
  tellHeight();
}

function hopOverSeparator(event) {
  const isForward = event.inputType === "deleteContentForward";
  if (input.selectionStart !== input.selectionEnd) return;
  if (!isForward && event.inputType !== "deleteContentBackward") return;
  const left = FIELDS[field].deleteAt(input.value, input.selectionStart, isForward);
  if (left === null) return;
  event.preventDefault();
  isDeleting = true;
  setValue(left);
  react();
}

function listenToInput() {
  input.addEventListener("beforeinput", hopOverSeparator);
  input.addEventListener("input", (event) => {
    // What an input method is still composing must not be touched under its hands.
    if (event.isComposing) return;
    isDeleting = (event.inputType || "").startsWith("delete");
    react();
  });
  input.addEventListener("compositionend", () => {
    isDeleting = false;
    react();
  });
  input.addEventListener("change", catchUp);
  input.addEventListener("focus", () => tell({ type: "focus" }));
  input.addEventListener("blur", () => {
    catchUp();
    const { isValid, isEmpty, kind } = judge();
    tell({ type: "blur", isValid, isEmpty, kind });
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    tell({ type: "enter" });
  });
  // A page that focuses the frame means its input.
  window.addEventListener("focus", () => input.focus());
}
