// The one name that this script leaves in the page, as pages know it.
const face = {
  cacheVersion: VERSION,
  checkout: { id: source.checkoutId, config: { customRedirectPageConfig: {} } },
  executePayment(container) {
    const found = document.querySelector(`.${container}`);
    const widget = page.widgets.find((each) => each.container === found);
    if (widget) {
      widget.isConfirmed = true;
      startPaying(widget);
      widget.isConfirmed = false;
    } else {
      tellFault("WidgetError", `there is no container ${container}`);
    }
  },
  get isUnloaded() {
    return page.isUnloaded;
  },
  unload() {
    if (page.isUnloaded) {
      return;
    }
    page.isUnloaded = true;
    if (page.attempt) {
      endAttempt(page.attempt);
    }
    page.widgets.flatMap((widget) => widget.frames).forEach(closeFrame);
    page.undoing.splice(0).reverse().forEach((undo) => undo());
    page.widgets = [];
  },
};

function publish() {
  const { amount, currency } = page.configuration;
  Object.assign(face.checkout, { amount, currency });
}
