// The month and year a card ends: how they are written while typing, and whether they lie ahead.

const YEARS_AHEAD_MAX = 50;
const SLASH = " / ";
const YEAR_FIRST = /^\s*(20[0-9]{2})[^0-9]+([0-9]{1,2})\s*$/;

/** What was typed so far as month and year: `5` is May, `13` is January and the beginning of a year. */
function readExpiry(text) {
  const plain = [...text].map((character) => readDigit(character) || character).join("");
  const turned = YEAR_FIRST.exec(plain);
  if (turned) return { month: turned[2].padStart(2, "0"), year: turned[1] };
  const digits = readDigits(plain);
  const isOneDigitMonth = /^[^0-9]*1[^0-9]+/.test(plain) || Number(digits[0]) > 1 || /^1[3-9]/.test(digits);
  const whole = isOneDigitMonth ? `0${digits}` : digits;
  const year = whole.slice(2);
  return { month: whole.slice(0, 2), year: year.slice(0, year.startsWith("20") ? 4 : 2) };
}

/** `MM / YY`; the slash comes by itself, except to somebody who is deleting. */
function writeExpiry(text, isDeleting) {
  const { month, year } = readExpiry(text);
  if (month.length < 2) return month;
  return year === "" && isDeleting ? month : month + SLASH + year;
}

function isAhead(month, year, now) {
  return year * 12 + month >= now.year * 12 + now.month && year <= now.year + YEARS_AHEAD_MAX;
}

function canBecomeMonth(month) {
  return month.length < 2 ? "01".includes(month) : Number(month) >= 1 && Number(month) <= 12;
}

function canBecomeYear(month, year, now) {
  for (let candidate = now.year; candidate <= now.year + YEARS_AHEAD_MAX; candidate += 1) {
    const isSpelled = String(candidate).startsWith(year) || String(candidate).slice(2).startsWith(year);
    if (isSpelled && isAhead(month.length < 2 ? 12 : Number(month), candidate, now)) return true;
  }
  return false;
}

function judgeExpiry(text, now) {
  const { month, year } = readExpiry(text);
  const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
  const isPotentiallyValid = canBecomeMonth(month) && canBecomeYear(month, year, now);
  const error = nameExpiryFault(month, year, fullYear, now);
  return { isValid: error === null, isPotentiallyValid, error, month, year: String(fullYear) };
}

function nameExpiryFault(month, year, fullYear, now) {
  if (!canBecomeMonth(month)) return "expiryMonthError";
  if (month.length < 2 || year === "" || year.length % 2 === 1) return "expiryError";
  if (isAhead(Number(month), fullYear, now)) return null;
  return fullYear === now.year ? "expiryMonthError" : "expiryYearError";
}
