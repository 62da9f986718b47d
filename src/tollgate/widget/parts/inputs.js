// Fields that live in the shop's page: one row for each, and the engine that makes an input of a row.
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const TAX_NUMBER_LENGTH_MIN = 8;
const BIC = /^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/;

// name of the group: parameter, key of its label, what browsers fill in, longest value, whether a text will do;
// `also` is sent beside it.
const INPUTS = {
  cardHolder: { names: ["card.holder"], label: "cardHolder", autocomplete: "cc-name", max: 128, fits: isHolder, isPartial: isPartOfHolder },
  givenName: { names: ["customer.givenName"], label: "givenName", autocomplete: "cc-given-name", max: 48 },
  surname: { names: ["customer.surname"], label: "surname", autocomplete: "cc-family-name", max: 48 },
  accountHolder: { names: ["bankAccount.holder"], label: "accountHolder", autocomplete: "name", max: 128, fits: isHolder, isPartial: isPartOfHolder },
  accountIban: { names: ["bankAccount.iban"], label: "accountIban", autocomplete: "off", max: 64, fits: isIban, isPartial: isPartOfIban, setsUp: groupWhileTyping, isLatin: true },
  accountBic: { names: ["bankAccount.bic"], label: "accountBic", autocomplete: "off", max: 14, fits: isBic, isPartial: isPartOfBic, isLatin: true },
  accountBank: { names: ["bankAccount.bankName"], label: "bankName", autocomplete: "off", max: 255 },
  accountNumber: { names: ["bankAccount.number"], label: "accountNumber", autocomplete: "off", max: 64, isLatin: true },
  accountCountry: { names: ["bankAccount.country"], label: "country", autocomplete: "country", isCountry: true },
  virtualAccount: { names: ["virtualAccount.accountId"], label: "accountNumber", autocomplete: "off", max: 100 },
  email: { names: ["customer.email"], label: "email", autocomplete: "email", type: "email", max: 128, fits: isEmail, isPartial: isPartOfEmail },
  mobilePhone: { names: ["customer.mobile"], label: "mobilePhone", autocomplete: "tel", type: "tel", max: 25, isLatin: true },
  phone: { names: ["customer.phone"], label: "mobilePhone", autocomplete: "tel", type: "tel", max: 25, isLatin: true },
  birthDate: { names: ["customer.birthDate"], label: "birthDate", autocomplete: "bday", type: "date", fits: isBirthDate },
  taxNumber: {
    names: ["customer.identificationDocId"],
    label: "taxNumber",
    autocomplete: "off",
    max: 64,
    fits: isTaxNumber,
    isPartial: isNumberLike,
    isLatin: true,
    also: { "customer.identificationDocType": "TAXSTATEMENT" },
  },
  billingCountry: { names: ["billing.country"], label: "country", autocomplete: "billing country", isCountry: true },
  billingState: { names: ["billing.state"], label: "state", autocomplete: "billing address-level1", max: 50 },
  billingCity: { names: ["billing.city"], label: "city", autocomplete: "billing address-level2", max: 80 },
  billingPostcode: { names: ["billing.postcode"], label: "postcode", autocomplete: "billing postal-code", max: 16, fits: isPostcode, isPartial: isPartOfPostcode, setsUp: spellPostcode },
  billingStreet1: { names: ["billing.street1"], label: "street1", autocomplete: "billing address-line1", max: 100 },
  billingStreet2: { names: ["billing.street2"], label: "street2", autocomplete: "billing address-line2", max: 100 },
};

function isHolder(text) {
  return judgeHolder(text).isValid;
}

function isPartOfHolder(text) {
  return judgeHolder(text).kind === "incomplete";
}

function isEmail(text) {
  return EMAIL.test(text);
}

// Nothing that could not begin an address has been typed yet.
function isPartOfEmail(text) {
  return /^[^\s@]+(@[^\s@]*)?$/.test(text);
}

function isPartOfBic(text) {
  return /^[A-Z]{0,6}$|^[A-Z]{6}[A-Z0-9]{0,4}$/.test(squeeze(text)) && isNumberLike(text);
}

// As a date field gives it, whatever the shopper sees.
function isBirthDate(text) {
  return /^(19|20)\d\d-\d\d-\d\d$/.test(text) && new Date(text) <= new Date();
}

function isTaxNumber(text) {
  return text.length >= TAX_NUMBER_LENGTH_MIN;
}

function findInputName(parameter) {
  return Object.keys(INPUTS).find((name) => INPUTS[name].names.includes(parameter));
}

function findKnown(name) {
  return page.settings.customer[INPUTS[name].names[0]] || "";
}

// What is typed runs from left to right, but the words that stand in an empty field run as the form does.
function turnWhileEmpty(control, dir) {
  const turn = () => control.setAttribute("dir", control.value === "" ? dir : "ltr");
  control.addEventListener("input", turn);
  control.addEventListener("change", turn);
  turn();
}

// A field of the page. `isNeeded`: an empty one is a fault.
function makeInputField(voice, name, { isNeeded = true, value = findKnown(name), groupName = name } = {}) {
  const row = INPUTS[name];
  const id = makeId(name);
  const text = voice.say(row.label);
  const attributes = { id, name: row.names[0], autocomplete: row.autocomplete, "aria-required": isNeeded ? "true" : null };
  const classes = `wpwl-control wpwl-control-${groupName}`;
  const control = row.isCountry
    ? makeCountrySelect(voice, classes, attributes, value)
    : make("input", classes, { ...attributes, type: row.type || "text", maxlength: row.max });
  if (!row.isCountry) {
    control.value = value;
    control.placeholder = page.settings.showPlaceholders ? text : "";
  }
  if (row.isLatin) {
    turnWhileEmpty(control, voice.dir);
  }
  if (row.setsUp) {
    row.setsUp(control);
  }
  const field = {
    name,
    names: row.names,
    control,
    frame: null,
    fault: "",
    // A date that is half typed has no value yet.
    isEmpty: () => control.value.trim() === "" && !control.validity.badInput,
    isHopeless: () => false,
    focus: () => control.focus(),
    tellKind: () => (control.validity.badInput || (row.isPartial && row.isPartial(control.value.trim(), control)) ? "incomplete" : "invalid"),
    judge() {
      if (field.isEmpty()) {
        return isNeeded ? usualError(field) : "";
      }
      return control.validity.badInput || (row.fits && !row.fits(control.value.trim(), control)) ? usualError(field) : "";
    },
  };
  Object.assign(field, makeGroup(voice, groupName, text, control, { controlId: id }));
  field.group.append(...Object.entries(row.also || {}).map(([also, said]) => makeHidden(also, said)));
  control.addEventListener("input", () => judgeWhileTyping(voice, field));
  control.addEventListener("change", () => judgeWhileTyping(voice, field));
  control.addEventListener("blur", () => judgeOnLeaving(voice, field));
  return field;
}
