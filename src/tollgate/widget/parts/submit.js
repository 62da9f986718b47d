// The way of one attempt: judge the fields, ask the page, send, follow the answer. One at a time on a page, however
// often somebody clicks.
async function pay(widget) {
  if (page.attempt || page.isUnloaded) {
    return;
  }
  const attempt = { widget, popup: null, dialog: null, cancel: null, isLeaving: false, isConfirmed: widget.isConfirmed };
  page.attempt = attempt;
  let isOver = true;
  try {
    if ((await mayPay(attempt)) && isCurrent(attempt)) {
      isOver = await followAnswer(attempt, await send(widget));
    }
  } catch (fault) {
    if (isCurrent(attempt)) {
      showMessage(widget, widget.voice.say("unexpectedError"));
    }
    tellFault("WidgetError", String(fault && fault.message), { brand: widget.readBrand(), event: "submit" });
  } finally {
    if (isOver && isCurrent(attempt)) {
      endAttempt(attempt);
    }
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
  setBusy(widget, true);
  if (widget.opensPopup) {
    attempt.popup = openPopup(widget);
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
  if (attempt.cancel) {
    attempt.cancel.remove();
  }
  setBusy(attempt.widget, false);
  if (isCurrent(attempt)) {
    page.attempt = null;
  }
}

// The back button may bring the page back as it was left: busy, and with a security code that was used.
async function comeBack() {
  if (page.attempt) {
    endAttempt(page.attempt);
  }
  for (const widget of page.widgets) {
    widget.frames.filter((frame) => frame.field === "cvv").forEach((frame) => sendFrame(frame, { type: "clear" }));
  }
  const now = await askState();
  for (const widget of now ? page.widgets : []) {
    if (!followState(widget, now)) {
      return;
    }
  }
}
