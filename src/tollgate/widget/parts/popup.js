// The window of a provider. It is opened in the very click, because browsers hold any later one back, and learns
// its address when the service has answered.
const POPUP_LOOK_MS = 300;
const CLOSING_MS = 400;
const CUT_MS = 35;
const CUT_LOOK_MS = 3;
// A window that was taken away is followed by asking the service, at first quickly, then ever more gently.
const LOST_LOOK_MS = 1000;
const LOST_LOOK_MAX_MS = 10000;
const LOST_PATIENCE_MS = 30 * 60 * 1000;

// Where a window would be taken away at once, the provider gets the whole page: nobody would hear of the window again.
function wantsPopup(widget) {
  return Boolean(widget.opensPopup) && !window.crossOriginIsolated && !page.losesWindows;
}

function openPopup() {
  const [width, height] = [Math.min(560, screen.availWidth), Math.min(720, screen.availHeight)];
  const left = Math.round(window.screenX + (window.outerWidth - width) / 2);
  const top = Math.round(window.screenY + (window.outerHeight - height) / 2);
  return window.open("", "", `popup=yes,width=${width},height=${height},left=${left},top=${top}`);
}

function closePopup(attempt) {
  if (attempt.popup) {
    attempt.popup.close();
    attempt.popup = null;
  }
}

async function visitInPopup(attempt, url) {
  const { popup } = attempt;
  popup.addEventListener("pagehide", () => noteCut(attempt, popup));
  popup.location.replace(url);
  showWaiting(attempt);
  await untilClosed(attempt);
  // The last word of a window that closes itself may still be on its way.
  await wait(CLOSING_MS);
  if (isLost(attempt)) {
    await untilSettled(attempt);
    page.losesWindows = attempt.isCut || !document.hasFocus();
    // It may stand open behind this page, and be paid in yet; our own button would have closed it.
    attempt.isDoubtful = Boolean(attempt.popup);
  }
}

// Until the shopper, the provider's last page or our button has closed it.
async function untilClosed(attempt) {
  while (attempt.popup && !attempt.popup.closed && isCurrent(attempt)) {
    await wait(POPUP_LOOK_MS);
  }
}

// Where a policy about openers (COOP) comes between, a window is said to be closed although it is open. That of the
// shop takes it away as it arrives anywhere, quicker than anybody could close it.
async function noteCut(attempt, popup) {
  const leftAt = performance.now();
  while (!popup.closed && performance.now() - leftAt < CUT_MS) {
    await wait(CUT_LOOK_MS);
  }
  attempt.isCut = popup.closed && isSomewhere(popup) && performance.now() - leftAt < CUT_MS;
}

function isSomewhere(popup) {
  try {
    return popup.location.href !== "about:blank";
  } catch {
    // Of another origin by now.
    return true;
  }
}

// That of a provider may do so later. Who has closed a window is back at this one; else the shopper is in the other.
function isLost(attempt) {
  const { popup, isCut, isLeaving } = attempt;
  return Boolean(popup) && isCurrent(attempt) && !isLeaving && (isCut || (isSomewhere(popup) && !document.hasFocus()));
}

// Until the service knows how it ended, or the shopper is back: by our button, or because the window was closed after
// all and this page has the focus again. A refusal is known by what was under way and is not any more; one that comes
// and goes unseen is told in the window itself.
async function untilSettled(attempt) {
  const endsAt = Date.now() + LOST_PATIENCE_MS;
  const isBack = () => !attempt.isCut && document.hasFocus();
  let [dueAt, pause, wasBusy] = [0, LOST_LOOK_MS, false];
  while (attempt.popup && isCurrent(attempt) && !isBack() && Date.now() < endsAt) {
    if (Date.now() >= dueAt) {
      const { state } = (await askState()) || { state: "unknown" };
      attempt.isSettled = state === "paid" || state === "gone" || (wasBusy && state === "open");
      if (attempt.isSettled) {
        return;
      }
      wasBusy = state === "busy";
      dueAt = Date.now() + pause;
      pause = Math.min(pause * 1.2, LOST_LOOK_MAX_MS);
    }
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
