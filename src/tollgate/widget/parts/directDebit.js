// The form for a direct debit: whose account, its IBAN, and whatever else the scheme asks for.
function makeDirectDebit(place, code) {
  const names = { container: "directDebit", form: "directDebit" };
  const widget = makeWidget("directDebit", names, place, code);
  widget.container.classList.add(`wpwl-container-directDebit-${code}`);
  widget.form.classList.add(`wpwl-form-directDebit-${code}`);
  const { asks, label } = page.configuration.brands[code];
  const basic = [
    makeInputField(widget.voice, "accountHolder"),
    makeInputField(widget.voice, "accountIban"),
    makeWantedField(widget.voice, "accountBic", asks.includes("bankAccount.bic")),
  ].filter((field) => !isGiven(field.names[0]));
  const mandate = makeMandate(widget, code);
  if (mandate) {
    basic.filter(({ name }) => name === "accountIban").forEach(({ control }) => describe(control, mandate.firstChild.id, true));
  }
  const billing = makeBillingBlock(widget.voice);
  const present = [...basic, ...(billing ? billing.fields : [])];
  const asked = makeAskedFields(widget.voice, asks, present);
  widget.fields = [...present, ...asked];
  widget.form.append(
    ...[makeBrandGroup(code, label)].filter(Boolean),
    ...basic.map((field) => field.group),
    ...(billing ? [billing.group] : []),
    ...asked.map((field) => field.group),
  );
  widget.mandate = mandate;
  widget.addFields = () => squeezeAccount(widget);
  return widget;
}

function squeezeAccount(widget) {
  const numbers = widget.fields.filter((field) => ["accountIban", "accountBic"].includes(field.name) && !field.isEmpty());
  return Object.fromEntries(numbers.map((field) => [field.names[0], squeeze(field.control.value)]));
}

// The row of a method says it already.
function makeBrandGroup(code, label) {
  if (isAccordion()) {
    return null;
  }
  const mark = makeMark(code, label, "wpwl-brand-inline");
  const name = make("span", "wpwl-brand-name", {}, label);
  return make("div", "wpwl-group wpwl-group-brandLogo", {}, make("div", "wpwl-wrapper wpwl-wrapper-brandLogo", {}, mark, name));
}
