// Where the shopper's bank asks who pays: a frame in a dialog over the page. The browser's own dialog keeps the
// focus inside and gives it back afterwards.
function openChallenge(widget, url) {
  const { voice } = widget;
  const id = makeId("dialog");
  const close = make("button", "wpwl-dialog-close", { type: "button", "aria-label": voice.say("close") }, "×");
  const title = make("h2", "wpwl-dialog-title", { id }, voice.say("securityCheck"));
  const frame = make("iframe", "wpwl-target wpwl-dialog-frame", {
    name: "cnpIframe",
    title: voice.say("securityCheck"),
    src: url,
    allow: "payment; publickey-credentials-get",
  });
  setStyles(frame, { width: page.settings.challengeWidth, height: page.settings.challengeHeight });
  const dialog = make(
    "dialog",
    "wpwl-dialog",
    { "aria-labelledby": id, lang: voice.tag, dir: voice.dir },
    make("div", "wpwl-dialog-head", {}, title, close),
    frame,
  );
  frame.addEventListener("load", () => tell("onLoadThreeDIframe", frame));
  document.body.append(dialog);
  const closed = new Promise((resolve) => dialog.addEventListener("close", resolve));
  close.addEventListener("click", () => dialog.close());
  showModally(dialog);
  return { dialog, closed };
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

function removeChallenge(attempt) {
  if (attempt.challenge) {
    attempt.challenge.dialog.remove();
    attempt.challenge = null;
  }
}
