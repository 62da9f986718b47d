// The expiry date as a field of the page: two digits of month, a slash that appears by itself, two or four of year.
const YEARS_AHEAD_MAX = 50;
const DIGIT_ZEROS = [0x0660, 0x06f0, 0xff10];

// Digits of other scripts are digits too.
function readDigits(text) {
  const plain = Array.from(text, (sign) => {
    const zero = DIGIT_ZEROS.find((start) => sign.codePointAt(0) >= start && sign.codePointAt(0) < start + 10);
    return zero === undefined ? sign : String(sign.codePointAt(0) - zero);
  });
  return plain.join("").replace(/[^\d/.\s-]/g, "");
}

// Typed, pasted or filled in by a browser: "0534", "5/34", "05 / 2034", "2034-05".
function readExpiryDigits(text) {
  const plain = readDigits(text);
  const turned = /^\s*(20\d\d)\s*[-/.]\s*(\d{1,2})\s*$/.exec(plain);
  if (turned) {
    return turned[2].padStart(2, "0") + turned[1];
  }
  const parted = /^\s*([1-9])\s*[-/.]/.exec(plain);
  const digits = (parted ? "0" : "") + plain.replace(/\D/g, "");
  const whole = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  return whole.slice(0, whole.slice(2, 4) === "20" ? 6 : 4);
}

function formatExpiry(digits, isGrowing) {
  if (digits.length < 2 || (digits.length === 2 && !isGrowing)) {
    return digits;
  }
  return `${digits.slice(0, 2)} / ${digits.slice(2)}`;
}

function readExpiry(text) {
  const digits = readExpiryDigits(text);
  const year = digits.slice(2);
  return { digits, month: digits.slice(0, 2), year: year.length === 2 ? `20${year}` : year };
}

function judgeExpiry({ digits, month, year }, now) {
  if (month.length === 2 && (Number(month) < 1 || Number(month) > 12)) {
    return "expiryMonthError";
  }
  if (digits.length < 4 || year.length !== 4) {
    return "expiryError";
  }
  const [thisYear, thisMonth] = [now.getFullYear(), now.getMonth() + 1];
  if (Number(year) < thisYear || Number(year) > thisYear + YEARS_AHEAD_MAX) {
    return "expiryYearError";
  }
  return Number(year) === thisYear && Number(month) < thisMonth ? "expiryMonthError" : "";
}

// "05 / 20" may be on its way to 2034; any other complete and wrong date is not.
function isHopelessExpiry(expiry, now) {
  const error = judgeExpiry(expiry, now);
  const grows = expiry.digits.length === 4 && expiry.digits.slice(2) === "20";
  return error !== "" && error !== "expiryError" && !grows;
}

function formatWhileTyping(control, event) {
  const isGrowing = !String(event.inputType || "").startsWith("delete");
  const atEnd = control.selectionStart === control.value.length;
  const digitsBefore = control.value.slice(0, control.selectionStart).replace(/\D/g, "").length;
  const formatted = formatExpiry(readExpiryDigits(control.value), isGrowing);
  if (formatted === control.value) {
    return;
  }
  control.value = formatted;
  if (!atEnd) {
    const caret = digitsBefore > 2 ? digitsBefore + 3 : digitsBefore;
    control.setSelectionRange(caret, caret);
  }
}

function makeExpiryField(voice) {
  const id = makeId("expiry");
  const text = voice.say("expiryDate");
  const control = make("input", "wpwl-control wpwl-control-expiry", {
    id,
    name: "card.expiry",
    type: "text",
    inputmode: "numeric",
    autocomplete: "cc-exp",
    maxlength: 9,
    dir: "ltr",
    "aria-required": "true",
    placeholder: page.settings.showPlaceholders ? voice.say("mmyy") : null,
  });
  const month = make("input", "", { type: "hidden", name: "card.expiryMonth" });
  const year = make("input", "", { type: "hidden", name: "card.expiryYear" });
  const judge = () => {
    const error = judgeExpiry(readExpiry(control.value), new Date());
    return page.settings.disableCardExpiryDateValidation && error !== "expiryError" ? "" : error;
  };
  const field = {
    name: "expiry",
    names: ["card.expiry", "card.expiryMonth", "card.expiryYear"],
    control,
    hiddens: [month, year],
    frame: null,
    fault: "",
    judge,
    isEmpty: () => control.value === "",
    isHopeless: () => judge() !== "" && isHopelessExpiry(readExpiry(control.value), new Date()),
    focus: () => control.focus(),
  };
  Object.assign(field, makeGroup(voice, "expiry", text, control, { controlId: id }));
  control.addEventListener("input", (event) => {
    formatWhileTyping(control, event);
    const expiry = readExpiry(control.value);
    [month.value, year.value] = [expiry.month, expiry.year];
    judgeWhileTyping(voice, field);
  });
  control.addEventListener("blur", () => judgeOnLeaving(voice, field));
  return field;
}
