// Shows forms in the place of the page's own. A place is one form of the page: its element, language, where its
// result goes, and the inputs that the page has put into it.
const TAKEN = new WeakSet();

function readPlace(element) {
  const { settings } = page;
  const action = settings.resultUrl || element.getAttribute("action") || element.getAttribute("data-action") || "";
  return {
    element,
    codes: readBrandCodes(element),
    voice: chooseVoice(element),
    resultUrl: resolveAddress(action),
    target: element.getAttribute("target") || "",
    adopted: [...element.children],
  };
}

// What is no address is left to the service to refuse, by its name.
function resolveAddress(action) {
  try {
    return new URL(action, document.baseURI).href;
  } catch {
    return action;
  }
}

function chooseVoice(element) {
  return makeVoice(chooseLanguage(page.settings.locale, element.lang, document.documentElement.lang), page.options);
}

async function mountAll(elements) {
  page.options = readGlobalOptions();
  page.settings = readSettings(page.options);
  elements.forEach(showSkeleton);
  try {
    checkOrigin();
    await configureFor(elements);
    // Some pages set their options as late as this, and the language is one of them.
    page.options = readGlobalOptions();
    page.settings = readSettings(page.options);
    const configuration = await configureFor(elements);
    page.styled = page.styled || loadStyles(page.settings);
    await page.styled;
    const there = keepConnected(elements);
    if (there.length && (page.isPaid || configuration.state === "paid")) {
      meetPaid(there, configuration);
    } else if (there.length) {
      await mountPlaces(there.map(readPlace));
    }
  } catch (fault) {
    page.styled = page.styled || loadStyles(page.settings);
    const retry = mayRetry(fault) ? makeRetry(elements, fault) : null;
    keepConnected(elements).forEach((element) => showDead(element, fault, { retry }));
    tellMadeFault(fault);
  }
}

function configureFor(elements) {
  return configure([...new Set(elements.flatMap(readBrandCodes))], elements.map((element) => chooseVoice(element).code));
}

// What left the page meanwhile may come back, and is found again then.
function keepConnected(elements) {
  elements.filter((element) => !element.isConnected).forEach((element) => TAKEN.delete(element));
  return elements.filter((element) => element.isConnected && !page.isUnloaded);
}

// A sandbox or a file: no frame could be told whose page it may speak to.
function checkOrigin() {
  if (window.origin === "null") {
    const advice = "serve it by http or https, not as a file or in a sandbox without allow-same-origin";
    throw makeDevelopersFault("WidgetError", `a page without an origin of its own cannot show the payment form: ${advice}`);
  }
}

function meetPaid(elements, { returnUrl }) {
  const [address, target] = [readAddress(returnUrl), chooseResultWindow(elements[0])];
  const isHome = page.isPaid || !address || isArrived(address, target);
  const stay = () => elements.forEach((element) => showPaidAt(element, isHome ? null : { address, target }));
  if (!isHome && isComeBack()) {
    leadToResult(returnUrl, target, stay);
  } else {
    stay();
  }
}

// Nobody has clicked, so no other window can be opened.
function chooseResultWindow(element) {
  const wished = page.settings.resultTarget || element.getAttribute("target") || "";
  return wished.startsWith("_") ? wished : "_top";
}

async function mountPlaces(places) {
  const before = page.widgets.filter((widget) => widget.container.isConnected);
  const mounted = places.flatMap((place, index) => mountPlace(place, before.length === 0 && index === 0));
  page.widgets = [...before, ...mounted];
  if (!isAccordion()) {
    hideOtherForms(mounted);
  }
  if (page.configuration.isTest && !before.length && mounted.length) {
    addTestNote(mounted[0]);
  }
  const served = new Set(mounted.map((widget) => widget.place));
  places.filter((place) => !served.has(place)).forEach((place) => passOver(place, page.widgets.length === 0));
  publish();
  await Promise.all(mounted.flatMap((widget) => widget.frames).map((frame) => frame.ready));
  if (page.isUnloaded) {
    return;
  }
  tellReady(mounted);
  mounted.forEach(dropSecondSaveBox);
  focusWished(mounted);
}

function tellReady(mounted) {
  const inline = mounted.filter((widget) => widget.opensDialog);
  if (mounted.length) {
    tell("onReady", page.options, mounted.map(describeContainer));
  }
  if (inline.length) {
    tell("onReadyExternal", page.options, inline.map(describeContainer));
  }
}

function describeContainer(widget) {
  return { containerKey: widget.key, ccMethods: widget.codes || (widget.brand ? [widget.brand] : []) };
}

function mountPlace(place, isFirst) {
  const { brands, registrations } = page.configuration;
  const codes = place.codes.filter((code) => brands[code]);
  const cards = codes.filter((code) => brands[code].kind === "card");
  const forms = codes.filter((code) => code === cards[0] || !cards.includes(code)).map((code) => makeForm(place, code, cards));
  forms.forEach((widget, index) => finishForm(widget, index === 0));
  const nodes = forms.map((widget) => widget.container);
  if (isFirst && page.settings.showOneClickWidget && (registrations || []).length) {
    const widget = makeStoredCards(place);
    nodes.unshift(widget.block);
    forms.unshift(widget);
  }
  showAt(place.element, isAccordion() && forms.length ? [makeAccordion(place, forms)] : nodes, place.adopted);
  return forms;
}

// A form whose brands cannot be paid with here, such as a wallet that this browser does not have. Where it is one of
// several, the shopper need not know of it.
function passOver(place, isOnlyOne) {
  const { leftOut } = page.configuration;
  const advice = place.codes.map((code) => `${code} (${leftOut[code]})`).join(", ") || "name some in data-brands";
  const message = `no brand of the form can be paid with here: ${advice}`;
  const fault = makeDevelopersFault("WidgetError", message, { brand: place.codes.join(" ") });
  if (isOnlyOne) {
    showDead(place.element, fault, { wished: place.codes.length ? "methodUnavailable" : "" });
  }
  tellMadeFault(fault);
}

const FORM_MAKERS = {
  card: (place, code, cards) => makeCardForm(place, cards),
  directDebit: makeDirectDebit,
  wallet: makeWallet,
};

function makeForm(place, code, cards) {
  return (FORM_MAKERS[page.configuration.brands[code].kind] || makeOtherBrand)(place, code, cards);
}

function finishForm(widget, isFirst) {
  adoptInputs(widget, isFirst);
  if (widget.kind === "card") {
    addSaveBox(widget);
  }
  const { voice } = widget;
  const sayUsual = () => (page.configuration.kind === "registration" ? voice.say("register") : sayPay(voice));
  widget.form.append(
    // It begins with "By confirming", so the button is next.
    ...(widget.mandate ? [widget.mandate] : []),
    makeSubmitGroup(widget, widget.sayOwn || sayUsual, widget.brand ? "wpwl-button-brand" : ""),
  );
  addResultUrl(widget);
  dressButton(widget);
}

function focusWished(widgets) {
  const isWished = (field) => field.names.includes(page.settings.autofocus);
  const widget = widgets.find(({ fields }) => fields.some(isWished));
  if (widget) {
    openMethodOf(widget);
    widget.fields.find(isWished).focus();
  }
}

// Where there is nothing to pay, the shopper is told, and may go back to the shop, or try again where that may help.
function showDead(element, fault, { wished = "", retry = null } = {}) {
  const key = wished || (fault.name === "InvalidCheckoutIdError" ? "sessionGone" : fault.text || "unexpectedError");
  const voice = chooseVoice(element);
  const note = makeNote(voice, make("div", "wpwl-message wpwl-has-error", { role: "alert" }, voice.say(key)));
  if (retry) {
    const button = make("button", "wpwl-button wpwl-button-retry", { type: "button" }, voice.say("tryAgain"));
    button.addEventListener("click", retry);
    note.append(button);
  }
  showAt(element, [note]);
}

// A checkout that is gone does not come back, and what only the page's author can mend stays as it is.
function mayRetry(fault) {
  return fault.name !== "InvalidCheckoutIdError" && !DEVELOPERS.has(fault);
}

// By the button, or by itself when the service can be reached again; once, whichever comes first.
function makeRetry(elements, fault) {
  let isOver = false;
  const mountAgain = async () => {
    const there = isOver ? [] : keepConnected(elements);
    isOver = true;
    if (there.length) {
      await mountAll(there);
    }
  };
  if (fault.text === "networkError") {
    untilReachable(() => !isOver && elements.some((element) => element.isConnected)).then(mountAgain);
  }
  return async () => {
    await mountAgain();
    // Who has pressed the button finds the next one under the same key.
    const again = document.querySelector(".wpwl-button-retry");
    if (again) {
      again.focus();
    }
  };
}

function showPaidAt(element, result) {
  const voice = chooseVoice(element);
  const note = makePaidNote(voice);
  if (result) {
    const way = { href: result.address.href, target: result.target };
    note.append(make("a", "wpwl-button wpwl-button-result", way, voice.say("nextStep")));
  }
  showAt(element, [note]);
}

function makeNote(voice, message) {
  return make("div", "wpwl-container wpwl-container-message", { lang: voice.tag, dir: voice.dir }, message);
}

function makePaidNote(voice) {
  return makeNote(voice, make("div", "wpwl-status wpwl-status-paid", { role: "status" }, voice.say("alreadyPaid")));
}

// In the place of every form that stands: nothing is left to pay, and nobody is to start again.
function showPaid() {
  const { widgets, attempt } = page;
  page.isPaid = true;
  if (attempt) {
    endAttempt(attempt);
  }
  widgets.flatMap((widget) => widget.frames).forEach(closeFrame);
  page.widgets = [];
  for (const place of new Set(widgets.map((widget) => widget.place))) {
    showAt(place.element, [makePaidNote(place.voice)]);
  }
}

// A form that frameworks have taken off the page while it was paying says nothing more: its frames are gone.
function forgetRemoved() {
  const { attempt } = page;
  const isSilenced = attempt && attempt.widget.frames.length && !attempt.widget.container.isConnected;
  if (isSilenced && !attempt.isLeaving && !attempt.dialog) {
    endAttempt(attempt);
  }
}
