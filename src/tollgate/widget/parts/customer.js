// The shopper as a person: what the page knows beforehand, and what else it wants to be told.
const CUSTOMER_WORDS = [
  "merchantCustomerId",
  "salutation",
  "givenName",
  "middleName",
  "surname",
  "sex",
  "birthDate",
  "phone",
  "mobile",
  "workPhone",
  "email",
  "companyName",
  "language",
  "category",
  "status",
  "identificationDocType",
  "identificationDocId",
];
const PERSONAL_FIELDS = { showBirthDate: "birthDate", showTaxNumberField: "taxNumber" };

// By the parameters' names; what is no text, or no member that the service knows, is left out.
function readCustomer(given) {
  const known = readObject(given) || {};
  const words = CUSTOMER_WORDS.filter((word) => typeof known[word] === "string" && known[word].trim() !== "");
  return Object.fromEntries(words.map((word) => [`customer.${word}`, known[word].trim()]));
}

function makePersonalFields(voice) {
  const wished = Object.keys(PERSONAL_FIELDS).filter((option) => page.settings[option]);
  const names = wished.map((option) => PERSONAL_FIELDS[option]);
  return names.filter((name) => !isGiven(INPUTS[name].names[0])).map((name) => makeInputField(voice, name));
}

// What a field of the form says is the shopper's, even where it was emptied; the rest comes along unseen.
function collectCustomer(form) {
  const unseen = Object.entries(page.settings.customer).filter(([name]) => !form.elements.namedItem(name));
  return Object.fromEntries(unseen);
}
