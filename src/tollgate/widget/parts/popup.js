// The window of a provider. It is opened in the very click, because browsers hold any later one back, and learns
// its address when the service has answered.
const POPUP_LOOK_MS = 300;
const CLOSING_MS = 400;

function openPopup(widget) {
  const [width, height] = [Math.min(560, screen.availWidth), Math.min(720, screen.availHeight)];
  const left = Math.round(window.screenX + (window.outerWidth - width) / 2);
  const top = Math.round(window.screenY + (window.outerHeight - height) / 2);
  const popup = window.open("", "", `popup=yes,width=${width},height=${height},left=${left},top=${top}`);
  if (popup) {
    popup.document.title = widget.voice.say("processing");
    popup.document.body.textContent = widget.voice.say("processing");
  }
  return popup;
}

function closePopup(attempt) {
  if (attempt.popup) {
    attempt.popup.close();
    attempt.popup = null;
  }
}

async function visitInPopup(attempt, url) {
  attempt.popup.location.replace(url);
  showWaiting(attempt);
  await untilClosed(attempt);
  // The last word of a window that closes itself may still be on its way.
  await wait(CLOSING_MS);
}

// Until the shopper, the provider's last page or our button has closed it.
async function untilClosed(attempt) {
  while (attempt.popup && !attempt.popup.closed && isCurrent(attempt)) {
    await wait(POPUP_LOOK_MS);
  }
}

// While the shopper is elsewhere, this page says so and offers a way back.
function showWaiting(attempt) {
  const { widget } = attempt;
  setBusy(widget, true, widget.voice.say("waitingForProvider"));
  const text = widget.voice.say("useAnotherMethod");
  const button = make("button", "wpwl-button wpwl-button-cancel", { type: "button" }, text);
  button.addEventListener("click", () => closePopup(attempt));
  widget.status.after(button);
  attempt.cancel = button;
}
