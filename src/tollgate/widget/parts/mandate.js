// What a shopper agrees to by paying with a direct debit. The service writes it, in the form's language and with the
// creditor's name; a page may put a text or an element of its own in its place, or show it elsewhere.
function makeMandate(widget, code) {
  const { mandate } = page.configuration.brands[code];
  const own = mandate && mandate.texts[widget.voice.code];
  if (!own) {
    return null;
  }
  const { creditor, identifier } = mandate;
  const shown = tell("onShowMandate", hookSelf(widget), { brand: code, creditor, identifier, text: own });
  if (shown === false) {
    return null;
  }
  const isOwn = typeof shown === "string" || shown instanceof Node;
  const text = make("div", "wpwl-help wpwl-mandate", { id: makeId("mandate") }, isOwn ? shown : own);
  return make("div", "wpwl-group wpwl-group-mandate", {}, text);
}
