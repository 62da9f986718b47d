// The way over a page that sums up before anything is paid: what was filled in is judged and told to the shop, the
// form stays as it is, and the shop's own button pays by wpwl.executePayment.
async function sumUp(widget, isAllowed) {
  if (await isAllowed) {
    widget.isSummedUp = true;
    // Later, so that a page may pay at once.
    wait(0).then(() => tell("onSaveTransactionData", hookSelf(widget), describeTransaction(widget)));
  }
  return false;
}

// Whoever let the shopper on to the summary is not asked a second time.
function wasAllowed({ widget, isConfirmed }) {
  const isKnown = isConfirmed && widget.isSummedUp;
  widget.isSummedUp = false;
  return isKnown;
}

// What the page could read anyway. What lives in frames of the service is not known here.
function describeTransaction(widget) {
  const fields = collectFields(widget);
  const stored = widget.chosen ? widget.chosen.card : {};
  const { amount, currency } = page.configuration;
  const facts = {
    container: `wpwl-container-${widget.key}`,
    brand: widget.readBrand() || stored.brand,
    holder: fields["card.holder"] || fields["bankAccount.holder"] || stored.holder,
    expiryMonth: fields["card.expiryMonth"] || stored.expiryMonth,
    expiryYear: fields["card.expiryYear"] || stored.expiryYear,
    amount,
    currency,
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value));
}
