// The line between the page and the service. "No connection" is said only while it is so, and goes by itself.
const PROBE_MS = 3000;
const PROBE_MAX_MS = 30000;

// Becomes what the service says of the checkout once it can be reached; null where nobody wants to know any more. The
// browser's own word that it is online counts at once, but proves nothing.
async function untilReachable(isWanted) {
  let hurry = null;
  let now = null;
  const hear = () => hurry();
  window.addEventListener("online", hear);
  for (let pause = PROBE_MS; ; pause = Math.min(pause * 1.5, PROBE_MAX_MS)) {
    await new Promise((resolve) => {
      hurry = resolve;
      setTimeout(resolve, pause);
    });
    const isAsked = isWanted() && !page.isUnloaded;
    now = isAsked ? await askState() : null;
    if (!isAsked || now || page.trouble !== "networkError") {
      window.removeEventListener("online", hear);
      return now;
    }
  }
}

function sayNoConnection(widget) {
  const text = widget.voice.say("networkError");
  const watch = {};
  showMessage(widget, text);
  widget.lineWatch = watch;
  const isWanted = () => widget.lineWatch === watch && widget.message.textContent === text && !page.attempt;
  untilReachable(isWanted).then((now) => {
    if (isWanted()) {
      showMessage(widget, now ? "" : widget.voice.say(page.trouble));
      widget.frames.filter((frame) => !frame.isReady).forEach(reloadFrame);
      followState(widget, now);
    }
  });
}

// Why the service could not be asked last.
function sayTrouble(widget) {
  if (page.trouble === "networkError") {
    sayNoConnection(widget);
  } else {
    showMessage(widget, widget.voice.say(page.trouble));
  }
}
