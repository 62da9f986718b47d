// The text of the button that pays: with the amount where the checkout has one, as the form's language writes money.
function sayAmount(voice) {
  const { amount, currency } = page.configuration;
  if (!amount || !currency) {
    return "";
  }
  try {
    return new Intl.NumberFormat(voice.tag, { style: "currency", currency }).format(amount);
  } catch {
    return `${amount} ${currency}`;
  }
}

// A page's own label wins; the place of an amount that there is not stays empty.
function sayPay(voice) {
  const amount = sayAmount(voice);
  const text = amount && !voice.isOwn("submit") ? voice.say("payAmount", { amount }) : voice.say("submit", { amount });
  return text.trim();
}

// Only the text that stands there by us is replaced: pages write on the button themselves. Methods that share a button
// share what was written on it, and the open one writes.
function labelButton(widget) {
  const { button, labelled } = widget;
  const label = button.querySelector(".wpwl-button-text");
  if (label && label.textContent === labelled.text && !isClosed(widget)) {
    labelled.text = widget.sayButton();
    label.textContent = labelled.text;
  }
}
