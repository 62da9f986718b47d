// @ts-check
// The one object that this script leaves in the page, as `wpwl`.

import { endAttempt } from "./attempt.js";
import { closeFrame } from "./frames.js";
import { notifyError } from "./hooks.js";
import { startPaying } from "./payButton.js";
import { source } from "./source.js";
import { page } from "./state.js";
/** @import { PublicApi } from "../types/page.d.ts" */

/** @type {PublicApi} */
export const publicApi = {
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
      notifyError("WidgetError", `there is no container ${container}`);
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
    page.unloadTasks.splice(0).reverse().forEach((task) => task());
    page.widgets = [];
  },
};

/** Tells the page what is paid. */
export function publish() {
  const { amount, currency } = page.configuration;
  Object.assign(publicApi.checkout, { amount, currency });
}
