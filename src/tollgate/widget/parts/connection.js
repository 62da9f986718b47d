// @ts-check
// The connection between the page and the service. That there is none is said only while it is so.

import { followState } from "./checkoutState.js";
import { fetchState } from "./configuration.js";
import { reloadFrame } from "./frames.js";
import { showMessage } from "./messages.js";
import { page } from "./state.js";
/** @import { Widget } from "../types/page.d.ts" */
/** @import { CheckoutNow } from "../types/service.d.ts" */

const PROBE_MS = 3000;
const PROBE_MAX_MS = 30000;

/**
 * Returns the state of the checkout once the service can be reached; null where nobody wants to know any more. When the
 * browser says that it is online, the service is asked at once, because that proves nothing.
 * @param {() => boolean} isWanted
 * @returns {Promise<CheckoutNow | null>}
 */
export async function untilReachable(isWanted) {
  let hurry = () => {};
  const receive = () => hurry();
  window.addEventListener("online", receive);
  for (let pause = PROBE_MS; ; pause = Math.min(pause * 1.5, PROBE_MAX_MS)) {
    await new Promise((resolve) => {
      hurry = () => resolve(undefined);
      setTimeout(resolve, pause);
    });
    const isAsked = isWanted() && !page.isUnloaded;
    const now = isAsked ? await fetchState() : null;
    if (!isAsked || now || page.trouble !== "networkError") {
      window.removeEventListener("online", receive);
      return now;
    }
  }
}

/** @param {Widget} widget */
function showNoConnection(widget) {
  const text = widget.translator.translate("networkError");
  const watch = {};
  showMessage(widget, text);
  widget.lineWatch = watch;
  const isWanted = () => widget.lineWatch === watch && widget.message.textContent === text && !page.attempt;
  untilReachable(isWanted).then((now) => {
    if (isWanted()) {
      showMessage(widget, now ? "" : widget.translator.translate(page.trouble));
      widget.frames.filter((frame) => !frame.isReady).forEach(reloadFrame);
      followState(widget, now);
    }
  });
}

/**
 * Says why the service could not be asked last.
 * @param {Widget} widget
 */
export function showTrouble(widget) {
  if (page.trouble === "networkError") {
    showNoConnection(widget);
  } else {
    showMessage(widget, widget.translator.translate(page.trouble));
  }
}
