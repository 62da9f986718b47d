// What a bank wants to know of the browser before it decides whether to ask the shopper anything.
const COLOR_DEPTHS = [48, 32, 24, 16, 15, 8, 4, 1];
const LANGUAGE_LENGTH_MAX = 8;

// Longer ones are not understood there, but their first word is.
function shortenLanguage(language) {
  return language.length > LANGUAGE_LENGTH_MAX ? language.split("-")[0] : language;
}

function describeBrowser() {
  const facts = {
    language: shortenLanguage(navigator.language),
    screenHeight: screen.height,
    screenWidth: screen.width,
    timezone: new Date().getTimezoneOffset(),
    javaEnabled: typeof navigator.javaEnabled === "function" && navigator.javaEnabled(),
    javascriptEnabled: true,
    screenColorDepth: COLOR_DEPTHS.find((depth) => depth <= screen.colorDepth) || 24,
    challengeWindow: page.settings.challengeWindow,
    userAgent: navigator.userAgent,
  };
  const told = Object.entries(facts).filter(([, value]) => value !== "" && value !== undefined);
  return Object.fromEntries(told.map(([name, value]) => [`customer.browser.${name}`, String(value)]));
}
