// Cards that the shopper has stored with this merchant: one is chosen, and one click pays.
function makeStoredCards(place) {
  const names = { container: "registration", form: "registrations", id: "registration" };
  const widget = makeWidget("registration", names, place, null);
  widget.form.classList.add("wpwl-form-has-inputs");
  widget.form.setAttribute("data-action", "submit-registration");
  widget.form.setAttribute("target", page.settings.paymentTarget || "registrations-target");
  widget.rows = page.configuration.registrations.map((card) => makeStoredCard(widget, card));
  const legend = make("legend", "wpwl-label wpwl-label-registrations", {}, widget.voice.say("storedCards"));
  widget.form.append(make("fieldset", "wpwl-registrations", {}, legend, ...widget.rows.map((row) => row.group)));
  widget.submitter = () => (widget.chosen && widget.chosen.cvvField ? widget.chosen.cvvField.frame : null);
  adoptInputs(widget, false);
  widget.form.append(makeSubmitGroup(widget, () => sayPay(widget.voice)));
  addResultUrl(widget);
  const called = { name: "registrations-target", title: widget.voice.say("storedCards"), src: "about:blank" };
  const target = make("iframe", "wpwl-target", called);
  setHidden(target, true);
  widget.container.append(target);
  widget.block = make("div", "wpwl-registrations-block", { id: "wpwl-registrations" }, widget.container);
  chooseStoredCard(widget, widget.rows[0]);
  return widget;
}

function makeStoredCard(widget, card) {
  const part = (name, ...content) => make("div", `wpwl-wrapper wpwl-wrapper-registration wpwl-wrapper-registration-${name}`, {}, ...content);
  const radio = make("input", "wpwl-control-registration", {
    type: "radio",
    name: "registrationId",
    value: card.id,
    "data-action": "change-registration",
  });
  const expiry = card.expiryMonth ? `${card.expiryMonth} / ${String(card.expiryYear).slice(-2)}` : "";
  const brandLabel = (page.configuration.brands[card.brand] || { label: card.brand }).label;
  const mark = makeMark(card.brand, brandLabel, "wpwl-brand-inline");
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", brandLabel);
  const details = part(
    "details",
    part("number", make("bdi", "wpwl-registration-text", {}, card.number || card.last4 || "")),
    expiry ? part("expiry", make("bdi", "wpwl-registration-text", {}, expiry)) : null,
    card.holder ? part("holder", card.holder) : null,
  );
  const label = make("label", "wpwl-registration", {}, part("registrationId", radio), part("brand", mark), details);
  const row = { card, radio, cvvField: null, cvvPlace: part("cvv") };
  row.group = make("div", "wpwl-group wpwl-group-registration", {}, label, row.cvvPlace);
  radio.addEventListener("change", () => chooseStoredCard(widget, row));
  return row;
}

// A bank account that was stored has none.
function needsStoredCvv(card) {
  return Boolean(card.expiryMonth) && (page.settings.storedRequireCvv || page.configuration.requiresCvv);
}

// A frame is made when its card is first chosen; moving one about would load it again.
function chooseStoredCard(widget, row) {
  widget.chosen = row;
  row.radio.checked = true;
  for (const other of widget.rows) {
    other.group.classList.toggle("wpwl-selected", other === row);
    setHidden(other.cvvPlace, other !== row);
  }
  if (needsStoredCvv(row.card) && !row.cvvField) {
    const { brand } = row.card;
    const group = { ...widget, group: makeHex(16) };
    row.cvvField = makeFrameField(group, "cvv", () => ({
      brand,
      accepted: [brand],
      masks: page.settings.maskCvv,
      allowsEmpty: false,
      required: true,
    }));
    row.cvvPlace.append(row.cvvField.group);
  }
  widget.fields = [...(row.cvvField ? [row.cvvField] : []), ...(widget.askedFields || [])];
}

// Where the page hides the other forms, a button brings them back.
function hideOtherForms(widgets) {
  const stored = widgets.find((widget) => widget.kind === "registration");
  if (!stored || !page.settings.hidesOtherForms) {
    return;
  }
  const others = widgets.filter((widget) => widget !== stored);
  const show = (isShown) => others.forEach((widget) => setHidden(widget.container, !isShown));
  show(false);
  if (page.settings.hideOtherPaymentButton || !others.length) {
    return;
  }
  const text = stored.voice.say("showOtherPaymentMethods");
  const button = make("button", "wpwl-button wpwl-button-other", { type: "button", "data-action": "show-initial-forms" }, text);
  button.addEventListener("click", () => {
    show(true);
    button.parentElement.remove();
    const first = others.flatMap((widget) => widget.fields)[0];
    if (first) {
      first.focus();
    }
  });
  stored.block.append(make("div", "wpwl-group wpwl-group-button", {}, button));
}
