// The form for a new card: brand, number, expiry, holder, security code, and what the page wants besides.
function makeCardForm(place, codes) {
  const widget = makeWidget("card", { container: "card", form: "card" }, place, null);
  const { voice } = widget;
  const brandField = makeBrandField(voice, codes, (code) => {
    changeBrand(widget, code);
    followMarks(widget);
  });
  Object.assign(widget, {
    brandField,
    codes,
    readBrand: () => brandField.control.value,
    hearBrands(detected, active) {
      tell("onDetectBrand", hookSelf(widget), detected, active);
      if (followNumber(brandField, detected, active)) {
        changeBrand(widget, brandField.control.value);
      }
      followMarks(widget, { detected, active });
    },
  });
  const fields = makeCardFields(widget);
  const billing = makeBillingBlock(voice);
  const asks = codes.flatMap((code) => page.configuration.brands[code].asks);
  const present = [...fields, ...(billing ? billing.fields : [])];
  const asked = makeAskedFields(voice, asks.filter((name) => !name.startsWith("card.")), present);
  widget.fields = [...present, ...asked];
  widget.form.append(
    ...fields.map((field) => field.group),
    ...fields.flatMap((field) => field.hiddens || []),
    ...(billing ? [billing.group] : []),
    ...asked.map((field) => field.group),
  );
  widget.submitter = () => widget.fields.find((field) => field.name === "cardNumber").frame;
  return widget;
}

function makeCardFields(widget) {
  const { settings } = page;
  const isFramed = settings.enableSAQACompliance;
  const number = makeFrameField(widget, "number", () => ({
    ...brandOptions(widget),
    detects: settings.brandDetection,
    priority: settings.detectionPriority,
    formats: settings.numberFormatting,
    required: true,
  }));
  const cvv = makeFrameField(widget, "cvv", () => ({
    ...brandOptions(widget),
    masks: settings.maskCvv,
    allowsEmpty: mayCvvBeEmpty(widget),
    required: !mayCvvBeEmpty(widget),
  }));
  widget.cvvField = cvv;
  const expiry = isFramed ? makeFrameField(widget, "expiry", () => ({ required: true })) : makeExpiryField(widget.voice);
  if (!isFramed) {
    expiry.control.addEventListener("blur", () => tell("onBlurExpiryDate", hookSelf(widget), expiry.judge() === ""));
  }
  addCvvHelp(widget, cvv);
  showCvv(widget);
  const holder = makeHolderFields(widget, isFramed);
  // In the order in which they are read and tabbed through.
  if (isAccordion()) {
    addNumberMarks(widget, number);
    return [number, widget.brandField, expiry, cvv, ...holder];
  }
  return [widget.brandField, number, expiry, cvv, ...holder];
}

function brandOptions(widget) {
  return { accepted: widget.codes, brand: widget.brandField.control.value };
}

// Some brands have no security code, and some pages do not want to ask for it.
function isCvvAsked(widget) {
  const { cvvLength } = page.configuration.brands[widget.readBrand()];
  return cvvLength !== 0 && (page.settings.requireCvv || page.configuration.requiresCvv);
}

function mayCvvBeEmpty(widget) {
  return (page.settings.allowEmptyCvv && !page.configuration.requiresCvv) || !isCvvAsked(widget);
}

function makeHolderFields(widget, isFramed) {
  const { settings } = page;
  if (!settings.showCardHolder) {
    return [];
  }
  if (isFramed) {
    const mayBeEmpty = settings.allowEmptyCardHolderName;
    const framed = makeFrameField(widget, "holder", () => ({ allowsEmpty: mayBeEmpty, required: !mayBeEmpty }));
    return [mayBeEmpty ? markOptional(widget.voice, framed) : framed];
  }
  if (settings.forceCardHolderEqualsBillingName) {
    const names = ["givenName", "surname"].map((name) => makeInputField(widget.voice, name));
    widget.addFields = () => ({ "card.holder": names.map((field) => field.control.value.trim()).join(" ") });
    return names;
  }
  const holder = makeWantedField(widget.voice, "cardHolder", !settings.allowEmptyCardHolderName);
  holder.control.addEventListener("blur", () => tell("onBlurCardHolder", hookSelf(widget), holder.judge() === ""));
  return [holder];
}

function changeBrand(widget, code) {
  const allowsEmpty = mayCvvBeEmpty(widget);
  for (const frame of widget.frames.filter(({ field }) => field === "number" || field === "cvv")) {
    updateFrame(frame, { brand: code, ...(frame.field === "cvv" ? { allowsEmpty, required: !allowsEmpty } : {}) });
  }
  showCvv(widget);
  tell("onChangeBrand", hookSelf(widget), code);
}

function showCvv(widget) {
  const { cvvLength } = page.configuration.brands[widget.readBrand()];
  setHidden(widget.cvvField.group, !isCvvAsked(widget));
  showOptional(widget.voice, widget.cvvField, mayCvvBeEmpty(widget));
  if (widget.cvvHint) {
    const hints = [cvvLength === 4 ? "cvvHintAmex" : "cvvHint", ...(mayCvvBeEmpty(widget) ? ["cvvHintMaestro"] : [])];
    widget.cvvHint.textContent = hints.map((key) => widget.voice.say(key)).join(" ");
  }
}

function addCvvHelp(widget, cvv) {
  if (!page.settings.showCVVHint) {
    return;
  }
  const id = makeId("cvvHint");
  const summary = make("summary", "wpwl-help-summary", {}, widget.voice.say("cvvHelp"));
  widget.cvvHint = make("div", "wpwl-help-text", { id });
  cvv.control.setAttribute("aria-describedby", id);
  cvv.group.append(make("details", "wpwl-help wpwl-help-cvv", {}, summary, widget.cvvHint));
}

// "Save my card", unless the page brings a box of its own or the merchant has decided already.
function addSaveBox(widget) {
  const isWanted = page.settings.offersRegistration && page.configuration.kind === "payment" && !isGiven("createRegistration");
  if (!isWanted || widget.form.querySelector("[name=createRegistration]")) {
    return;
  }
  const id = makeId("save");
  const box = make("input", "wpwl-control-createRegistration", { id, type: "checkbox", name: "createRegistration", value: "true" });
  const label = make("label", "wpwl-label-createRegistration", { for: id }, widget.voice.say("saveCard"));
  widget.saveBox = make("div", "wpwl-group wpwl-group-createRegistration", {}, box, label);
  widget.form.append(widget.saveBox);
}

// The page's own code may have brought its box while it was told that the form is ready.
function dropSecondSaveBox(widget) {
  if (widget.saveBox && widget.form.querySelectorAll("[name=createRegistration]").length > 1) {
    widget.saveBox.remove();
  }
}
