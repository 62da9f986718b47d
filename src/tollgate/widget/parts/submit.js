// The way of one attempt: judge the fields, ask the page, send, follow the answer. One at a time on a page, however
// often somebody clicks.
const NEW_ATTEMPT = {
  id: "",
  popup: null,
  dialog: null,
  closeWallet: null,
  cancel: null,
  focused: null,
  resting: [],
  isSent: false,
  isLeaving: false,
  isCut: false,
  isSettled: false,
  isDoubtful: false,
};

async function pay(widget) {
  if (page.attempt || page.isUnloaded) {
    sayHeld(widget);
    return;
  }
  const attempt = { ...NEW_ATTEMPT, widget, told: [], isConfirmed: widget.isConfirmed };
  page.attempt = attempt;
  let isOver = true;
  try {
    openMethodOf(widget);
    isOver = await tryToPay(attempt);
  } catch (fault) {
    if (isCurrent(attempt)) {
      // A method that could not be opened would keep its message hidden.
      const { open } = widget.place;
      showMessage(open ? open.widget : widget, widget.voice.say("unexpectedError"));
    }
    tellFault("WidgetError", String(fault && fault.message), { brand: widget.readBrand(), event: "submit" });
  } finally {
    if (isOver && isCurrent(attempt)) {
      endAttempt(attempt);
    }
  }
}

// True where the form is the shopper's again.
async function tryToPay(attempt) {
  if (page.isAnswerOwed) {
    hold(attempt);
    const now = await askSettled(attempt);
    if (!isCurrent(attempt) || !now || now.state !== "open") {
      return followUncertain(attempt, now);
    }
    page.isAnswerOwed = false;
  }
  if ((await mayPay(attempt)) && isCurrent(attempt)) {
    announce(attempt);
    const answer = await send(attempt.widget);
    finishSheet(attempt, answer);
    return followAnswer(attempt, answer);
  }
  return true;
}

// The form that pays is busy, and the others of the page cannot pay meanwhile.
function hold(attempt) {
  setBusy(attempt.widget, true);
  listOthers(attempt).forEach(({ button }) => button.setAttribute("aria-disabled", "true"));
}

// That something is being processed is said when it is about to be sent, and not while anybody is asked for leave.
function announce(attempt) {
  const { popup, widget } = attempt;
  const text = widget.voice.say("processing");
  attempt.isSent = true;
  rest(attempt);
  setBusy(widget, true, text);
  if (popup && !popup.closed) {
    popup.document.title = text;
    popup.document.body.textContent = text;
  }
}

function listOthers(attempt) {
  return page.widgets.filter((widget) => widget !== attempt.widget);
}

// Whoever presses the button of another form learns why nothing happens.
function sayHeld(widget) {
  const { attempt } = page;
  if (attempt && attempt.isSent && attempt.widget !== widget && !page.isUnloaded) {
    showMessage(widget, widget.voice.say(attempt.cancel ? "waitingForProvider" : "processing"));
    attempt.told.push(widget);
  }
}

// One that was ended meanwhile, by unloading or by coming back to a kept page, has no say about the form any more:
// the next one may be under way in it.
function isCurrent(attempt) {
  return page.attempt === attempt;
}

// Nothing is awaited here unless it must be: a window can be opened only in the shopper's click itself.
function mayPay(attempt) {
  const { widget } = attempt;
  showMessage(widget, "");
  if (widget.fields.some((field) => field.frame && isShown(field))) {
    return judgeFrames(widget).then(() => mayPayJudged(attempt));
  }
  return mayPayJudged(attempt);
}

function mayPayJudged(attempt) {
  const { widget } = attempt;
  if (!isCurrent(attempt)) {
    return false;
  }
  if (!judgeAll(widget.voice, widget.fields)) {
    return false;
  }
  const isAllowed = wasAllowed(attempt) || askHook(widget.hook, widget);
  if (isAllowed === false) {
    return false;
  }
  if (page.settings.useSummaryPage && !attempt.isConfirmed) {
    return sumUp(widget, isAllowed);
  }
  if (widget.askToken) {
    return takeToken(attempt, isAllowed);
  }
  hold(attempt);
  rest(attempt);
  if (wantsPopup(widget)) {
    attempt.popup = openPopup();
  }
  return isAllowed;
}

async function send(widget) {
  const frame = widget.submitter();
  const fields = collectFields(widget);
  const answer = frame ? askFrame(frame, { type: "submit", fields }, ANSWER_PATIENCE_MS) : post(fields);
  tell("onAfterSubmit", hookSelf(widget));
  return answer;
}

// For what holds no card data: stored cards without a security code, bank accounts, other brands.
async function post(fields) {
  try {
    const reply = await fetch(checkoutAddress(page.configuration.kind), {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(fields),
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    return { type: "answer", status: reply.status, body: await reply.json() };
  } catch {
    return { type: "answer", status: 0, body: null };
  }
}

function endAttempt(attempt) {
  closePopup(attempt);
  removeDialog(attempt);
  if (attempt.closeWallet) {
    attempt.closeWallet();
  }
  if (attempt.cancel) {
    attempt.cancel.remove();
  }
  setBusy(attempt.widget, false);
  wake(attempt);
  listOthers(attempt).forEach(({ button }) => button.setAttribute("aria-disabled", "false"));
  attempt.told.forEach((widget) => showMessage(widget, ""));
  if (isCurrent(attempt)) {
    page.attempt = null;
  }
}

function clearCodes(widget) {
  widget.frames.filter((frame) => frame.field === "cvv").forEach((frame) => sendFrame(frame, { type: "clear" }));
}

// The back button may bring the page back as it was left: busy, and with a security code that was used.
async function comeBack() {
  if (page.attempt) {
    endAttempt(page.attempt);
  }
  page.widgets.forEach(clearCodes);
  const now = await askState();
  for (const widget of now ? page.widgets : []) {
    if (!followState(widget, now)) {
      return;
    }
  }
}
