// The billing address, where the page wants it, and any other field that the page or a brand asks for.
const BILLING_FIELDS = {
  country: "billingCountry",
  state: "billingState",
  city: "billingCity",
  postcode: "billingPostcode",
  street1: "billingStreet1",
  street2: "billingStreet2",
};
// Where the page does not say which fields must be filled in.
const USUAL_BILLING = { country: true, city: true, postcode: true, street1: true };

function isGiven(parameter) {
  return (page.configuration.given || []).includes(parameter);
}

function makeBillingBlock(voice) {
  const { billingAddress, mandatoryBilling } = page.settings;
  if (!billingAddress) {
    return null;
  }
  const wanted = Object.keys(BILLING_FIELDS).filter((word) => !isGiven(`billing.${word}`));
  const fields = wanted.map((word) => {
    const isNeeded = isOn((mandatoryBilling || USUAL_BILLING)[word], false);
    return makeWantedField(voice, BILLING_FIELDS[word], isNeeded, { value: String(billingAddress[word] || "") });
  });
  return fields.length ? { group: groupBilling(voice, fields), fields } : null;
}

function groupBilling(voice, fields) {
  const [country, postcode] = [BILLING_FIELDS.country, BILLING_FIELDS.postcode].map((name) => fields.find((field) => field.name === name));
  if (country && postcode) {
    country.control.addEventListener("change", () => judgeLeft(voice, postcode));
  }
  const legend = make("legend", "wpwl-label wpwl-label-billing", {}, voice.say("billingAddress"));
  return make("fieldset", "wpwl-group wpwl-group-billing", {}, legend, ...fields.map((field) => field.group));
}

// 3-D Secure needs an address, and only the service knows which cards take part: it names what is missing, and the
// form asks for that above its button. Returns the fields that were added.
function askForBilling(widget, names) {
  const there = new Set(widget.fields.flatMap((field) => field.names));
  const missing = Object.values(BILLING_FIELDS).filter(
    (name) => names.includes(INPUTS[name].names[0]) && !there.has(INPUTS[name].names[0]),
  );
  if (!missing.length) {
    return [];
  }
  const fields = missing.map((name) => makeInputField(widget.voice, name));
  widget.fields = [...widget.fields, ...fields];
  widget.askedFields = [...(widget.askedFields || []), ...fields];
  addAsked(widget, groupBilling(widget.voice, fields));
  return fields;
}

// What the page wants to know of the shopper, and fields a brand asks for by their parameters, but for those that
// stand in the form already.
function makeAskedFields(voice, asks, present) {
  const personal = makePersonalFields(voice);
  const there = new Set([...present, ...personal].flatMap((field) => field.names));
  const names = asks.filter((parameter) => !there.has(parameter)).map(findInputName);
  return [...personal, ...[...new Set(names.filter(Boolean))].map((name) => makeInputField(voice, name))];
}
