// Forms of brands that are paid elsewhere: at a bank, in a wallet, by a voucher. A mark, what the brand asks for,
// and a button.
const POPUP_KINDS = ["onlineTransfer", "virtualAccount"];

function makeOtherBrand(place, code) {
  const { kind, label, asks } = page.configuration.brands[code];
  const word = `${kind}-${code}`;
  const widget = makeWidget(kind, { container: word, form: word, id: kind }, place, code);
  widget.fields = makeAskedFields(widget.voice, asks, []);
  widget.opensDialog = POPUP_KINDS.includes(kind) && page.settings.inlineBrands.includes(code);
  widget.opensPopup = POPUP_KINDS.includes(kind) && !widget.opensDialog && !page.settings.paymentTarget;
  widget.sayOwn = () => widget.voice.say("payWith", { brand: label, amount: sayAmount(widget.voice) }).trim();
  if (widget.opensDialog && kind === "virtualAccount") {
    widget.hook = FORM_HOOKS.inlineVirtualAccount;
  }
  if (widget.fields.length) {
    widget.form.classList.add("wpwl-form-has-inputs");
  }
  const isElsewhere = isAccordion() && POPUP_KINDS.includes(kind) && !widget.fields.length;
  const note = isElsewhere ? make("p", "wpwl-method-note", {}, widget.voice.say("goToBrand", { brand: label })) : null;
  widget.form.append(...[makeBrandGroup(code, label), note].filter(Boolean), ...widget.fields.map((field) => field.group));
  return widget;
}
