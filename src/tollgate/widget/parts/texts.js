// Chooses the language and says things in it. What the page calls otherwise (labels, errorMessages) wins.
const DEFAULT_LANGUAGE = "en";

// "zh-Hans-CN" is looked for as a whole first, then without its last words.
function findLanguage(wish) {
  const words = String(wish || "").trim().toLowerCase().replace(/_/g, "-").split("-");
  const names = words.map((_, place) => words.slice(0, words.length - place).join("-"));
  return names.map((name) => (has(TEXTS, name) ? name : has(ALIASES, name) && ALIASES[name])).find(Boolean);
}

function chooseLanguage(...wishes) {
  return wishes.map(findLanguage).find(Boolean) || DEFAULT_LANGUAGE;
}

function readTexts(code) {
  return Object.fromEntries(TEXT_KEYS.map((key, place) => [key, TEXTS[code][place]]));
}

function makeVoice(code, options) {
  const own = { ...onlyTexts(options.labels), ...onlyTexts(options.errorMessages) };
  const texts = { ...readTexts(code), ...own };
  const say = (key, values) =>
    Object.entries(values || {}).reduce((text, [name, value]) => text.replace(`{${name}}`, () => value), texts[key] || "");
  const isOwn = (key) => has(own, key);
  return { say, isOwn, code, tag: texts.tag, dir: texts.dir };
}

function onlyTexts(given) {
  return Object.fromEntries(Object.entries(given || {}).filter(([, text]) => typeof text === "string"));
}
