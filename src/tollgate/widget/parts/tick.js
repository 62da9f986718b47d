// The word and the tick that it is paid, for the moment before the browser goes to the result.
const TICK_MS = 500;

// Nobody waits who has asked for less motion, and nobody where waiting could cost the way: browsers open windows and apps
// only for a click that is not long ago.
function maySeeTick(url, target) {
  const isHere = !target || target.startsWith("_");
  return isHere && isOfWeb(new URL(url)) && !document.hidden && !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

async function showTick(widget, url) {
  widget.status.textContent = widget.voice.say("paymentDone");
  widget.button.querySelectorAll(".wpwl-spinner, .wpwl-tick").forEach((mark) => mark.remove());
  widget.button.append(make("span", "wpwl-tick", { "aria-hidden": "true" }));
  if (maySeeTick(url, widget.resultTarget)) {
    await Promise.race([wait(TICK_MS), untilHidden()]);
  }
}

// A page that nobody sees may be stopped at any moment.
function untilHidden() {
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}
