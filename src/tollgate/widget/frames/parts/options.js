// What the page may ask of a frame, member by member; what is unknown or misshapen is passed over. Styles are a list of
// harmless properties with harmless values: nothing that loads, covers, or reads anything.

const TEXT_LENGTH_MAX = 300;
const CODES_MAX = 100;
const STYLE_LENGTH_MAX = 160;
const CHECKOUT_ID = /^[0-9A-F]{32}\.[a-z0-9-]{1,63}$/;
const STYLE_VALUE = /^[\w\s#%.,()'"+/-]+$/;
const STYLE_FUNCTIONS = new Set("rgb rgba hsl hsla hwb lab lch oklab oklch calc".split(" "));
const STYLE_NAMES = new Set([
  "background-color", "caret-color", "color", "font", "font-family", "font-feature-settings", "font-kerning",
  "font-size", "font-size-adjust", "font-stretch", "font-style", "font-variant", "font-variant-numeric", "font-weight",
  "letter-spacing", "line-height", "opacity", "padding", "padding-block", "padding-bottom", "padding-inline",
  "padding-inline-end", "padding-inline-start", "padding-left", "padding-right", "padding-top", "text-align",
  "text-indent", "text-shadow", "text-transform", "word-spacing",
]);
const COLOR_NAMES = ["text", "placeholder", "error", "background"];

const isFlag = (value) => typeof value === "boolean";
const isText = (value) => typeof value === "string" && value.length <= TEXT_LENGTH_MAX;
const isWords = (value) => typeof value === "string";
const isOneOf = (...choices) => (value) => choices.includes(value);
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isCode = (value) => typeof value === "string" && findRow(value) !== null;
const isCodeList = (value) => Array.isArray(value) && value.length <= CODES_MAX;

const OPTION_CHECKS = {
  lang: (value) => isText(value) && /^[A-Za-z0-9-]*$/.test(value),
  dir: isOneOf("ltr", "rtl"),
  scheme: isOneOf("light", "dark"),
  label: isWords,
  placeholder: isWords,
  hint: isWords,
  brand: (value) => value === null || isCode(value),
  accepted: isCodeList,
  priority: isCodeList,
  detects: isFlag,
  formats: isFlag,
  masks: isFlag,
  allowsEmpty: isFlag,
  required: isFlag,
  autofocus: isFlag,
  styles: isRecord,
  placeholderStyles: isRecord,
  colors: isRecord,
  checkoutId: (value) => typeof value === "string" && CHECKOUT_ID.test(value),
  resource: isOneOf("payment", "registration"),
};

const OPTION_DEFAULTS = {
  brand: null,
  accepted: [],
  priority: [],
  detects: false,
  formats: true,
  masks: false,
  allowsEmpty: false,
  required: true,
  resource: "payment",
};

/** Known codes only, each once. */
function keepCodes(codes) {
  return [...new Set(codes.filter(isCode))];
}

/** What a page says too long-windedly is still worth hearing. */
function cutWords(words) {
  return words.length <= TEXT_LENGTH_MAX ? words : `${words.slice(0, TEXT_LENGTH_MAX - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

const TIDYINGS = new Map([[isCodeList, keepCodes], [isWords, cutWords]]);

/** The options as they are from now on. */
function mergeOptions(options, given) {
  if (!isRecord(given)) return options;
  const merged = { ...options };
  for (const [name, isRight] of Object.entries(OPTION_CHECKS)) {
    if (!has(given, name) || !isRight(given[name])) continue;
    const tidy = TIDYINGS.get(isRight);
    merged[name] = tidy ? tidy(given[name]) : given[name];
  }
  return merged;
}

function isHarmlessStyle(value) {
  if (typeof value !== "string" || value.length > STYLE_LENGTH_MAX || !STYLE_VALUE.test(value)) return false;
  return (value.match(/[\w-]*\s*\(/g) || []).every((opening) => STYLE_FUNCTIONS.has(opening.slice(0, -1).toLowerCase()));
}

/** `fontSize` and `font-size` alike, as pairs of name and value that may be set. */
function listStyles(styles) {
  return Object.entries(styles)
    .map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value])
    .filter(([name, value]) => STYLE_NAMES.has(name) && isHarmlessStyle(value));
}

function listColors(colors) {
  return COLOR_NAMES.filter((name) => has(colors, name) && isHarmlessStyle(colors[name])).map((name) => [
    `--${name}`,
    colors[name],
  ]);
}
