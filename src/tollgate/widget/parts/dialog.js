// Where the shopper's bank asks who pays, or a provider is shown within the page: a frame in a dialog over the page.
// The browser's own dialog keeps the focus inside and gives it back afterwards.
async function visitInDialog(attempt, url, title, loadHook) {
  attempt.dialog = openDialog(attempt.widget, url, title, loadHook);
  await attempt.dialog.closed;
  removeDialog(attempt);
}

function openDialog(widget, url, title, loadHook) {
  const { voice } = widget;
  const id = makeId("dialog");
  const close = make("button", "wpwl-dialog-close", { type: "button", "aria-label": voice.say("close") }, "×");
  const heading = make("h2", "wpwl-dialog-title", { id }, title);
  const frame = make("iframe", "wpwl-target wpwl-dialog-frame", {
    name: "cnpIframe",
    title,
    src: url,
    // Whoever the service sends the frame on to is of yet another origin, and may want the shopper's key.
    allow: "payment *; publickey-credentials-get *",
  });
  setStyles(frame, { width: page.settings.challengeWidth, height: page.settings.challengeHeight });
  const element = make(
    "dialog",
    "wpwl-dialog",
    { "aria-labelledby": id, lang: voice.tag, dir: voice.dir },
    make("div", "wpwl-dialog-head", {}, heading, close),
    frame,
  );
  frame.addEventListener("load", () => loadHook && tell(loadHook, frame));
  document.body.append(element);
  let finish = null;
  const closed = new Promise((resolve) => (finish = resolve));
  element.addEventListener("close", finish);
  close.addEventListener("click", () => element.close());
  showModally(element);
  return { element, closed, finish };
}

function showModally(dialog) {
  if (typeof dialog.showModal === "function") {
    dialog.showModal();
    return;
  }
  // Before browsers had dialogs of their own.
  dialog.setAttribute("open", "");
  dialog.setAttribute("role", "dialog");
  dialog.close = () => dialog.dispatchEvent(new Event("close"));
}

// A dialog that is removed while it is open fires no event, so whoever waits for its end is told here.
function removeDialog(attempt) {
  if (attempt.dialog) {
    attempt.dialog.element.remove();
    attempt.dialog.finish();
    attempt.dialog = null;
  }
}
