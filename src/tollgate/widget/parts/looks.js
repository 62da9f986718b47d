// The stylesheet, and how a frame looks: a page's rules do not reach into it, so what they make of a field is
// read here and told to the frame.
const STYLE_FILES = {
  card: ["widget.css", "marks.css", "dialog.css", "wallets.css"],
  plain: ["marks.css", "plain.css", "wallets.css"],
  logos: ["widget.css", "marks.css", "dialog.css", "wallets.css", "logos.css"],
  none: [],
};
const STYLE_PATIENCE_MS = 3000;
const COPIED_STYLES = [
  "font-family",
  "font-size",
  "font-style",
  "font-weight",
  "letter-spacing",
  "line-height",
  "text-align",
  "text-transform",
];

function loadStyles({ style, layout }) {
  const first = document.head.firstChild;
  const names = [...STYLE_FILES[style], ...(layout === "accordion" && style !== "none" ? ["accordion.css"] : [])];
  return Promise.race([Promise.all(names.map((name) => loadStyle(name, first))), wait(STYLE_PATIENCE_MS)]);
}

// In front of everything, so that rules of the shop of equal weight win.
function loadStyle(name, before) {
  return new Promise((resolve) => {
    const link = make("link", "wpwl-stylesheet", { rel: "stylesheet", href: assetAddress(name) });
    link.addEventListener("load", resolve);
    link.addEventListener("error", () => {
      // Whoever tries again loads it again.
      link.remove();
      page.styled = null;
      resolve();
    });
    document.head.insertBefore(link, before);
    onUnload(() => link.remove());
  });
}

function isTransparent(color) {
  return !color || color === "transparent" || /^rgba\(.*, 0\)$/.test(color);
}

function readScheme(computed) {
  const offered = computed.colorScheme || "normal";
  if (offered.includes("dark") && offered.includes("light")) {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  return offered.includes("dark") ? "dark" : "light";
}

// Where a form has frames alone, an input that stands beside one for this moment shows what it would look like.
function readPlaceholderColor(element, sample) {
  if (sample) {
    return getComputedStyle(sample, "::placeholder").color;
  }
  const input = make("input", "wpwl-control", { placeholder: " " });
  element.after(input);
  const { color } = getComputedStyle(input, "::placeholder");
  input.remove();
  return color;
}

function readColors(element, sample) {
  const computed = getComputedStyle(element);
  return {
    text: computed.color,
    placeholder: readPlaceholderColor(element, sample) || computed.color,
    error: computed.color,
    background: isTransparent(computed.backgroundColor) ? "transparent" : computed.backgroundColor,
  };
}

function readFrameLooks(element, sample, wished) {
  const computed = getComputedStyle(element);
  const copied = Object.fromEntries(COPIED_STYLES.map((name) => [name, computed.getPropertyValue(name)]));
  return {
    colors: readColors(element, sample),
    scheme: readScheme(computed),
    styles: { ...copied, ...wished.styles },
    placeholderStyles: wished.placeholderStyles,
  };
}

// `iframeStyles` names frames as pages do: "card-number", "cvv-placeholder".
const STYLE_NAMES = { number: "card-number", cvv: "cvv", holder: "card-holder", expiry: "expiry" };

function readWishedStyles(field) {
  const given = page.settings.iframeStyles;
  const name = STYLE_NAMES[field];
  return { styles: readObject(given[name]) || {}, placeholderStyles: readObject(given[`${name}-placeholder`]) || {} };
}
