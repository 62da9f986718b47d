// The four fields: how each sets what is typed, judges it, and names what it sends. No part of the page is touched here.

const HOLDER_LENGTH_MIN = 3;
const HOLDER_LENGTH_MAX = 128;
const HOLDER_DIGITS_MAX = 11; // A card number typed into the wrong field is longer.
const CVV_LENGTHS = [3, 4];

function listCvvLengths(brand) {
  const row = findRow(brand || "");
  return row === null ? CVV_LENGTHS : [row.cvvLength];
}

function readHolder(text) {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}

function judgeHolder(text) {
  const holder = readHolder(text);
  const length = [...holder].length;
  const isPotentiallyValid = length <= HOLDER_LENGTH_MAX && readDigits(holder).length <= HOLDER_DIGITS_MAX;
  const isValid = isPotentiallyValid && length >= HOLDER_LENGTH_MIN && /\p{L}/u.test(holder);
  const isBegun = length < HOLDER_LENGTH_MIN && /^$|\p{L}/u.test(holder);
  const kind = isPotentiallyValid && isBegun ? "incomplete" : "invalid";
  return { isValid, isPotentiallyValid, kind, error: isValid ? null : "cardHolderError" };
}

function judgeCvv(digits, brand) {
  const lengths = listCvvLengths(brand);
  const isValid = lengths.includes(digits.length);
  const isPotentiallyValid = digits.length <= Math.max(...lengths);
  const kind = isPotentiallyValid ? "incomplete" : "invalid";
  return { isValid, isPotentiallyValid, kind, error: isValid ? null : "cvvError" };
}

/** Digits in their new setting, with the caret behind the same digit as before. */
function setDigits(text, caret, lengthMax, write) {
  const digits = readDigits(text).slice(0, lengthMax);
  const written = write(digits);
  return { text: written, caret: placeAfter(written, Math.min(readDigits(text.slice(0, caret)).length, digits.length)) };
}

/** The helper writes a slash and a zero of its own, which a caret at the end follows and any other one counts in. */
function setExpiry(text, caret, isDeleting) {
  const written = writeExpiry(text, isDeleting);
  if (written === text) return { text, caret };
  if (caret >= text.length) return { text: written, caret: written.length };
  const added = written.startsWith("0") && !readDigits(text).startsWith("0") ? 1 : 0;
  return { text: written, caret: placeAfter(written, readDigits(text.slice(0, caret)).length + added) };
}

const FIELDS = {
  number: {
    fault: "cardNumberError",
    isDigits: true,
    deleteAt: deleteAcross,
    count: (text) => readDigits(text).length,
    set: (text, caret, options) =>
      setDigits(text, caret, limitLength(readDigits(text), options), (digits) =>
        options.formats ? groupDigits(digits, chooseGrouping(digits, options)) : digits
      ),
    judge: (text, options) => judgeNumber(readDigits(text), options),
    values: (text) => ({ "card.number": readDigits(text) }),
  },
  cvv: {
    fault: "cvvError",
    isDigits: true,
    deleteAt: deleteAcross,
    count: (text) => readDigits(text).length,
    set: (text, caret, options) =>
      setDigits(text, caret, Math.max(...listCvvLengths(options.brand)), (digits) => digits),
    judge: (text, options) => judgeCvv(readDigits(text), options.brand),
    values: (text) => ({ "card.cvv": readDigits(text) }),
  },
  holder: {
    fault: "cardHolderError",
    isDigits: false,
    deleteAt: () => null,
    count: (text) => [...text].length,
    set: (text, caret) => ({ text, caret }),
    judge: judgeHolder,
    values: (text) => ({ "card.holder": readHolder(text) }),
  },
  expiry: {
    fault: "expiryError",
    isDigits: true,
    deleteAt: deleteAtSlash,
    count: (text) => readDigits(text).length,
    set: (text, caret, _options, isDeleting) => setExpiry(text, caret, isDeleting),
    judge: (text, _options, now) => judgeExpiry(text, now),
    values: (text, now) => {
      const { month, year } = judgeExpiry(text, now);
      return { "card.expiryMonth": month, "card.expiryYear": year };
    },
  },
};

/** What may be told of a field: whether it is right, never what stands in it. */
function judgeField(field, text, options, now) {
  const isEmpty = FIELDS[field].count(text) === 0;
  if (isEmpty && options.allowsEmpty) return { isEmpty, isValid: true, isPotentiallyValid: true, kind: null, error: null };
  const { isValid, isPotentiallyValid, kind, error } = FIELDS[field].judge(text, options, now);
  return { isEmpty, isValid, isPotentiallyValid, kind: isValid ? null : kind, error };
}
