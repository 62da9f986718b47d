// The layout "accordion": the ways to pay as a list of which one is open, and one button that pays with it. The forms
// inside are those of the classic layout; they are hidden and never moved, because a frame that moves is loaded anew.
function isAccordion() {
  return page.settings.layout === "accordion";
}

// A method is { widget, radio, panel, choose() }; a stored card is one of its own.
function makeAccordion(place, widgets) {
  const { voice } = place;
  const group = shareButton(place, widgets);
  const name = makeId("method");
  place.methods = widgets.flatMap((widget) => (widget.rows ? listStoredMethods(widget, name) : [makeMethod(widget, name)]));
  const legend = make("legend", "wpwl-label wpwl-label-methods", {}, voice.say("paymentMethods"));
  const rows = widgets.map((widget) => widget.block || widget.container.closest(".wpwl-method"));
  const list = make("fieldset", "wpwl-methods", {}, legend, ...rows);
  list.classList.toggle("wpwl-methods-single", place.methods.length === 1);
  place.methods.forEach((method) => method.radio.addEventListener("change", () => openMethod(place, method)));
  openMethod(place, place.methods[0]);
  return make("div", "wpwl-accordion", { lang: voice.tag, dir: voice.dir }, list, group);
}

// Without a form of its own, so that the radios of all methods are one group and none of them is sent.
function joinRadios(radio, name) {
  radio.setAttribute("name", name);
  radio.setAttribute("form", "");
  return radio;
}

function makeMethod(widget, name) {
  const { brand, container, form, voice } = widget;
  const radio = joinRadios(make("input", "wpwl-method-radio", { type: "radio" }), name);
  const label = brand ? page.configuration.brands[brand].label : voice.say("card");
  const mark = brand ? makeMark(brand, null, "wpwl-brand-inline") : make("span", "wpwl-method-icon");
  mark.setAttribute("aria-hidden", "true");
  const head = make("label", "wpwl-method-head", {}, radio, make("span", "wpwl-method-title", {}, label), mark);
  const panel = make("div", "wpwl-method-panel", {}, container);
  make("div", `wpwl-method wpwl-method-${widget.key}`, {}, head, panel);
  const isBare = [...form.children].every((child) => child.type === "hidden");
  return { widget, radio, panel, isBare, choose() {} };
}

function listStoredMethods(widget, name) {
  const chosen = makeHidden("registrationId", "");
  widget.form.append(chosen);
  return widget.rows.map((row) => {
    joinRadios(row.radio, name);
    row.group.classList.add("wpwl-method");
    row.group.firstChild.classList.add("wpwl-method-head");
    row.cvvPlace.classList.add("wpwl-method-panel");
    const choose = () => {
      chooseStoredCard(widget, row);
      chosen.value = row.card.id;
      if (widget.askedGroup) {
        row.cvvPlace.append(widget.askedGroup);
      }
    };
    return { widget, radio: row.radio, panel: row.cvvPlace, choose };
  });
}

// Messages of all methods stand above the one button; only those of the open method are shown.
function shareButton(place, widgets) {
  const { button } = widgets[0];
  const group = button.closest(".wpwl-group-submit");
  button.classList.remove("wpwl-button-brand");
  for (const widget of widgets) {
    widget.form.id = makeId("form");
    widget.button.closest(".wpwl-group-submit").remove();
    group.append(widget.status);
    button.parentElement.before(widget.message);
    widget.button = button;
    widget.labelled = widgets[0].labelled;
  }
  place.footer = group;
  return group;
}

// A key that pays in a field presses the button of its form, so the button belongs to the form of the open method.
function openMethod(place, method) {
  const { widget } = method;
  // Read before anything changes: this throws where the page took a part away, and then the open method stays open.
  const list = method.radio.closest(".wpwl-methods").classList;
  const rows = place.methods.map(({ panel }) => panel.parentElement.classList);
  // What is open from the start opens without a movement, so that nothing below it jumps.
  list.toggle("wpwl-methods-used", Boolean(place.open));
  place.open = method;
  method.choose();
  for (const [index, each] of place.methods.entries()) {
    const isOpen = each === method;
    each.radio.checked = isOpen;
    rows[index].toggle("wpwl-selected", isOpen);
    setHidden(each.panel, !isOpen || Boolean(each.isBare) || !each.panel.firstChild);
    revealMessage(each.widget);
  }
  widget.button.setAttribute("form", widget.form.id);
  dressButton(widget);
  labelButton(widget);
}

// For whoever pays or focuses a field without having opened its method, such as the page's own code.
function openMethodOf(widget) {
  const { methods, open } = widget.place;
  if (methods && open.widget !== widget) {
    openMethod(widget.place, methods.find((method) => method.widget === widget));
  }
}

function isClosed(widget) {
  const { open } = widget.place;
  return Boolean(open) && open.widget !== widget;
}

// Nobody changes the method of a payment that is being made.
function restMethods({ place }, isResting) {
  for (const { radio } of place.methods || []) {
    radio.disabled = isResting;
  }
}

// What the service asked for belongs to the open method; in the classic layout it stands above the form's own button.
function addAsked(widget, group) {
  const { open } = widget.place;
  if (!open) {
    widget.button.closest(".wpwl-group-submit").before(group);
    return;
  }
  widget.askedGroup = group;
  (widget.rows ? open.panel : widget.form).append(group);
  setHidden(open.panel, false);
}
