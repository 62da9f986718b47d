// The shop's side of one service frame: makes it, connects to it over a channel of their own, and speaks with it.
// What is typed in there stays there; only claims about it come out.
const FRAME_PATIENCE_MS = 20000;
// A frame that was loaded says so at once; one that has not by then is a page of the browser about a broken line.
const RELOAD_MS = 4000;
const ANSWER_PATIENCE_MS = 70000;
const VALIDITY_PATIENCE_MS = 5000;
const FRAME_NAMES = { number: "card.number", cvv: "card.cvv", holder: "card.holder", expiry: "card.expiry" };
const ANCESTORS_MAX = 5;
const EMPTY = Object.freeze({ isValid: false, isPotentiallyValid: true, isEmpty: true });

// Whose pages stand around this one. Not every browser tells; the nearest is often the one that asked for this page.
function listAncestors() {
  if (location.ancestorOrigins) {
    return [...location.ancestorOrigins];
  }
  return window.parent !== window && document.referrer ? [new URL(document.referrer).origin] : [];
}

function frameAddress(field) {
  const origins = [...new Set([window.origin, ...listAncestors()])].slice(0, ANCESTORS_MAX);
  return `${source.origin}/v1/paymentWidgets/frame/${field}?${origins.map((origin) => `origin=${encodeURIComponent(origin)}`).join("&")}`;
}

// `wish`: field, group, classes, title, options; hear(message) is told what the frame says.
function makeFrame(wish, hear) {
  const element = make("iframe", wish.classes, {
    name: FRAME_NAMES[wish.field],
    title: wish.title,
    src: frameAddress(wish.field),
    height: 46,
    frameborder: 0,
    scrolling: "no",
    referrerpolicy: "no-referrer",
  });
  const frame = {
    element,
    field: wish.field,
    state: EMPTY,
    options: wish.options,
    isReady: false,
    port: null,
    asks: new Map(),
    asked: 0,
    becomesReady: null,
    reloads: 0,
  };
  expectFrame(frame);
  element.addEventListener("load", () => {
    connectFrame(frame, wish.group, hear);
    clearTimeout(frame.reloading);
    frame.reloading = setTimeout(() => !frame.isReady && !frame.reloads && reloadFrame(frame), RELOAD_MS);
  });
  frame.giveUp = (text) => giveUpFrame(frame, hear, text);
  return frame;
}

function reloadFrame(frame) {
  if (frame.element.isConnected && !page.isUnloaded && !page.isBlocked) {
    frame.reloads += 1;
    frame.isGivenUp = false;
    closeFrame(frame);
    expectFrame(frame);
    frame.element.src = frameAddress(frame.field);
  }
}

// `ready` becomes true with its first word, or false when that has been waited for long enough. Who waits already when
// it is expected anew goes on waiting for the same.
function expectFrame(frame) {
  clearTimeout(frame.patience);
  frame.isReady = false;
  if (!frame.becomesReady) {
    frame.ready = new Promise((resolve) => {
      frame.becomesReady = resolve;
    });
  }
  frame.patience = setTimeout(() => complainIfSilent(frame), FRAME_PATIENCE_MS);
}

function endWait(frame, isReady) {
  if (frame.becomesReady) {
    frame.becomesReady(isReady);
    frame.becomesReady = null;
  }
}

function connectFrame(frame, group, hear) {
  const { port1, port2 } = new MessageChannel();
  // A page that moves the frame about makes the browser load it anew.
  if (frame.port) {
    closeFrame(frame);
    expectFrame(frame);
  }
  frame.port = port1;
  frame.state = EMPTY;
  port1.onmessage = (event) => hearFrame(frame, event.data, hear);
  const connect = { tollgate: "connect", field: frame.field, group, options: frame.options() };
  frame.element.contentWindow.postMessage(connect, source.origin, [port2]);
}

function hearFrame(frame, message, hear) {
  if (message === null || typeof message !== "object") {
    return;
  }
  if (message.type === "change" || message.type === "blur") {
    frame.state = { ...frame.state, ...message };
  }
  if (message.type === "ready") {
    clearTimeout(frame.patience);
    Object.assign(frame, { isReady: true, isGivenUp: false });
    endWait(frame, true);
    askAgain(frame);
  }
  if (message.type === "validity" || message.type === "answer") {
    const asked = frame.asks.get(message.ask);
    frame.asks.delete(message.ask);
    return asked && asked.resolve(message);
  }
  return hear(message, frame);
}

// Who was asked and then loaded anew has not heard it. Nobody pays a second time by this.
function askAgain(frame) {
  frame.asks.forEach(({ message }) => message.type === "validate" && sendFrame(frame, message));
}

function complainIfSilent(frame) {
  if (!frame.isReady && !frame.isGivenUp && frame.element.isConnected && !page.isUnloaded) {
    tellFault("PciIframeCommunicationError", `the frame ${FRAME_NAMES[frame.field]} does not answer`);
    // Asked for a third time, while the service itself can be reached, it is not for want of a line.
    frame.giveUp(frame.reloads > 1 ? "unexpectedError" : "networkError");
  }
  endWait(frame, false);
}

function giveUpFrame(frame, hear, text) {
  frame.isGivenUp = true;
  hear({ type: "silence", text }, frame);
  endWait(frame, false);
}

// Without these nobody can pay; without the shop's leave for a style or a picture the form only looks poorer.
const NEEDED_DIRECTIVES = ["frame-src", "child-src", "connect-src"];

// A page whose own policy keeps us out need not wait for an answer that cannot come.
function hearViolation({ blockedURI, effectiveDirective, disposition }) {
  if (disposition !== "enforce" || !NEEDED_DIRECTIVES.includes(effectiveDirective) || !isOfService(blockedURI)) {
    return;
  }
  const advice = `add ${source.origin} to ${effectiveDirective}`;
  if (!page.isBlocked) {
    page.isBlocked = true;
    tellMadeFault(makeDevelopersFault("WidgetError", `the page's Content-Security-Policy blocks the payment form: ${advice}`));
  }
  if (effectiveDirective !== "connect-src") {
    const waiting = page.widgets.flatMap((widget) => widget.frames).filter((frame) => !frame.isReady && !frame.isGivenUp);
    waiting.forEach((frame) => frame.giveUp("unexpectedError"));
  }
}

function isOfService(address) {
  try {
    return new URL(address).origin === source.origin;
  } catch {
    return false;
  }
}

function sendFrame(frame, message) {
  if (frame.port) {
    frame.port.postMessage(message);
  }
}

function updateFrame(frame, options) {
  sendFrame(frame, { type: "options", options });
}

// Answers are bounded: a frame that was taken away says nothing more.
function askFrame(frame, message, patience) {
  frame.asked += 1;
  const ask = frame.asked;
  const asked = { ...message, ask };
  return new Promise((resolve) => {
    frame.asks.set(ask, { resolve, message: asked });
    setTimeout(() => {
      frame.asks.delete(ask);
      resolve({ type: "silence", status: 0, isValid: false, errors: {} });
    }, patience);
    sendFrame(frame, asked);
  });
}

function closeFrame(frame) {
  if (frame.port) {
    frame.port.close();
    frame.port = null;
  }
}
