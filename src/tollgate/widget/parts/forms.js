// The shell of every form: container, form element, pay button, message, and the state of being busy.
// A widget is { kind, key, brand, voice, container, form, fields, frames, submitter(), button, ... }.
const FORM_HOOKS = {
  card: "onBeforeSubmitCard",
  registration: "onBeforeSubmitOneClickCard",
  directDebit: "onBeforeSubmitDirectDebit",
  onlineTransfer: "onBeforeSubmitOnlineTransfer",
  virtualAccount: "onBeforeSubmitVirtualAccount",
  inlineVirtualAccount: "onBeforeSubmitInlineVirtualAccount",
  prepayment: "onBeforeSubmitPrepayment",
  wallet: "onBeforeSubmitWallet",
};

// `names`: the last words of the container's and the form's class. `brand` is null where the form itself asks for it.
function makeWidget(kind, names, place, brand) {
  const { voice, target } = place;
  const form = make("form", `wpwl-form wpwl-form-${names.form} wpwl-clearfix`, {
    action: checkoutAddress(page.configuration.kind),
    method: "POST",
    target: page.settings.paymentTarget || "cnpIframe",
    lang: voice.tag,
    dir: voice.dir,
    "aria-label": brand ? page.configuration.brands[brand].label : voice.say(kind === "registration" ? "storedCards" : "card"),
    "accept-charset": "UTF-8",
  });
  // What is wrong is said by us, beside the field and in the shopper's language.
  form.noValidate = true;
  const container = make(
    "div",
    `wpwl-container wpwl-container-${names.container}`,
    { id: makeContainerId(names.id || kind), lang: voice.tag, dir: voice.dir },
    form,
  );
  setStyles(container, page.settings.spinnerColor ? { "--wpwl-spinner": page.settings.spinnerColor } : {});
  const widget = {
    kind,
    key: names.container,
    brand,
    voice,
    place,
    container,
    form,
    hook: FORM_HOOKS[kind],
    fields: [],
    frames: [],
    group: makeHex(16),
    submitter: () => null,
    readBrand: () => brand,
    resultTarget: page.settings.resultTarget || target || "_top",
    message: make("div", "wpwl-message", { role: "alert", tabindex: -1 }),
    status: make("div", "wpwl-status", { role: "status" }),
  };
  showMessage(widget, "");
  listenToForm(widget);
  return widget;
}

function listenToForm(widget) {
  const { form } = widget;
  form.addEventListener("submit", (event) => {
    const isBlocked = event.defaultPrevented;
    event.preventDefault();
    // A form of the shop around ours has nothing to do with it.
    if (widget.container.closest("form")) {
      event.stopPropagation();
    }
    if (!isBlocked) {
      pay(widget);
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && page.settings.disableSubmitOnEnter && event.target.tagName === "INPUT") {
      event.preventDefault();
    }
  });
  // Pages submit forms by themselves too; the browser's own way would post what is in the page, and only that.
  form.submit = () => startPaying(widget);
}

function startPaying(widget) {
  const { form } = widget;
  if (typeof form.requestSubmit === "function") {
    form.requestSubmit();
  } else {
    form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  }
}

function makeSubmitGroup(widget, sayButton, classes) {
  const attributes = { type: "submit", name: "pay", "data-action": "submit" };
  widget.sayButton = sayButton;
  widget.labelled = { text: sayButton() };
  const label = make("span", "wpwl-button-text", {}, widget.labelled.text);
  widget.button = make("button", `wpwl-button wpwl-button-pay ${classes || ""}`.trim(), attributes, label);
  const wrapper = make("div", "wpwl-wrapper wpwl-wrapper-submit", {}, widget.button);
  return make("div", "wpwl-group wpwl-group-submit wpwl-clearfix", {}, widget.message, wrapper, widget.status);
}

// Inputs that the page put into its own form come along. They stand once, so that page and shopper find them in one
// place: with the card where cards are taken, else with the first form.
function adoptInputs(widget, isFirst) {
  const { place } = widget;
  const takesCards = place.codes.some((code) => (page.configuration.brands[code] || {}).kind === "card");
  const isHost = widget.kind === "registration" ? !place.host : takesCards ? widget.kind === "card" : isFirst;
  if (isHost) {
    place.host = widget;
    widget.form.append(...place.element.children);
  }
}

// What they say now counts for every form of their place. But who ticks a box to be remembered means the account
// beside it.
function collectAdopted({ place, form }) {
  if (!place.host || place.host.form === form) {
    return {};
  }
  const controls = [...place.host.form.elements].filter((control) => place.adopted.some((node) => node.contains(control)));
  const names = new Set(controls.map(({ name }) => name));
  if (controls.some(({ name, type }) => name === "createRegistration" && type !== "hidden")) {
    names.delete("createRegistration");
  }
  return Object.fromEntries(collectPairs(place.host.form).filter(([name]) => names.has(name)));
}

function addResultUrl(widget) {
  if (!page.configuration.resultUrl) {
    widget.form.append(makeHidden("shopperResultUrl", widget.place.resultUrl));
  }
}

// For whoever tries the shop out; shown once on a page, and quietly. Below the one button it moves nothing.
function addTestNote({ container, place, voice }) {
  const note = make("div", "wpwl-message wpwl-message-test", { role: "note" }, voice.say("testMode"));
  if (place.footer) {
    place.footer.append(note);
  } else {
    container.prepend(note);
  }
}

// `isCalm`: nothing has gone wrong.
function showMessage(widget, text, isCalm = false) {
  widget.message.textContent = text;
  widget.message.classList.toggle("wpwl-message-calm", isCalm);
  revealMessage(widget);
}

// What is said of a closed method is shown when it is opened.
function revealMessage(widget) {
  setHidden(widget.message, widget.message.textContent === "" || isClosed(widget));
}

function setBusy(widget, isBusy, text) {
  restMethods(widget, isBusy);
  widget.form.classList.toggle("wpwl-form-busy", isBusy);
  widget.container.setAttribute("aria-busy", String(isBusy));
  widget.button.classList.toggle("wpwl-button-pay-disabled", isBusy);
  widget.button.setAttribute("aria-disabled", String(isBusy));
  widget.status.textContent = isBusy ? text || "" : "";
  const spinner = widget.button.querySelector(".wpwl-spinner, .wpwl-tick");
  if (isBusy && !spinner) {
    widget.button.append(make("span", "wpwl-spinner", { "aria-hidden": "true" }));
  } else if (!isBusy && spinner) {
    spinner.remove();
  }
}

// Names that only frames may fill, and helpers of the form that mean nothing to the service.
const NEVER_SENT = ["card.number", "card.cvv", "card.expiry", "pay"];

function collectPairs(form) {
  return [...new FormData(form)].filter(
    ([name, value]) => typeof value === "string" && value !== "" && !NEVER_SENT.includes(name),
  );
}

function collectFields(widget) {
  widget.fields.forEach((field) => field.settle && field.settle());
  return {
    ...collectCustomer(widget.form),
    ...collectAdopted(widget),
    ...Object.fromEntries(collectPairs(widget.form)),
    ...describeBrowser(),
    ...(widget.readBrand() ? { paymentBrand: widget.readBrand() } : {}),
    ...(widget.addFields ? widget.addFields() : {}),
    shopOrigin: window.origin,
  };
}
